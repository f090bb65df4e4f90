"""Terms of leaders that are too short for a znode to be late: what ``/controller`` holds may still be right."""

import json

import pytest

from pytest_kmigrate.documents.kip_866_draft.checks.controller_znode import (
    the_controller_znode_is_that_of_the_draft as check,
)
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import history, phase, sample, znode
from tests.unit.documents.kip_866.checks.nodes import controller

ROW = "K866D-ZNODE-controller-id-only"


@pytest.mark.parametrize(
    ("holder", "term_ms", "outcome"),
    [
        (3000, 4_000, Outcome.CONFORMS),
        (3000, 12_000, Outcome.CONFORMS),
        (3001, 4_000, None),
        (3001, 12_000, Outcome.VIOLATES),
    ],
    ids=["held in a short term", "held in a long one", "not yet held", "never held"],
)
def test_a_short_term_shows_that_the_leader_holds_it(holder: int, term_ms: int, outcome: Outcome | None) -> None:
    """A quick migration leaves dual write before a leader would be late; only one that holds it was then looked at."""
    held = {"version": 2, "brokerid": holder, "timestamp": "1", "isKRaft": True}
    times = range(10_000, 10_000 + term_ms, 500)
    run = history(
        events=[controller(), controller(number=3001), phase(1_000, "PREPARING"), phase(9_000, "HYBRID")],
        samples=[sample(at_ms, "controller-3000", ActiveControllerCount=1) for at_ms in times],
        znodes=[znode(9_500, "/controller", json.dumps(held))],
        kafka="3.9.1",
    )
    found = {each.requirement: each for each in check.judge(run).about}[ROW]
    assert (found.outcome if found.seen else None) is outcome
