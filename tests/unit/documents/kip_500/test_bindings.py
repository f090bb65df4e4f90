"""For which requirements of KIP-500 general checks speak, and in which runs."""

import pytest

from pytest_kmigrate.checkers.controllers.absence import longest_time_without_an_active_controller
from pytest_kmigrate.checkers.registry import general_checkers
from pytest_kmigrate.documents import document
from pytest_kmigrate.judging.judge import judge
from pytest_kmigrate.model.checks import Check, by_name
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.controllers.test_absence import NAMES, applied, reported, run
from tests.unit.checkers.histories import event

ROW, ELECTED = "K500-QRM-tolerate-1-of-3", "K500-QRM-election-no-external"
LATE = [(0, NAMES[0]), (10_000, ""), (52_000, NAMES[1])]
SOON = [(0, NAMES[0]), (10_000, ""), (15_000, NAMES[1])]


@pytest.mark.parametrize(
    ("active", "faults", "expected"),
    [
        (SOON, applied(10_000, NAMES[0], healed_ms=30_000), [(ROW, Outcome.CONFORMS), (ELECTED, Outcome.CONFORMS)]),
        (LATE, applied(10_000, NAMES[0], healed_ms=60_000), [(ROW, Outcome.VIOLATES), (ELECTED, Outcome.VIOLATES)]),
        (SOON, [], [(ELECTED, Outcome.CONFORMS)]),
        (SOON, applied(10_000, *NAMES, healed_ms=12_000), [(ELECTED, Outcome.CONFORMS)]),
    ],
    ids=["another takes over", "none does for 42 s", "none was lost", "all were hit"],
)
def test_controllers_elect_one_and_two_of_three_do_when_the_other_is_lost(
    active: list[tuple[int, str]], faults: list[Event], expected: list[tuple[str, Outcome]]
) -> None:
    """Without ZooKeeper they do so among themselves. Where no single controller was lost, nothing was tolerated."""
    asked, of = Check(longest_time_without_an_active_controller.name), document("kip-500")
    checkers = by_name([*general_checkers(), *of.checks])
    verdict = judge(run(reported(active, 60_000), *faults), [asked], checkers, of)[0]
    assert [(each.requirement, each.outcome) for each in verdict.about if not each.is_vacuous] == expected


def test_an_election_beside_zookeeper_is_no_evidence() -> None:
    """Vacuous for the election: another system was there."""
    beside = event(EventKind.NODE_STARTED, 0, "zookeeper-1", role="zookeeper")
    asked, of = Check(longest_time_without_an_active_controller.name), document("kip-500")
    checkers = by_name([*general_checkers(), *of.checks])
    verdict = judge(run(reported(SOON, 60_000), beside), [asked], checkers, of)[0]
    assert [each.requirement for each in verdict.about if not each.is_vacuous] == []
