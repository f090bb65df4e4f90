"""Fixtures of KIP-778 tests, with the general ones: a conftest gets all of them by one line, ``import *``."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_kmigrate import fixtures
from pytest_kmigrate.fixtures import *
from pytest_kmigrate.model.capabilities import Capability, needing
from pytest_kmigrate.model.event import only
from pytest_kmigrate.model.events.nodes import IdentityRead

if TYPE_CHECKING:
    from pytest_kmigrate.distributions.class_files import JavaClass
    from pytest_kmigrate.documents.kip_778.moves import SetLevel
    from pytest_kmigrate.documents.kip_778.walking import AtLevel
    from pytest_kmigrate.model.events.nodes import ToolRan
    from pytest_kmigrate.procedures.driver import ProcedureDriver
    from pytest_kmigrate.running import Run
    from pytest_kmigrate.wire.features import FeatureAnswer, NodeFeatures

__all__ = [
    "broker_registrations",
    "features",
    "features_tool",
    "formatted",
    "held_connection",
    "java_class",
    "let_lead",
    "levels",
    "lower",
    "meta_properties",
    "recorded_levels",
    "registered_with",
    "registered_without_a_range",
    "registrations_asked_for",
    "release_of",
    "set_level",
    "status_and_level",
    "supported",
    "top_level",
    "upgrade",
    "walk",
]
__all__ += fixtures.__all__


@pytest.fixture
@needing(Capability.REQUESTS)
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
@needing(Capability.REQUESTS, Capability.CHANGE)
def set_level(kmigrate_run: "Run", leader: Callable[[], str]) -> "Callable[..., FeatureAnswer]":
    """``set_level(9, kind=features.UPGRADE, dry_run=True, at="broker-0")``: the answer; default is the leader's.

    Several features by ``set_level(**{"metadata.version": 9, "other": 1})``.
    """
    from pytest_kmigrate.documents.kip_778.levels import METADATA_VERSION
    from pytest_kmigrate.wire.features import UPGRADE, update_features_at

    def asked(
        level: int | Mapping[str, int], kind: int = UPGRADE, *, at: str | None = None, **how: Any
    ) -> "FeatureAnswer":
        wanted = level if isinstance(level, Mapping) else {METADATA_VERSION: level}
        return update_features_at(kmigrate_run.cluster.peer(at or leader()), wanted, kind, **how)

    return asked


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
def status_and_level(
    features_tool: "Callable[..., ToolRan]", levels: Callable[[], dict[str, int | None]]
) -> Callable[..., tuple[int, int | None]]:
    """``status_and_level("upgrade", "--metadata", "3.4")``: of kafka-features, and what controller 3000 has then."""
    return lambda *words: (features_tool(*words).status, levels()["controller-3000"])


@pytest.fixture
@needing(Capability.REQUESTS)
def held_connection(kmigrate_run: "Run") -> "Callable[..., AbstractContextManager[Callable[[], NodeFeatures]]]":
    """One connection for as long as a block lasts, and what a node answers on it: ``as ask: ask().finalized``."""
    from pytest_kmigrate.wire.features import features_asked_again

    return lambda node: features_asked_again(kmigrate_run.cluster.peer(node))


@pytest.fixture
@needing(Capability.REQUESTS)
def registered_with(kmigrate_run: "Run") -> Callable[..., str]:
    """``registered_with(1, (1, 14))``: controller 3000's answer to a broker of this id that supports these levels.

    None instead of levels: the broker says nothing of metadata.version.
    """
    from pytest_kmigrate.wire.admin import cluster_id_at
    from pytest_kmigrate.wire.registration import Registration, register_at

    def answered(broker_id: int, levels: tuple[int, int] | None) -> str:
        cluster_id = cluster_id_at(kmigrate_run.cluster.peer("broker-0"))
        broker = Registration(broker_id, cluster_id, levels, is_migrating=False, listeners={"INTERNAL": "127.0.0.1:9"})
        return register_at(kmigrate_run.cluster.peer("controller-3000"), broker)[0]

    return answered


@pytest.fixture
def registered_without_a_range(registered_with: Callable[..., str]) -> Callable[[], str]:
    """The answer of controller 3000 to a broker that says nothing of metadata.version."""
    return lambda: registered_with(7, None)


@pytest.fixture
@needing(Capability.METRICS)
def registrations_asked_for(kmigrate_run: "Run") -> Callable[[], int]:
    """``registrations_asked_for()``: how many registrations of brokers controller 3000 was requested to make."""

    def count() -> int:
        received = kmigrate_run.cluster.requests_received("controller-3000")
        return sum(count for (name, _), count in received.items() if name == "BrokerRegistration")

    return count


@pytest.fixture
def recorded_levels(log_of: Callable[[str], list[Mapping[str, Any]]]) -> Callable[[str], list[int]]:
    """``recorded_levels("group.version")``: the levels that the log of controller 3000 gives to a feature, in turn."""
    from pytest_kmigrate.documents.kip_778.levels import of_type
    from pytest_kmigrate.model.image import FEATURE_LEVEL

    def levels(feature: str) -> list[int]:
        records = of_type(log_of("controller-3000"), FEATURE_LEVEL, name=feature)
        return [int(each["data"]["featureLevel"]) for each in records]

    return levels


@pytest.fixture
def broker_registrations(log_of: Callable[[str], list[Mapping[str, Any]]]) -> Callable[[int], int]:
    """``broker_registrations(1)``: how many registrations of a broker the log of controller 3000 holds."""
    from pytest_kmigrate.documents.kip_778.levels import of_type

    return lambda broker: len(of_type(log_of("controller-3000"), "REGISTER_BROKER_RECORD", brokerId=broker))


@pytest.fixture
@needing(Capability.TOOLS)
def java_class(kmigrate_run: "Run") -> "Callable[..., JavaClass]":
    """``java_class("org.apache.kafka.clients.admin.FeatureUpdate")``: what this class of the release declares.

    Of several names the first that the release has. ClusterError when it has none.
    """
    from pytest_kmigrate.distributions.class_files import java_class
    from pytest_kmigrate.distributions.kafka import resolve
    from pytest_kmigrate.model.errors import ClusterError

    def declared(*names: str) -> "JavaClass":
        kafka = kmigrate_run.cluster.topology.kafka
        jars = resolve(kafka, progress=lambda _: None, archive=False).jars
        found = next((each for name in names if (each := java_class(jars, name))), None)
        if found is None:
            raise ClusterError(f"{', '.join(names)}: expected it in a jar of Kafka {kafka}; got none: has it moved?")
        return found

    return declared


@pytest.fixture
def upgrade(kmigrate_run: "Run") -> "ProcedureDriver":
    """Drives the documented upgrade: ``advance_to(UpgradePhase.ROLLED)``, or ``make("by-hand", *moves)``."""
    from pytest_kmigrate.fixtures.drivers import driver_of
    from pytest_kmigrate.procedures.driver import ProcedureDriver

    wrong = "upgrade: expected --kmigrate-profile kip-778, got one without an upgrade"
    return driver_of(kmigrate_run, ProcedureDriver, wrong)


@pytest.fixture
def formatted(tool: "Callable[..., ToolRan]") -> "Callable[..., ToolRan]":
    """``formatted("--release-version", "3.6", at="controller-3001")``: kafka-storage format of a node's disk."""

    def run(
        *words: str,
        at: str = "controller-3000",
        config: str | None = "{config}",
        cluster_id: str | None = "MkU3OEZvcm1hdHRlZERpcw",
    ) -> "ToolRan":
        given = [f"--cluster-id={cluster_id}"] if cluster_id else []
        given += ["--config", config] if config else []
        return tool(at, "kafka-storage", "format", *given, *words)

    return run


