"""A stream that was taken away whole is missed, where its provider always records it."""

from collections.abc import Sequence

import pytest

from pytest_kmigrate.judging.coherence.completeness import kills_have_ends, streams_are_there
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, RunHeader, Sample, Transaction, ZnodeChange
from pytest_kmigrate.recording.run_folder import EVIDENCE

S = 1_000_000_000
OFFERED = ["logs", "metrics", "start", "zookeeper-log", "znodes"]
LOGS = {"broker-0": 9, "zookeeper-1": 9}
SAMPLES = (Sample(2 * S, "broker-0", {}),)
ZNODES = (ZnodeChange(2 * S, "/controller", "0", 0, 7, (), is_ephemeral=True),)
WRITES = (Transaction(2 * S, 7, 1),)


def run(
    logs: dict[str, int] = LOGS,
    samples: Sequence[Sample] = SAMPLES,
    znodes: Sequence[ZnodeChange] = ZNODES,
    writes: Sequence[Transaction] = WRITES,
    evidence: int = EVIDENCE,
    took_s: int = 30,
) -> History:
    """A run of a broker and a ZooKeeper server."""
    header = RunHeader("r", "t", 1, "3.9.1", "small", extra={"capabilities": OFFERED, "evidence": evidence})
    events = [
        Event(0, 0, EventKind.NODE_STARTED, "zookeeper-1", {"role": "zookeeper"}),
        Event(1, 0, EventKind.NODE_STARTED, "broker-0", {"role": "broker"}),
        Event(2, S, EventKind.NODE_READY, "broker-0"),
        Event(3, took_s * S, EventKind.CHECKS, None, {"checks": []}),
        Event(4, took_s * S, EventKind.RUN_ENDED, None, {}, logs),
    ]
    return History(header, events, samples=samples, znodes=znodes, transactions=writes)


@pytest.mark.parametrize(
    ("history", "found"),
    [
        (run(), ""),
        (run(logs={"zookeeper-1": 9}), "node-started of broker-0, but its log is not in the last event"),
        (run(samples=()), "node-ready of broker-0, but metrics has no sample of it in 29 s"),
        (run(samples=(), took_s=3), ""),
        (run(znodes=(), writes=()), "node-started of zookeeper-1, but znodes has nothing of "),
        (run(writes=()), "node-started of zookeeper-1, but zookeeper has no transaction of it"),
        (run(logs={}, samples=(), znodes=(), writes=(), evidence=0), ""),
    ],
)
def test_a_missing_stream_is_named(history: History, found: str) -> None:
    """Of a run that is too short, or that an earlier release recorded, nothing is missed."""
    named = [str(each) for each in streams_are_there(history)]
    assert [each for each in named if not found or found not in each] == []
    assert bool(named) is bool(found)


def test_a_node_that_starts_twice_has_stopped_between() -> None:
    """Its events may be taken out, and then its lives have no end."""
    whole = run()
    again = Event(5, 3 * S, EventKind.NODE_STARTED, "broker-0", {"role": "broker"})
    stopped = Event(5, 3 * S, EventKind.NODE_STOPPED, "broker-0")
    early, late = list(whole.events[:3]), list(whole.events[3:])
    (found,) = kills_have_ends(History(whole.header, [*early, again, *late]))
    assert "starts it again, and it never stopped" in found.second
    numbered = [
        Event(seq, each.at_ns, each.kind, each.node, each.data)
        for seq, each in enumerate([*early, stopped, again, *late])
    ]
    assert list(kills_have_ends(History(whole.header, numbered))) == []
