"""Asks every broker, once a second, for the metadata that its clients get: controller, brokers and all topics."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Protocol

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.history import ClientMetadata
from pytest_kmigrate.model.protocols import Cluster, Node
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.probes.background import Background
from pytest_kmigrate.wire.describing import ReportedCluster, ToldTopic, all_metadata_at

_EVERY_S = 1.0
_WITHIN_S = 1.0
"""An answer is there at once, or the broker stands still."""


class AnswerRecorder(Recorder, Protocol):
    """A recorder that takes answers to clients, too."""

    def client_metadata(self, answer: ClientMetadata) -> None:
        """Append one broker's answer."""
        ...


class ClientMetadataProbe:
    """One thread per broker, so that a broker that stands still delays no other; one that does not answer has none."""

    def __init__(self, cluster: Cluster, recorder: AnswerRecorder) -> None:
        self._cluster = cluster
        self._recorder = recorder
        self._background = Background(recorder)

    def start(self) -> None:
        """Begin to ask, unless the provider cannot send requests to single nodes."""
        if Capability.REQUESTS in self._cluster.capabilities:
            for node in self._cluster.nodes(Role.BROKER):
                self._background.repeat(f"metadata of {node.name}", _EVERY_S, partial(self.ask, node))

    def stop(self) -> None:
        """Stop asking; returns when every thread has ended."""
        self._background.stop()

    def ask(self, node: Node) -> None:
        """Ask one broker now; record its answer, if there is one."""
        if not node.alive:
            return
        with suppress(ClusterError):  # it is starting or ending, or a fault keeps it from answering
            reported = all_metadata_at(self._cluster.peer(node.name), within_s=_WITHIN_S)
            self._recorder.client_metadata(_answer(self._recorder.now_ns(), node.name, reported))


def _answer(at_ns: int, node: str, reported: ReportedCluster) -> ClientMetadata:
    topics = {name: _text(topic) for name, topic in sorted(reported.topics.items())}
    return ClientMetadata(at_ns, node, reported.controller, tuple(sorted(reported.brokers)), topics)


def _text(topic: ToldTopic) -> str:
    partitions = (f"{number} {_partition(each)}" for number, each in sorted(topic.partitions.items()))
    return "; ".join([topic.topic_id, *partitions])


def _partition(values: Mapping[str, object]) -> str:
    return " ".join(f"{key}={_short(value)}" for key, value in values.items())


def _short(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
