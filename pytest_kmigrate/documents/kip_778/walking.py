"""Raises ``metadata.version`` level by level on a live cluster, and writes down what is seen at each."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from pytest_kmigrate.documents.kip_778.levels import METADATA_VERSION, highest_fetch
from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.model.protocols import Cluster, Scene
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.waiting import NotYet, until
from pytest_kmigrate.wire.admin import create_topics_at
from pytest_kmigrate.wire.features import node_features_at, update_features_at
from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange
from pytest_kmigrate.workloads.metadata.metadata_invocation import MetadataAdmin

IN_FORCE_WITHIN_S = 10
_FETCH = "Fetch"


@dataclass(frozen=True)
class AtLevel:
    """What was seen at one level."""

    level: int
    answer: str
    """Kafka's name of the error of the request that set it, ``NONE`` for none."""
    in_force: Mapping[str, tuple[int, int]]
    """By node, its answer to ApiVersions then: the finalized level, and the epoch of the features."""
    before: Mapping[str, tuple[int, int]]
    """The same before the request."""
    fetches: frozenset[int]
    """By which versions broker-1 and broker-0 fetched from each other."""
    scram: str
    """The answer to a change of SCRAM credentials."""


def walked(scene: Scene) -> list[AtLevel]:
    """Raise the level by one until the highest that the active controller supports."""
    controller = until(scene.view.quorum_leader, awaited="a leader of the quorum", within_s=IN_FORCE_WITHIN_S)
    features = node_features_at(scene.cluster.peer(controller))
    first, last = features.finalized[METADATA_VERSION][1] + 1, features.supported[METADATA_VERSION][1]
    admin = MetadataAdmin(scene.cluster.client_connection())
    return [_at(scene.cluster, controller, admin, level) for level in range(first, last + 1)]


def _at(cluster: Cluster, controller: str, admin: MetadataAdmin, level: int) -> AtLevel:
    before = _in_force(cluster)
    counted = _fetched(cluster)
    answer = update_features_at(cluster.peer(controller), {METADATA_VERSION: level})
    _await_level(cluster, level)
    in_force = _in_force(cluster)
    create_topics_at(cluster.peer("broker-0"), [f"at-level-{level}"], partitions=2, replication=2)
    scram = admin.invoke(MetadataChange("set-scram", f"at-level-{level}:SCRAM-SHA-256", {"iterations": 4096}))
    _await_fetch(cluster, counted, highest_fetch(level))
    return AtLevel(level, answer.first_error, in_force, before, _since(cluster, counted), scram.error or "NONE")


def _in_force(cluster: Cluster) -> dict[str, tuple[int, int]]:
    nodes = (*cluster.nodes(Role.CONTROLLER), *cluster.nodes(Role.BROKER))
    answers = {node.name: node_features_at(cluster.peer(node.name)) for node in nodes}
    return {name: (each.finalized[METADATA_VERSION][1], each.epoch) for name, each in answers.items()}


def _await_level(cluster: Cluster, level: int) -> None:
    """Give every node time to take the level on; whether it does is for the test to claim."""

    def everywhere() -> bool:
        return {each for each, _ in _in_force(cluster).values()} == {level}

    _given(everywhere, f"level {level} on every node")


def _await_fetch(cluster: Cluster, counted: Mapping[int, int], version: int) -> None:
    def fetched() -> bool | NotYet:
        return version in _since(cluster, counted) or NotYet(sorted(_since(cluster, counted)))

    _given(fetched, f"a fetch by version {version}")


def _given(condition: Callable[[], bool | NotYet], awaited: str) -> None:
    with suppress(AwaitTimeoutError):
        until(condition, awaited=awaited, within_s=IN_FORCE_WITHIN_S)


def _fetched(cluster: Cluster) -> dict[int, int]:
    """How many fetches brokers received so far, by version; only followers fetch here."""
    counted: dict[int, int] = {}
    for node in cluster.nodes(Role.BROKER):
        for (name, version), count in cluster.requests_received(node.name).items():
            if name == _FETCH:
                counted[version] = counted.get(version, 0) + count
    return counted


def _since(cluster: Cluster, counted: Mapping[int, int]) -> frozenset[int]:
    return frozenset(version for version, count in _fetched(cluster).items() if count > counted.get(version, 0))
