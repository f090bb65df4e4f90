"""Typed events: every kind has a dataclass, and a dataclass writes the JSON that run folders have always had."""

import json
from contextlib import closing
from dataclasses import FrozenInstanceError
from pathlib import Path
from unittest.mock import ANY

import pytest

from pytest_kmigrate.model.event import EventData, EventKind, Recorded, is_a, only
from pytest_kmigrate.model.events.evidence import RunBegan, RunEnded
from pytest_kmigrate.model.events.nodes import NodePaused, NodeStarted
from pytest_kmigrate.model.events.steps import StepEnded
from pytest_kmigrate.model.events.workloads import METADATA, ClientsEnded, MetadataWorkloadBegan, MetadataWorkloadEnded
from pytest_kmigrate.model.history import History, RunHeader
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.recording.recorder import RunRecorder
from pytest_kmigrate.recording.run_folder import RunFolder
from tests.unit.typical_events import event_classes, typical, typical_of

OF_METADATA = (MetadataWorkloadBegan, MetadataWorkloadEnded)
HEADER = RunHeader("run-1", "test", 1, "3.9.1", "small")

WRITTEN: list[tuple[EventData, str]] = [
    (
        NodeStarted(Role.BROKER, BrokerMode.ZOOKEEPER, 7, "3.9.1", 1),
        '{"role": "broker", "mode": "zookeeper", "pid": 7, "kafka": "3.9.1", "incarnation": 1}',
    ),
    (
        NodeStarted(Role.CONTROLLER, None, 7, "3.9.1", 2),
        '{"role": "controller", "mode": null, "pid": 7, "kafka": "3.9.1", "incarnation": 2}',
    ),
    (NodePaused(), "{}"),
    (StepEnded("roll", "done", ""), '{"step": "roll", "outcome": "done", "reason": ""}'),
    (StepEnded("roll", "failed", "no"), '{"step": "roll", "outcome": "failed", "reason": "no"}'),
    (RunEnded(), "{}"),
]


@pytest.mark.parametrize(("data", "written"), WRITTEN, ids=[type(data).__name__ for data, _ in WRITTEN])
def test_data_is_written_byte_for_byte_as_before_events_were_typed(
    tmp_path: Path, data: EventData, written: str
) -> None:
    """Keys in the order of the fields; null only for a field that has no default."""
    folder = RunFolder(tmp_path)
    with closing(RunRecorder(folder, RunHeader("run-1", "test", 1, "3.9.1", "small"))) as recorder:
        at_ns = recorder.record(data, "broker-0").at_ns
    line = folder.history.read_text().splitlines()[1]
    begins, ends = f'{{"seq": 1, "at_ns": {at_ns}, "kind": "{data.event_kind}", "node": "broker-0"', '"log_bytes": {}}'
    assert line == f'{begins}, "data": {written}, {ends}'


def test_every_kind_has_a_dataclass() -> None:
    """Only workloads, of clients and of metadata changes, have two for one kind."""
    kinds = [each.event_kind for each in event_classes()]
    assert set(kinds) == set(EventKind)
    assert {kind for kind in kinds if kinds.count(kind) > 1} == {EventKind.WORKLOAD_BEGAN, EventKind.WORKLOAD_ENDED}


@pytest.mark.parametrize("kind", [*event_classes()], ids=lambda each: each.__name__)
def test_what_a_folder_holds_is_read_back_as_it_was_recorded(kind: type[EventData]) -> None:
    """JSON keeps neither tuples nor enumerations; the fields have them, and what asks for the class finds the event."""
    data = typical_of(kind, **({"workload": METADATA} if kind in OF_METADATA else {}))
    recorded = data.event(0, 5, "broker-0")
    read = Recorded(0, 5, recorded.kind, "broker-0", json.loads(json.dumps(recorded.data)))
    assert (read.what, is_a(read, kind)) == (data, True)
    assert only([read, RunBegan().event(1, 6, None)], kind) == ([read] if kind is not RunBegan else [read, ANY])


def test_a_workload_is_of_clients_or_of_metadata() -> None:
    """The two share their kinds, and differ by the workload's name."""
    clients, changes = (
        typical_of(kind, workload=name) for kind, name in ((ClientsEnded, "c"), (OF_METADATA[1], METADATA))
    )
    history = History(HEADER, [clients.event(0, 1, None), changes.event(1, 2, None)])
    assert [each.seq for each in history.of(ClientsEnded)] == [0]
    assert [each.seq for each in history.of(MetadataWorkloadEnded)] == [1]
    assert [each.seq for each in history.of(ClientsEnded, MetadataWorkloadEnded)] == [0, 1]


def test_a_key_that_an_older_folder_lacks_has_its_default() -> None:
    """Where a field has none, the empty value of its type."""
    started = Recorded[NodeStarted](0, 1, EventKind.NODE_STARTED, "broker-0", {"role": "broker", "mode": "kraft"})
    assert (started.what.role, started.what.mode) == (Role.BROKER, BrokerMode.KRAFT)
    assert (started.what.kafka, started.what.incarnation, started.what.digest, started.what.pid) == ("", 0, None, None)


def test_recorded_data_cannot_be_changed() -> None:
    """An event stays what it was when it happened."""
    with pytest.raises(FrozenInstanceError):
        RunEnded().test = None  # type: ignore[misc]


def test_a_typical_event_has_plain_values_and_takes_no_unknown_field() -> None:
    """A misspelt field in a test of a checker is an error, not an event that no run can have."""
    event = typical(EventKind.NODE_STOPPED, how="killed").event(0, 0, None)
    assert json.dumps(event.data) == '{"how": "killed", "exit_code": null, "took_ms": 0, "said": ""}'
    with pytest.raises(LookupError, match=r"expected fields of NodeStopped; got \{'howe'"):
        typical(EventKind.NODE_STOPPED, howe="killed")
