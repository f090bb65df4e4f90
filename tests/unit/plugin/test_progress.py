"""What progress says of a run: steps by their place, nodes that come later, and what is no traffic."""

from types import SimpleNamespace

import pytest

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.plugin.progress import _Followed, time_left
from tests.unit.checkers.histories import event


class _Terminal:
    is_tty = True

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        """Keep it."""
        self.lines.append(text)


def state(*events: object, alive: tuple[str, ...] = (), acked: int = 0) -> str:
    """The line about a run of four nodes after these events."""
    nodes = [
        SimpleNamespace(name=name, alive=name in alive) for name in ("zk-1", "broker-0", "broker-1", "controller-3000")
    ]
    run = SimpleNamespace(
        steps=["provision", "roll", "finalize"],
        recorder=SimpleNamespace(events=list(events), now_ns=lambda: 5_000_000_000),
        traffic=SimpleNamespace(acked=lambda: acked),
        cluster=SimpleNamespace(nodes=lambda: nodes),
    )
    return _Followed(run, _Terminal()).state()  # type: ignore[arg-type]  # stand-ins


def test_nodes_that_were_never_started_are_not_down() -> None:
    """Controllers start later than brokers; a node that was started and is gone is missed."""
    started = [event(EventKind.NODE_STARTED, n, name) for n, name in enumerate(("zk-1", "broker-0", "broker-1"))]
    assert "3/3 nodes up, 1 not started yet" in state(*started, alive=("zk-1", "broker-0", "broker-1"))
    assert "2/3 nodes up, 1 not started yet" in state(*started, alive=("zk-1", "broker-0"))
    assert "4/4 nodes up" in state(alive=("zk-1", "broker-0", "broker-1", "controller-3000"))


def test_a_step_has_its_place() -> None:
    """An operator's own moves are no step of the document."""
    assert state(event(EventKind.STEP_BEGAN, 1, step="roll")).endswith("step roll (2 of 3)")
    assert state(event(EventKind.STEP_BEGAN, 1, step="by hand")).endswith("step by hand")


def test_a_rate_is_shown_while_something_writes() -> None:
    """Without traffic there is none, and a run that is judged has no rate of 0."""
    began = event(EventKind.WORKLOAD_BEGAN, 1)
    assert "writes/s" not in state()
    assert "20 writes/s" in state(began, acked=100)
    assert "writes/s" not in state(began, event(EventKind.WORKLOAD_ENDED, 2))
    judging = state(began, event(EventKind.CHECKS, 2))
    assert "judging" in judging
    assert "writes/s" not in judging


@pytest.mark.parametrize(
    ("took_s", "tests", "left"),
    [
        ([], 3, ""),
        ([60.0], None, ""),
        ([60.0, 120.0], 4, "; 4 tests left, about 6 min"),
        ([6.0], 1, "; 1 test left, about less than a minute"),
    ],
)
def test_the_time_that_is_left(took_s: list[float], tests: int | None, left: str) -> None:
    """By the tests that ended; nothing is guessed before the first."""
    assert time_left(took_s, tests) == left
