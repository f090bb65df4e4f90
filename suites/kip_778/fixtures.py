"""Fixtures of KIP-778 tests, with the general ones: a conftest gets all of them by one line, ``import *``."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_kmigrate import fixtures
from pytest_kmigrate.fixtures import *

if TYPE_CHECKING:
    from pytest_kmigrate.documents.kip_778.walking import AtLevel
    from pytest_kmigrate.model.events.nodes import ToolRan
    from pytest_kmigrate.running import Run
    from pytest_kmigrate.wire.features import FeatureAnswer, NodeFeatures

__all__ = [
    "features",
    "features_tool",
    "held_connection",
    "levels",
    "log_of",
    "registered_without_a_range",
    "set_level",
    "snapshots_of",
    "top_level",
    "walk",
]
__all__ += fixtures.__all__


@pytest.fixture
def features(kmigrate_run: "Run") -> "Callable[..., NodeFeatures]":
    """``features("broker-0", version=3)``: what a node answers of its features and requests."""
    from pytest_kmigrate.wire.features import node_features_at

    return lambda node, version=3: node_features_at(kmigrate_run.cluster.peer(node), version=version)


@pytest.fixture
def levels(kmigrate_run: "Run", features: "Callable[..., NodeFeatures]") -> Callable[[], dict[str, int | None]]:
    """``levels()``: the metadata.version that each live node takes for finalized."""
    from pytest_kmigrate.documents.kip_778.levels import METADATA_VERSION
    from pytest_kmigrate.model.topology import Role

    def of(node: str) -> int | None:
        lowest_and_highest = features(node).finalized.get(METADATA_VERSION)
        return lowest_and_highest[1] if lowest_and_highest else None

    def live() -> list[str]:
        nodes = (*kmigrate_run.cluster.nodes(Role.CONTROLLER), *kmigrate_run.cluster.nodes(Role.BROKER))
        return [node.name for node in nodes if node.alive]

    return lambda: {node: of(node) for node in live()}


@pytest.fixture
def set_level(kmigrate_run: "Run") -> "Callable[..., FeatureAnswer]":
    """``set_level(9, kind=features.UPGRADE, dry_run=True, at="broker-0")``: the answer; default is the leader's.

    Several features by ``set_level(**{"metadata.version": 9, "other": 1})``.
    """
    from pytest_kmigrate.documents.kip_778.levels import METADATA_VERSION
    from pytest_kmigrate.waiting import PATIENCE_S, until
    from pytest_kmigrate.wire.features import UPGRADE, update_features_at

    def leader() -> str:
        return until(kmigrate_run.view.quorum_leader, awaited="a leader of the quorum", within_s=PATIENCE_S)

    def asked(
        level: int | Mapping[str, int], kind: int = UPGRADE, *, at: str | None = None, **how: Any
    ) -> "FeatureAnswer":
        wanted = level if isinstance(level, Mapping) else {METADATA_VERSION: level}
        return update_features_at(kmigrate_run.cluster.peer(at or leader()), wanted, kind, **how)

    return asked


@pytest.fixture
def log_of(kmigrate_run: "Run") -> Callable[[str], list[Mapping[str, Any]]]:
    """``log_of("broker-0")``: the records of a node's metadata log, those of snapshots left out."""
    return lambda node: [each for each in kmigrate_run.cluster.metadata_log(node) if not each["snapshot"]]


@pytest.fixture
def snapshots_of(kmigrate_run: "Run") -> Callable[[str], list[str]]:
    """``snapshots_of("controller-3000")``: the snapshots of the metadata log on a node's disk, by name."""
    return lambda node: sorted({each["snapshot"] for each in kmigrate_run.cluster.metadata_log(node)} - {None, ""})


@pytest.fixture
def top_level(features: "Callable[..., NodeFeatures]") -> Callable[[], int]:
    """``top_level()``: the highest metadata.version that controller 3000 supports."""
    from pytest_kmigrate.documents.kip_778.levels import METADATA_VERSION

    return lambda: features("controller-3000").supported[METADATA_VERSION][1]


@pytest.fixture
def features_tool(tool: "Callable[..., ToolRan]") -> "Callable[..., ToolRan]":
    """``features_tool("upgrade", "--metadata", "3.5")``: kafka-features of broker 0, run against broker 0."""
    return lambda *words: tool("broker-0", "kafka-features", "--bootstrap-server", "{bootstrap}", *words)


@pytest.fixture
def held_connection(kmigrate_run: "Run") -> "Callable[..., AbstractContextManager[Callable[[], NodeFeatures]]]":
    """Asks for features on one connection again and again: ``with held_connection("broker-0") as ask: ask()``."""
    from pytest_kmigrate.wire.features import features_asked_again

    return lambda node: features_asked_again(kmigrate_run.cluster.peer(node))


@pytest.fixture
def registered_without_a_range(kmigrate_run: "Run") -> Callable[[], str]:
    """The answer of controller 3000 to a broker that says nothing of metadata.version."""
    from pytest_kmigrate.wire.admin import cluster_id_at
    from pytest_kmigrate.wire.registration import Registration, register_at

    def answered() -> str:
        cluster_id = cluster_id_at(kmigrate_run.cluster.peer("broker-0"))
        silent = Registration(7, cluster_id, None, is_migrating=False, listeners={"INTERNAL": "127.0.0.1:9"})
        return register_at(kmigrate_run.cluster.peer("controller-3000"), silent)[0]

    return answered


@pytest.fixture
def walk(kmigrate_run: "Run") -> "Callable[[], list[AtLevel]]":
    """``walk()`` raises metadata.version level by level to the highest, and returns what was seen at each."""
    from pytest_kmigrate.documents.kip_778.walking import walked

    return lambda: walked(kmigrate_run.scene)
