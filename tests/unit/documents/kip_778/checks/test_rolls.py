"""Check that one roll is enough for an upgrade."""

from pytest_kmigrate.documents.kip_778.checks.rolls import one_roll_is_enough as check
from pytest_kmigrate.documents.kip_778.procedure import LOWER, RAISE
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import event, history
from tests.unit.documents.kip_778.rolling import reached, rolled, started, step

NODES = ("controller-3000", "broker-0")
OLD = [started(0, node, "3.8.1") for node in NODES]
ONCE = [each for at, node in enumerate(NODES) for each in rolled(1_000 * (at + 1), node, "3.9.1")]
RAISED = [*step(5_000, RAISE.name), reached(5_400, "RAISED")]


def test_one_start_with_the_new_release_conforms() -> None:
    """Conforming: what was started with the old one does not count."""
    verdict = check.judge(history(events=[*OLD, *ONCE, *RAISED]))
    assert (verdict.outcome, verdict.about[0].seen) == (Outcome.CONFORMS, 2)


def test_a_start_after_a_death_is_no_roll() -> None:
    """Conforming: the node was killed by a fault."""
    killed = event(EventKind.NODE_STOPPED, 4_000, "broker-0", how="killed", exit_code=137, took_ms=1, said="")
    verdict = check.judge(history(events=[*OLD, *ONCE, killed, started(4_100, "broker-0", "3.9.1"), *RAISED]))
    assert verdict.outcome is Outcome.CONFORMS


def test_a_second_roll_violates() -> None:
    """Violating: a node was started again with the same release."""
    verdict = check.judge(history(events=[*OLD, *ONCE, started(4_000, "broker-0", "3.9.1"), *RAISED]))
    assert verdict.outcome is Outcome.VIOLATES
    assert verdict.violations[0].observed == "broker-0 was started 2 times with the new release"


def test_a_level_that_cannot_be_raised_after_the_roll_violates() -> None:
    """Violating: another roll would be needed."""
    verdict = check.judge(history(events=[*OLD, *ONCE, *step(5_000, RAISE.name, "failed")]))
    assert verdict.outcome is Outcome.VIOLATES
    assert verdict.violations[0].expected == "the level can be raised after the roll"


def test_without_a_roll_nothing_is_proved() -> None:
    """Vacuous; and runs that raised no level are not judged, nor those that went back."""
    assert check.judge(history(events=[*OLD, *RAISED])).is_vacuous
    assert check.in_every_run is not None
    assert check.in_every_run(history(events=[*OLD, *ONCE, *RAISED]))
    assert not check.in_every_run(history(events=[*OLD, *ONCE]))
    assert not check.in_every_run(history(events=[*OLD, *ONCE, *RAISED, *step(6_000, LOWER)]))
