"""Diagnoses of controllers that end at a level that they do not know."""

from collections.abc import Sequence
from dataclasses import replace

from pytest_kmigrate.documents.kip_778.procedure import RAISE
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import Sample
from tests.unit.checkers.histories import history, sample
from tests.unit.documents.kip_778.rolling import died, rolled, started, step
from tests.unit.documents.kip_866.diagnoses.naming import named_of_deaths

ONE_NEW = [
    started(0, "controller-3000", "3.9.1"),
    *(started(0, f"controller-{number}", "3.6.2") for number in (3001, 3002)),
    started(0, "broker-0", "3.9.1"),
]
ALL_NEW = [started(0, f"controller-{number}", "3.9.1") for number in (3000, 3001, 3002)]
OLD_ONES = [died(9_000, "controller-3001"), died(9_000, "controller-3002")]
ROSE = [
    sample(at, "controller-3000", CurrentMetadataVersion=level)
    for at, level in ((1_000, 14), (8_000, None), (9_000, 15))
]


def named(events: Sequence[Event], samples: Sequence[Sample] = ()) -> tuple[str, ...]:
    """The bugs that explain the deaths of this run."""
    run = history(events=events, samples=samples)
    run = replace(run, header=replace(run.header, profile="kip-778"))
    return named_of_deaths(run)


def test_most_controllers_end_at_a_level_that_rose() -> None:
    """All old ones, and no other node."""
    assert named([*ONE_NEW, *OLD_ONES], ROSE) == ("kmigrate-15",)
    assert named([*ONE_NEW, *OLD_ONES, died(9_000, "controller-3000")], ROSE) == ()
    assert named([*ONE_NEW, OLD_ONES[0]], ROSE) == ()
    assert named([*ONE_NEW, *OLD_ONES], ROSE[:2]) == (), "the level stayed"
    assert named([*ALL_NEW, *OLD_ONES], ROSE) == (), "they knew the level"


def test_old_controllers_end_after_the_way_back() -> None:
    """Rolled to the new release and back after the level was raised; any other death is another bug."""
    there = [each for number in (3000, 3001) for each in rolled(1_000, f"controller-{number}", "3.9.1")]
    raised, back = step(3_000, RAISE.name), rolled(5_000, "controller-3000", "3.8.1")
    begun = [started(0, f"controller-{number}", "3.8.1") for number in (3000, 3001)]
    end = died(6_000, "controller-3000")
    assert named([*begun, *there, *raised, *back, end]) == ("kmigrate-16",)
    assert named([*begun, *there, *back, end]) == (), "the level was not raised"
    assert named([*begun, *there, *raised, *back, end, died(6_100, "controller-3001")]) == ()