@pytest.fixture
@needing(Capability.IDENTITY)
def meta_properties(kmigrate_run: "Run") -> Callable[[str], dict[str, str]]:
    """``meta_properties("controller-3000")``: what the node's meta.properties hold; empty on an unformatted disk."""

    def held(node: str) -> dict[str, str]:
        before = len(kmigrate_run.recorder.events)
        kmigrate_run.cluster.node(node).tell_identity()
        found = [event.what.files for event in only(list(kmigrate_run.recorder.events)[before:], IdentityRead)]
        return {key: value for files in found for file in files.values() for key, value in file.items()}

    return held


@pytest.fixture
def release_of() -> Callable[[str], str]:
    """``release_of("3.9-IV0")``, ``release_of("3.9.1")``: major and minor of a level or a release, ``3.9``."""
    return lambda text: ".".join(text.partition("-")[0].split(".")[:2])


@pytest.fixture
@needing(Capability.START)
def let_lead(kmigrate_run: "Run") -> Callable[[str], None]:
    """``let_lead("controller-3000")`` restarts whichever other controller leads the quorum, until this one does."""
    from pytest_kmigrate.waiting import PATIENCE_S, until

    def leads(name: str) -> bool:
        leader = kmigrate_run.view.quorum_leader()
        if leader and leader != name:
            kmigrate_run.cluster.node(leader).stop()
            kmigrate_run.cluster.node(leader).start()
        return leader == name

    def until_it_leads(name: str) -> None:
        until(lambda: leads(name), awaited=f"{name} leading", within_s=PATIENCE_S)

    return until_it_leads


@pytest.fixture
def lower(kmigrate_run: "Run") -> "Callable[[], SetLevel]":
    """``lower()``: the move that lowers the level to that of the release that nodes began with."""
    from pytest_kmigrate.distributions.versions import version_of
    from pytest_kmigrate.documents.kip_778.moves import SetLevel
    from pytest_kmigrate.model.topology import Role

    def move() -> "SetLevel":
        began = version_of(kmigrate_run.cluster.nodes(Role.BROKER)[0].spec.kafka)
        return SetLevel("downgrade", ".".join(began.split(".")[:2]))

    return move


@pytest.fixture
def supported(features: "Callable[..., NodeFeatures]") -> Callable[..., dict[str, tuple[int, int]]]:
    """``supported("broker-0", "broker-1")``: by node, the lowest and the highest metadata.version that it supports."""
    from pytest_kmigrate.documents.kip_778.levels import METADATA_VERSION

    return lambda *nodes: {node: features(node).supported[METADATA_VERSION] for node in nodes}


@pytest.fixture
def walk(kmigrate_run: "Run") -> "Callable[[], list[AtLevel]]":
    """``walk()`` raises metadata.version level by level to the highest, and returns what was seen at each."""
    from pytest_kmigrate.documents.kip_778.walking import walked

    return lambda: walked(kmigrate_run.scene)
