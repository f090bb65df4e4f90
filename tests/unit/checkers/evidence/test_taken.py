"""What faults take from nodes, and what follows from that: it is left out of verdicts, and nothing else is."""

from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.evidence.replicas import unserved
from pytest_kmigrate.checkers.evidence.taken import cut_off, is_without_a_disk, without_a_disk
from pytest_kmigrate.checkers.run.runs import no_unexpected_death
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import MS, copies, event, fault, history

END = event(EventKind.CHECKS, 60_000)
STARTED = event(EventKind.NODE_STARTED, 0, "broker-1", role="broker")
DISK, ISOLATED = "fail-log-dir(broker-1, 2)", "isolate(broker-1)"


def in_force(name: str, since_ms: int, to_ms: int | None, **applied: object) -> list[Event]:
    """A fault on broker-1."""
    effect = name.partition("(")[0].replace("-", "")
    took = event(EventKind.FAULT_APPLIED, since_ms, fault_id=name, targets=["broker-1"], **applied)
    healed = [] if to_ms is None else [event(EventKind.FAULT_HEALED, to_ms, fault_id=name, fault=name)]
    return [*fault(since_ms, name, effect=effect), took, *healed]


def test_a_disk_is_away_from_the_fault_until_it_is_healed() -> None:
    """To the end of a run that never heals it; a fault that takes nothing takes no disk."""
    run = history(events=[*in_force(DISK, 10_000, 20_000, takes="disk"), END])
    assert without_a_disk(run) == {"broker-1": [(10_000 * MS, 20_000 * MS)]}
    assert [is_without_a_disk(run, "broker-1", at * MS) for at in (9_999, 10_000, 20_000)] == [False, True, False]
    assert not is_without_a_disk(run, "broker-2", 15_000 * MS)
    assert list(without_a_disk(history(events=[*in_force(DISK, 10_000, None, takes="disk"), END]))) == ["broker-1"]
    assert without_a_disk(history(events=[*in_force("pause(broker-1)", 10_000, 20_000, takes="nothing"), END])) == {}


@pytest.mark.parametrize(
    ("name", "is_off"),
    [
        (ISOLATED, True),
        ("isolate(broker-1 and clients)", True),
        ("isolate(broker-1 from broker)", True),
        ("isolate(broker-1 from controller and clients)", True),
        ("isolate(broker-1 from controller+zookeeper)", False),
    ],
)
def test_a_node_is_cut_off_from_its_replicas_or_clients(name: str, is_off: bool) -> None:
    """One that is cut off from controllers alone can be written to."""
    assert bool(cut_off(history(events=[*in_force(name, 10_000, 20_000, takes="nothing"), END]))) is is_off


@pytest.mark.parametrize("name", [DISK, ISOLATED])
def test_a_partition_whose_only_copy_a_fault_took_can_take_no_write(name: str) -> None:
    """With another copy it can."""
    events = [STARTED, *in_force(name, 10_000, 20_000, takes="disk" if name == DISK else "nothing"), END]
    alone = history(events=events, client_metadata=(copies(100, "1"),))
    assert unserved(alone, "orders-0") == ((10_000 * MS, 20_000 * MS),)
    assert unserved(history(events=events, client_metadata=(copies(100, "0,1"),)), "orders-0") == ()


@pytest.mark.parametrize("declared", [{"takes": "disk"}, {"takes": "nothing", "may_end": True}])
@pytest.mark.parametrize("ended", [EventKind.NODE_DIED, EventKind.THREAD_DIED])
def test_a_node_may_end_without_a_disk_and_not_otherwise(ended: EventKind, declared: dict[str, object]) -> None:
    """Kafka ends a broker that has lost its metadata log; one that dies before or after it, or another, is red.

    So it is with a fault that declares that a node may end by it.
    """
    taken = in_force(DISK, 10_000, 20_000, **declared)
    for node, at_ms, outcome in (
        ("broker-1", 15_000, Outcome.CONFORMS),
        ("broker-1", 25_000, Outcome.VIOLATES),
        ("broker-1", 5_000, Outcome.VIOLATES),
        ("broker-0", 15_000, Outcome.VIOLATES),
    ):
        died = event(ended, at_ms, node)
        run = history(events=[STARTED, *sorted([*taken, died], key=lambda each: each.at_ns), END])
        assert no_unexpected_death.judge(run).outcome is outcome, (node, at_ms)


ENDED = "ERROR Shutdown broker because all log dirs in /disk have failed (kafka.log.LogManager)"
AT_15_S = f"2026-11-30 10:00:15,000 {ENDED}"
"""By the clock of a node that is two hours ahead of UTC; the fault is in force from 10 to 20 s."""


@pytest.mark.parametrize(
    ("said", "at_ms", "node", "declared", "outcome"),
    [
        (AT_15_S, 20_005, "broker-1", {"takes": "disk"}, Outcome.CONFORMS),
        (AT_15_S, 27_000, "broker-1", {"takes": "nothing", "may_end": True}, Outcome.CONFORMS),
        (AT_15_S, 51_000, "broker-1", {"takes": "disk"}, Outcome.VIOLATES),
        (AT_15_S.replace(":15,", ":09,"), 20_005, "broker-1", {"takes": "disk"}, Outcome.VIOLATES),
        (AT_15_S.replace(":15,", ":21,"), 22_000, "broker-1", {"takes": "disk"}, Outcome.VIOLATES),
        (AT_15_S.replace("Shutdown", "Saw a"), 20_005, "broker-1", {"takes": "disk"}, Outcome.VIOLATES),
        (ENDED, 20_005, "broker-1", {"takes": "disk"}, Outcome.VIOLATES),
        (AT_15_S, 20_005, "broker-0", {"takes": "disk"}, Outcome.VIOLATES),
        (AT_15_S, 20_005, "broker-1", {"takes": "nothing"}, Outcome.VIOLATES),
    ],
    ids=[
        "noticed at once",
        "noticed late",
        "much later",
        "before the fault",
        "after the fault",
        "it did not end itself",
        "without a time",
        "another node",
        "a fault that lets none end",
    ],
)
def test_an_end_that_is_noticed_after_the_fault_is_of_when_the_node_dates_it(
    said: str, at_ms: int, node: str, declared: dict[str, object], outcome: Outcome
) -> None:
    """On a busy machine the output of a process is read to its end seconds after it has ended."""
    died = event(EventKind.NODE_DIED, at_ms, node, exit_code=1, said=said)
    run = history(events=[STARTED, *in_force("few-files(broker-1)", 10_000, 20_000, **declared), died, END])
    dated = replace(run, header=replace(run.header, started_at="2026-11-30T08:00:00+00:00"))
    assert no_unexpected_death.judge(dated).outcome is outcome
    assert no_unexpected_death.judge(run).outcome is Outcome.VIOLATES, "the run has no time"
