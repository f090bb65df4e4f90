"""The metadata workload's thread, with an invoker that plays the cluster."""

import threading
from collections.abc import Callable, Mapping

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Event, EventData, EventKind
from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.redaction import hashed
from pytest_kmigrate.waiting import until
from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange, Scope
from pytest_kmigrate.workloads.metadata.metadata_invocation import Completion, recorded
from pytest_kmigrate.workloads.metadata.metadata_workload import MetadataWorkload, RunningMetadata

FAST = MetadataWorkload(per_s=1e6, seed=5)


class Notes:
    """A recorder in memory."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._lock = threading.Lock()

    def record(self, data: EventData, node: str | None = None) -> Event:
        """Append one event."""
        with self._lock:
            self.events.append(data.event(len(self.events), len(self.events), node))
            return self.events[-1]

    def now_ns(self) -> int:
        """The number of the next event."""
        return len(self.events)

    def of(self, kind: EventKind) -> list[Mapping[str, object]]:
        """What the events of one kind say."""
        return [event.data for event in self.events if event.kind is kind]


class Cluster:
    """Answers every change the same way."""

    def __init__(self, completion: Completion) -> None:
        self.completion = completion
        self.changes: list[MetadataChange] = []

    def invoke(self, change: MetadataChange) -> Completion:
        """Take the change."""
        self.changes.append(change)
        return self.completion


def _run_until(running: RunningMetadata, reached: Callable[[], bool]) -> None:
    running.start()
    until(reached, awaited="changes", within_s=10)
    running.stop()


def test_every_change_is_written_down_as_it_ended() -> None:
    """One event per change, in the documented form, in the order of the changes."""
    notes, cluster = Notes(), Cluster(Completion(OperationOutcome.OK))
    _run_until(RunningMetadata(FAST, cluster, notes), lambda: len(cluster.changes) > 20)
    written = notes.of(EventKind.METADATA_CHANGE)
    assert [(each["change"], each["subject"], each["wanted"]) for each in written] == [
        (each.change, each.subject, each.wanted) for each in cluster.changes
    ]
    assert all((each["outcome"], each["error"]) == ("ok", "") for each in written)
    assert all(isinstance(each["began_ns"], int) for each in written)


def test_a_password_is_written_down_as_a_digest() -> None:
    """The history holds what images hold of it; what is no secret, or takes one away, stays as it is."""
    notes = Notes()
    wanted = {"listener.name.a.ssl.keystore.password": "changeit", "ssl.key.password": None, "log.cleaner.threads": 2}
    recorded(notes, MetadataChange("alter-config", "broker:1", wanted), Completion(OperationOutcome.OK), 0)
    recorded(notes, MetadataChange("set-quota", "user=a", {"rate": 1.5}), Completion(OperationOutcome.OK), 0)
    password, quota = (event["wanted"] for event in notes.of(EventKind.METADATA_CHANGE))
    digest = hashed("changeit")
    assert password == {**wanted, "listener.name.a.ssl.keystore.password": digest, "log.cleaner.threads": "2"}
    assert quota == {"rate": 1.5}


def test_an_indefinite_change_is_not_called_failed() -> None:
    """The outcome of the invocation is what is written and counted, with its error."""
    notes, cluster = Notes(), Cluster(Completion(OperationOutcome.INDEFINITE, "_TIMED_OUT"))
    running = RunningMetadata(MetadataWorkload(per_s=0.001), cluster, notes)
    running.start()
    running.stop()
    (began, *changes, ended) = notes.events
    assert (began.kind, ended.kind) == (EventKind.WORKLOAD_BEGAN, EventKind.WORKLOAD_ENDED)
    assert all(change.data["outcome"] == "indefinite" for change in changes)
    assert ended.data["counts"] == running.counts()


def test_stopping_does_not_wait_for_the_next_change() -> None:
    """A slow rate makes neither a slow first round nor a slow end: after the stop nothing more is changed."""
    notes, cluster = Notes(), Cluster(Completion(OperationOutcome.OK))
    scope = Scope(families=("topics", "quotas"))
    running = RunningMetadata(MetadataWorkload(per_s=0.001, scope=scope), cluster, notes)
    _run_until(running, lambda: running.counts().get("ok") == len(scope.first_round))
    assert len(cluster.changes) == len(scope.first_round)
    assert not running._thread.is_alive()


def test_our_own_failure_is_in_the_history() -> None:
    """A defect of the workload makes the run inconclusive instead of silently ending the changes."""

    class Broken:
        def invoke(self, change: MetadataChange) -> Completion:
            raise KeyError(change.change)

    notes = Notes()
    running = RunningMetadata(FAST, Broken(), notes)
    _run_until(running, lambda: bool(notes.of(EventKind.HARNESS_TROUBLE)))
    assert "KeyError" in str(notes.of(EventKind.HARNESS_TROUBLE)[0]["error"])


def test_a_rate_of_nothing_is_refused() -> None:
    """A workload that would change nothing is a mistake."""
    with pytest.raises(WrongUseError, match="metadata workload: expected"):
        MetadataWorkload(per_s=0)
