"""Check that nodes can go back to an older release."""

import pytest

from pytest_kmigrate.documents.kip_778.checks.going_back import software_goes_back as check
from pytest_kmigrate.documents.kip_778.procedure import LOWER
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import event, history
from tests.unit.documents.kip_778.rolling import rolled, started, step

NODE = "controller-3000"
BEFORE = [started(0, NODE, "3.9.1")]
LOWERED = step(2_000, LOWER)


def died(at_ms: int) -> list[Event]:
    """The node got the older release, and ended as it started."""
    back = [each for each in rolled(at_ms, NODE, "3.8.1") if each.kind is not EventKind.NODE_READY]
    return [*back, event(EventKind.NODE_DIED, at_ms + 900, NODE, exit_code=1, said="Unable to apply")]


def test_a_node_that_is_ready_with_the_older_release_conforms() -> None:
    """Conforming."""
    ready = event(EventKind.NODE_READY, 4_000, NODE, took_ms=800)
    verdict = check.judge(history(events=[*BEFORE, *LOWERED, *rolled(3_000, NODE, "3.8.1"), ready]))
    assert (verdict.outcome, verdict.about[0].seen) == (Outcome.CONFORMS, 1)


@pytest.mark.parametrize(
    "ready", [(), (event(EventKind.NODE_READY, 3_200, NODE, took_ms=800),)], ids=["at once", "ready"]
)
def test_a_node_that_ends_with_the_older_release_violates(ready: tuple[Event, ...]) -> None:
    """Violating: in its own words."""
    verdict = check.judge(history(events=[*BEFORE, *LOWERED, *died(3_000)[:-1], *ready, died(3_000)[-1]]))
    assert verdict.outcome is Outcome.VIOLATES
    assert verdict.violations[0].observed.startswith("it ended: Unable to apply")


@pytest.mark.parametrize(
    "events",
    [
        [*BEFORE, *died(1_000), *LOWERED],
        [*BEFORE, *LOWERED, *rolled(3_000, NODE, "3.9.2")],
        [*BEFORE, *LOWERED],
        [*BEFORE, *step(2_000, LOWER, "failed"), *died(3_000)],
    ],
    ids=["before it was lowered", "a newer release", "no roll", "not lowered"],
)
def test_without_a_way_back_nothing_is_proved(events: list[Event]) -> None:
    """Vacuous."""
    assert check.judge(history(events=events)).is_vacuous
