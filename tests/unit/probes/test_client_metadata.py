"""Facts about the probe that asks brokers what their clients ask: every answer is recorded, silence is none."""

from collections.abc import Callable
from typing import Any

import pytest

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import ClientMetadata
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.probes import client_metadata
from pytest_kmigrate.probes.client_metadata import ClientMetadataProbe
from pytest_kmigrate.waiting import until
from pytest_kmigrate.wire.describing import ReportedCluster, ToldTopic
from tests.unit.fakes import MemoryRecorder, Stage

PARTITION = {"replicas": [0, 1], "isr": [0, 1], "leader": 0, "leader_epoch": 3}
REPORTED = ReportedCluster(1, frozenset({2, 0}), {"orders": ToldTopic("id", {1: PARTITION, 0: {"leader": -1}})})
Answering = Callable[[Callable[[Peer], ReportedCluster]], None]


class Answers(MemoryRecorder):
    """Keeps answers, too."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[ClientMetadata] = []

    def client_metadata(self, answer: ClientMetadata) -> None:
        """Append one."""
        self.answers.append(answer)


@pytest.fixture
def recorder() -> Answers:
    """Where the probe writes."""
    return Answers()


@pytest.fixture
def probe(stage: Stage, recorder: Answers) -> ClientMetadataProbe:
    """A probe that was not started."""
    return ClientMetadataProbe(stage.cluster, recorder)


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Answering:
    """Sets what brokers answer."""
    monkeypatch.setattr(client_metadata, "_EVERY_S", 0.01)

    def set_to(answer: Callable[[Peer], ReportedCluster]) -> None:
        monkeypatch.setattr(client_metadata, "all_metadata_at", lambda peer, **_: answer(peer))

    return set_to


def test_an_answer_is_recorded_in_words(
    stage: Stage, probe: ClientMetadataProbe, recorder: Answers, answering: Answering
) -> None:
    """Sorted, so that equal metadata are equal texts."""
    answering(lambda _: REPORTED)
    probe.ask(stage.cluster.node("broker-0"))
    (answer,) = recorder.answers
    assert (answer.node, answer.controller, answer.brokers) == ("broker-0", 1, (0, 2))
    assert answer.topics == {"orders": "id; 0 leader=-1; 1 replicas=0,1 isr=0,1 leader=0 leader_epoch=3"}


@pytest.mark.parametrize("error", [ClusterError("nobody"), AwaitTimeoutError("an answer", 1, None)])
def test_a_broker_that_does_not_answer_is_asked_again(
    stage: Stage, probe: ClientMetadataProbe, recorder: Answers, answering: Answering, error: ClusterError
) -> None:
    """It is no event, no answer and no end."""

    def silent(_: Peer) -> Any:
        raise error

    answering(silent)
    probe.ask(stage.cluster.node("broker-0"))
    stage.cluster.node("broker-1").kill()
    answering(lambda _: REPORTED)
    probe.ask(stage.cluster.node("broker-1"))
    assert (recorder.answers, recorder.events) == ([], [])


def _count(recorder: Answers, node: str) -> int:
    return sum(each.node == node for each in recorder.answers)


def test_every_live_broker_is_asked_again_and_again(
    stage: Stage, probe: ClientMetadataProbe, recorder: Answers, answering: Answering
) -> None:
    """And no other broker."""
    answering(lambda _: REPORTED)
    probe.start()
    brokers = ["broker-0", "broker-1", "broker-2"]
    until(lambda: all(_count(recorder, each) > 1 for each in brokers), awaited="two answers of each", within_s=60)
    probe.stop()
    assert {each.node for each in recorder.answers} == set(brokers)


def test_a_probe_that_fails_is_trouble_of_the_harness(
    probe: ClientMetadataProbe, recorder: Answers, answering: Answering
) -> None:
    """What was not asked must not look as if nothing had changed."""
    answering(lambda _: 1 // 0)  # type: ignore[arg-type,return-value]
    probe.start()
    until(lambda: recorder.of(EventKind.HARNESS_TROUBLE), awaited="trouble", within_s=60)
    probe.stop()
    assert str(recorder.events[0].data["what"]).startswith("observing metadata of broker-")


def test_where_single_nodes_cannot_be_asked_none_is(
    stage: Stage, probe: ClientMetadataProbe, recorder: Answers, answering: Answering
) -> None:
    """The provider does not offer it."""
    stage.cluster.capabilities -= {Capability.REQUESTS}
    answering(lambda _: REPORTED)
    probe.start()
    probe.stop()
    assert recorder.answers == []
