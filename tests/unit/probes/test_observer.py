"""Facts about the observer: every change is an event once, what stands still is none, trouble ends nothing."""

import threading

import pytest

from pytest_kmigrate.model.errors import ClusterError, EnvironmentLackError
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import Sample
from pytest_kmigrate.model.protocols import Reading
from pytest_kmigrate.probes.observer import Observer
from pytest_kmigrate.waiting import until
from tests.unit.fakes import MemoryRecorder, Stage


class Samples(MemoryRecorder):
    """Keeps samples too."""

    def __init__(self) -> None:
        super().__init__()
        self.samples: list[Sample] = []

    def sample(self, sample: Sample) -> None:
        """Append one."""
        self.samples.append(sample)


@pytest.fixture
def recorder() -> Samples:
    """Where the observer writes."""
    return Samples()


@pytest.fixture
def observer(stage: Stage, recorder: Samples) -> Observer:
    """An observer that was not started."""
    stage.cluster.reported = {node.name: {"A": 1.0, "B": 1.0} for node in stage.cluster.nodes()}
    return Observer(stage.cluster, stage.view, recorder, ("A", "B"))


def test_each_change_is_one_event(stage: Stage, observer: Observer, recorder: Samples) -> None:
    """Phase, state and active controller become events when they change, with what was before."""
    stage.view.controller = "broker-0"
    observer.look()
    observer.look()
    stage.view.readings["phase"] = Reading("HYBRID")
    stage.view.readings["migration_state"] = Reading("MIGRATION", "controller-3000")
    stage.view.controller = "controller-3000"
    observer.look()
    observer.look()
    assert [(event.kind, event.node, dict(event.data)) for event in recorder.events] == [
        (EventKind.STATE, None, {"of": "phase", "state": "ZOOKEEPER", "previous": None}),
        (EventKind.ACTIVE_CONTROLLER, "broker-0", {"controller": "broker-0", "previous": None}),
        (EventKind.STATE, None, {"of": "phase", "state": "HYBRID", "previous": "ZOOKEEPER"}),
        (
            EventKind.STATE,
            "controller-3000",
            {"of": "migration_state", "state": "MIGRATION", "previous": None},
        ),
        (EventKind.ACTIVE_CONTROLLER, "controller-3000", {"controller": "controller-3000", "previous": "broker-0"}),
    ]


def test_a_state_is_told_by_the_leader_that_reported_it(
    stage: Stage, observer: Observer, recorder: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by the one that leads a moment later."""
    stage.view.readings["migration_state"] = Reading("MIGRATION", "controller-3000")
    monkeypatch.setattr(stage.view, "quorum_leader", lambda: "controller-3001")
    observer.look()
    assert [event.node for event in recorder.of(EventKind.STATE) if event.node] == ["controller-3000"]


def test_a_cluster_that_does_not_answer_is_looked_at_again(
    stage: Stage, observer: Observer, recorder: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of the cluster is no event and no end: the next look shows it."""

    def unanswered(name: str) -> Reading:
        raise ClusterError("ZooKeeper does not answer")

    with monkeypatch.context() as down:
        down.setattr(stage.view, "state", unanswered)
        observer.look()
    assert recorder.events == []
    observer.look()
    assert recorder.of(EventKind.STATE)


def test_an_observer_that_goes_blind_says_so(
    stage: Stage, observer: Observer, recorder: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not observed must not look as if nothing had happened: the run is in doubt."""
    monkeypatch.setattr(stage.view, "state", lambda _: 1 // 0)
    observer.start()
    until(lambda: recorder.of(EventKind.HARNESS_TROUBLE), awaited="trouble", within_s=60)
    observer.stop()
    (trouble,) = recorder.of(EventKind.HARNESS_TROUBLE)
    assert trouble.data["what"] == "observing edges"
    assert "ZeroDivisionError" in str(trouble.data["error"])


def test_an_observer_that_cannot_even_say_so_ends_quietly(
    stage: Stage, observer: Observer, recorder: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is reported to the test by the same recorder: here it must not end a thread with a stack trace."""
    asked = threading.Event()

    def full(*_: object, **__: object) -> Event:
        asked.set()
        raise EnvironmentLackError("no space left on device")

    monkeypatch.setattr(recorder, "record", full)
    monkeypatch.setattr(stage.view, "state", lambda _: 1 // 0)
    observer.start()
    until(asked.is_set, awaited="an attempt to record", within_s=60)
    observer.stop()


def test_every_live_broker_and_controller_is_sampled(stage: Stage, observer: Observer, recorder: Samples) -> None:
    """Each gets a series of its own; a dead node and ZooKeeper get none."""
    stage.cluster.node("broker-1").kill()
    observer.start()
    wanted = {"broker-0", "broker-2", "controller-3000", "controller-3001", "controller-3002"}
    until(lambda: {sample.node for sample in recorder.samples} >= wanted, awaited="a sample of each", within_s=60)
    observer.stop()
    assert {sample.node for sample in recorder.samples} == wanted
    assert all(sample.values == {"A": 1.0, "B": 1.0} for sample in recorder.samples)
