"""Check of how KRaft controllers take both controller znodes."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.znodes.elections import kraft_takes_both_controller_znodes
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import history, znode
from tests.unit.documents.kip_866.checks.nodes import broker, controller, stopped
from tests.unit.documents.kip_866.checks.outcomes import looked_at
from tests.unit.documents.kip_866.checks.znodes.test_controller_znodes import claim

OF_BROKER = claim(9, 2, -1)


def epoch(mzxid: int, value: int, version: int) -> ZnodeChange:
    """/controller_epoch as it was written in a transaction."""
    return znode(mzxid, "/controller_epoch", str(value), mzxid, version)


EPOCHS = [epoch(9, 1, 0), epoch(2_000, 2, 1), epoch(3_000, 3, 2)]
CLAIMS = [OF_BROKER, claim(2_000), claim(3_000, 3001, 4)]


def taken(*changes: ZnodeChange, events: tuple[Event, ...] = ()) -> History:
    """Broker-2 was the controller, and KRaft took over."""
    nodes = [*broker(1, 2), controller(), controller(0, 3001), *events]
    return history(events=nodes, znodes=sorted(changes, key=lambda each: each.at_ns))


def test_each_claim_with_its_epoch_conforms() -> None:
    """Conforming: the first one overwrites who lives, the second one is of an election."""
    verdict = kraft_takes_both_controller_znodes.judge(taken(*CLAIMS, *EPOCHS))
    assert looked_at(verdict) == dict.fromkeys(
        ("ZNODE-controller-epoch-bump", "ZNODE-controller-overwrite", "ZNODE-controller-every-election"), "CONFORMS"
    )


@pytest.mark.parametrize("wrong", [epoch(2_000, 1, 1), epoch(2_000, 2, 0)])
def test_an_epoch_that_does_not_rise_violates(wrong: ZnodeChange) -> None:
    """Violating: by value, or by version."""
    verdict = kraft_takes_both_controller_znodes.judge(taken(*CLAIMS[:2], EPOCHS[0], wrong))
    assert looked_at(verdict)["ZNODE-controller-epoch-bump"] == "VIOLATES"
    assert looked_at(verdict)["ZNODE-controller-overwrite"] == "CONFORMS"


def test_an_election_that_leaves_the_epoch_as_it_was_violates() -> None:
    """Violating: the first claim raised it, and that of the next election did not."""
    verdict = kraft_takes_both_controller_znodes.judge(taken(*CLAIMS, *EPOCHS[:2], epoch(3_000, 2, 1)))
    assert looked_at(verdict)["ZNODE-controller-every-election"] == "VIOLATES"
    first = kraft_takes_both_controller_znodes.judge(taken(*CLAIMS[:2], EPOCHS[0], epoch(2_000, 1, 1)))
    assert "ZNODE-controller-every-election" not in looked_at(first)


def test_a_znode_that_stood_empty_was_not_overwritten() -> None:
    """Violating: KRaft waited until who was in office had gone, though it lived; a moment is no wait."""
    for empty_ms, outcome in ((500, "VIOLATES"), (1_900, "CONFORMS")):
        gone = znode(empty_ms, "/controller", None)
        verdict = kraft_takes_both_controller_znodes.judge(taken(OF_BROKER, gone, *CLAIMS[1:], *EPOCHS))
        assert looked_at(verdict)["ZNODE-controller-overwrite"] == outcome


def test_what_was_not_seen_is_not_judged() -> None:
    """Vacuous: no claim; a claim whose epoch was not seen; a former controller that had gone by itself."""
    assert kraft_takes_both_controller_znodes.judge(taken(OF_BROKER)).outcome is Outcome.INCONCLUSIVE
    apart = [OF_BROKER, replace(claim(2_000), mzxid=-1), *EPOCHS]
    assert looked_at(kraft_takes_both_controller_znodes.judge(taken(*apart))) == {
        "ZNODE-controller-overwrite": "CONFORMS"
    }
    away = (stopped(1_000, "broker-2"),)
    verdict = kraft_takes_both_controller_znodes.judge(taken(*CLAIMS[:2], *EPOCHS[:2], events=away))
    assert looked_at(verdict) == {"ZNODE-controller-epoch-bump": "CONFORMS"}
