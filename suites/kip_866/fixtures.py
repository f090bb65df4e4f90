"""Fixtures of KIP-866 tests, with the general ones: a conftest gets all of them by one line, ``import *``."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate import fixtures
from pytest_kmigrate.fixtures import *
from pytest_kmigrate.model.capabilities import SIDES, Capability, needing

if TYPE_CHECKING:
    from pytest_kmigrate.documents.kip_866.driver import MigrationDriver
    from pytest_kmigrate.model.peer import Peer
    from pytest_kmigrate.model.protocols import Node
    from pytest_kmigrate.running import Run
    from pytest_kmigrate.wire.broker_requests import IsrChange

__all__ = [
    "answer_to_forwarded_isr",
    "answers_to_admin",
    "answers_to_broker",
    "broker_in_migration_mode",
    "broker_without_the_flag",
    "identity",
    "in_control",
    "join",
    "migration",
    "misnamed_by_id",
    "new_producer_ids",
    "notified",
    "old_versions_taken",
    "password_of",
    "quorum_leader",
    "recorded_states",
    "registration",
    "version_change",
    "written_together",
]
__all__ += fixtures.__all__


@pytest.fixture
def migration(kmigrate_run: "Run") -> "MigrationDriver":
    """Drives the documented procedure: ``advance_to(Phase.HYBRID)``, ``revert()``, ``await_new_active_controller()``.

    ``begin(procedure.ENTER_MIGRATION, moves=1)`` makes a part of the next step, and ``make("by-hand", *moves)``
    a step of your own.
    """
    from pytest_kmigrate.documents.kip_866.driver import MigrationDriver
    from pytest_kmigrate.fixtures.drivers import driver_of

    wrong = "migration: expected --kmigrate-profile kip-866, got one without a migration"
    return driver_of(kmigrate_run, MigrationDriver, wrong)


@pytest.fixture
@needing(Capability.ZNODES)
def in_control(kmigrate_run: "Run") -> "Callable[[], str | None]":
    """``in_control()``: the node that the znode ``/controller`` names; None if it names none of this cluster."""
    from pytest_kmigrate.documents.kip_866.view import controller_in_zookeeper

    return lambda: controller_in_zookeeper(kmigrate_run.cluster, kmigrate_run.scene.znodes)


@pytest.fixture
def old_versions_taken(admin_of: "Callable[[str], Peer]") -> "Callable[[str], dict[str, list[int]]]":
    """``old_versions_taken("broker-0")``: the versions of control requests from before KIP-866 that a broker reads."""
    from pytest_kmigrate.wire.old_control_requests import versions_taken

    return lambda name: versions_taken(admin_of(name))


@pytest.fixture
def quorum_leader(kmigrate_run: "Run") -> "Callable[[], str | None]":
    """``quorum_leader()``: the controller that leads the quorum, in charge of the cluster or not; None without one."""
    return kmigrate_run.view.quorum_leader


@pytest.fixture
@needing(Capability.ZNODES)
def notified(kmigrate_run: "Run") -> "Callable[[], str | None]":
    """``notified()``: whose config has changed last, by the notification that brokers in ZooKeeper mode read."""
    import json

    def last() -> str | None:
        path = "/config/changes"
        names = sorted(kmigrate_run.scene.znodes.children(path))
        held = kmigrate_run.scene.znodes.get(f"{path}/{names[-1]}") if names else None
        return str(json.loads(held)["entity_path"]) if held else None

    return last


@pytest.fixture
def answers_to_admin(
    admin_of: "Callable[[str], Peer]",
) -> "Callable[[str, str], list[str]]":
    """``answers_to_admin("broker-0", "orders")``: the errors of a broker for three requests that admins seldom send.

    An election of the topic's preferred leader, a replacement of its configs, and an upgrade to a metadata.version
    that no release has.
    """
    from pytest_kmigrate.wire.describing import TOPIC_RESOURCE
    from pytest_kmigrate.wire.features import update_features_at
    from pytest_kmigrate.wire.rare_admin import elect_leader_at, replace_configs_at

    def answers(broker: str, topic: str) -> list[str]:
        peer = admin_of(broker)
        return [
            elect_leader_at(peer, topic, 0),
            replace_configs_at(peer, TOPIC_RESOURCE, topic, {"flush.messages": "500000"}),
            update_features_at(peer, {"metadata.version": 127}).first_error,
        ]

    return answers


@pytest.fixture
def answers_to_broker(controllers: "Callable[[], list[Peer]]") -> "Callable[[], list[str]]":
    """``answers_to_broker()``: the errors of the leader when broker 0 asks it to change an ISR, and for producer ids.

    Neither request is one that could be granted: its broker epoch is missing.
    """
    from pytest_kmigrate.wire.broker_requests import allocate_producer_ids_at, alter_partition_at

    def answers() -> list[str]:
        leader = controllers()[0]
        return [alter_partition_at(leader, _isr_never_granted()), allocate_producer_ids_at(leader, 0)]

    return answers


@pytest.fixture
def answer_to_forwarded_isr(controllers: "Callable[[], list[Peer]]") -> "Callable[[], str]":
    """``answer_to_forwarded_isr()``: the leader's error when a change of an ISR comes in an Envelope."""
    from pytest_kmigrate.wire.broker_requests import forwarded_alter_partition_at

    return lambda: forwarded_alter_partition_at(controllers()[0], _isr_never_granted())


def _isr_never_granted() -> "IsrChange":
    """What broker 0 could ask for, without its epoch and of a topic that there is not."""
    import uuid

    from pytest_kmigrate.wire.broker_requests import IsrChange

    return IsrChange(0, -1, uuid.uuid4(), 0, leader_epoch=0, partition_epoch=0, isr=(0,))


@pytest.fixture
def identity(kmigrate_run: "Run", controllers: "Callable[[], list[Peer]]") -> "Callable[[], tuple[str, int]]":
    """``identity()``: the cluster's id, and the ``metadata.version`` of its quorum as a number.

    The id is that of a live broker, or of ZooKeeper while there is none; the level is in the metadata log where
    controllers report none, as those of Kafka 3.5.
    """
    import json

    from pytest_kmigrate.model.topology import Role
    from pytest_kmigrate.wire.admin import cluster_id_at
    from pytest_kmigrate.wire.describing import features_at

    def cluster_id() -> str:
        live = [node.name for node in kmigrate_run.cluster.nodes(Role.BROKER) if node.alive]
        if live:
            return cluster_id_at(kmigrate_run.cluster.peer(live[0]))
        return str(json.loads(kmigrate_run.scene.znodes.get("/cluster/id") or b"{}")["id"])

    def level() -> int:
        reported = features_at(controllers()[0]).get("metadata.version")
        return reported or kmigrate_run.metadata.seen("log").features["metadata.version"]

    return lambda: (cluster_id(), level())


@pytest.fixture
def misnamed_by_id(kmigrate_run: "Run", admin_of: "Callable[[str], Peer]") -> "Callable[[], dict[str, str]]":
    """``misnamed_by_id()``: by ``broker: topic``, what a live broker answers for its id if it is not that topic."""
    from pytest_kmigrate.model.topology import Role
    from pytest_kmigrate.wire.describing import names_by_id_at

    def misnamed() -> dict[str, str]:
        live = [node.name for node in kmigrate_run.cluster.nodes(Role.BROKER) if node.alive]
        answers = {each: names_by_id_at(admin_of(each)) for each in live}
        return {
            f"{broker}: {topic}": answered
            for broker, topics in answers.items()
            for topic, answered in topics.items()
            if answered != topic
        }

    return misnamed


@pytest.fixture
def new_producer_ids(kmigrate_run: "Run", admin_of: "Callable[[str], Peer]") -> "Callable[[], list[int]]":
    """``new_producer_ids()``: three ids for new producers from each live broker; fewer from one that refuses.

    One that has no block of ids yet refuses, and fetches one.
    """
    from pytest_kmigrate.model.topology import Role
    from pytest_kmigrate.wire.admin import producer_id_from

    def given() -> list[int]:
        brokers = [admin_of(node.name) for node in kmigrate_run.cluster.nodes(Role.BROKER) if node.alive]
        answers = [producer_id_from(broker) for broker in brokers for _ in range(3)]
        return [given for error, given in answers if error == "NONE"]

    return given


@pytest.fixture
@needing(*SIDES["log"], *SIDES["zookeeper"])
def password_of(kmigrate_run: "Run") -> Callable[[str, str], dict[str, str | None]]:
    """``password_of("broker-0", "ssl.key.password")``: digests of a dynamic config of a broker, by side.

    ``log`` has it as it is; ``zookeeper`` is what the broker reads there, decoded by its ``password.encoder.secret``.
    """
    import json

    from pytest_kmigrate.probes.passwords import decoded
    from pytest_kmigrate.redaction import hashed

    def read(name: str, key: str) -> dict[str, str | None]:
        node = kmigrate_run.cluster.node(name)
        number, secret = node.spec.node_id, node.properties["password.encoder.secret"]
        znode = json.loads(kmigrate_run.scene.znodes.get(f"/config/brokers/{number}") or b"{}")
        password = decoded(str(znode.get("config", {}).get(key)), secret)
        in_log = kmigrate_run.metadata.seen("log").configs.get(f"broker:{number}", {})
        return {"log": in_log.get(key), "zookeeper": None if password is None else hashed(password)}

    return read


@pytest.fixture
@needing(Capability.METADATA_LOG)
def recorded_states(kmigrate_run: "Run") -> Callable[[], list[list[str]]]:
    """``recorded_states()``: the states of a migration in the metadata log of each live controller, by name."""
    from pytest_kmigrate.documents.kip_866.phases import zk_migration_state
    from pytest_kmigrate.model.topology import Role

    def of(name: str) -> list[str]:
        kafka = kmigrate_run.cluster.node(name).kafka
        records = kmigrate_run.cluster.metadata_log(name)
        numbers = [each["data"]["zkMigrationState"] for each in records if each["type"] == "ZK_MIGRATION_STATE_RECORD"]
        states = [zk_migration_state(number, kafka) for number in numbers]
        return [state.name if state else "unknown" for state in states]

    return lambda: [of(node.name) for node in kmigrate_run.cluster.nodes(Role.CONTROLLER) if node.alive]


@pytest.fixture
def registration(
    controllers: "Callable[[], list[Peer]]", identity: "Callable[[], tuple[str, int]]"
) -> "Callable[..., str]":
    """``registration(by=1)``, ``registration(version=0)``: the controller's answer to a broker that differs so."""
    from pytest_kmigrate.wire.registration import Registration, register_at

    def answered(by: int = 0, **changes: object) -> str:
        cluster_id, level = identity()
        offered: dict[str, object] = {"broker_id": 8, "cluster_id": cluster_id, "level": level + by}
        offered |= {"listeners": {"INTERNAL": "127.0.0.1:9"}, **changes}
        error, _ = register_at(controllers()[0], Registration(**offered))  # type: ignore[arg-type]
        return error

    return answered


@pytest.fixture
def version_change(
    controllers: "Callable[[], list[Peer]]", identity: "Callable[[], tuple[str, int]]"
) -> Callable[[int], str]:
    """``version_change(by=-1)``: the controllers' answer to a change of ``metadata.version`` by so many levels."""
    from pytest_kmigrate.wire.features import UNSAFE_DOWNGRADE, UPGRADE, update_features_at

    def answered(by: int) -> str:
        kind = UNSAFE_DOWNGRADE if by < 0 else UPGRADE
        return update_features_at(controllers()[0], {"metadata.version": identity()[1] + by}, kind).first_error

    return answered


@pytest.fixture
def broker_in_migration_mode(kmigrate_run: "Run") -> Callable[[], "Node"]:
    """A live broker that was rolled into migration mode and is not the active controller."""
    return lambda: _not_in_charge(kmigrate_run, is_migrating=True)


@pytest.fixture
def broker_without_the_flag(kmigrate_run: "Run") -> Callable[[], "Node"]:
    """A broker that was not rolled into migration mode and is not the active controller."""
    return lambda: _not_in_charge(kmigrate_run, is_migrating=False)


def _not_in_charge(run: "Run", *, is_migrating: bool) -> "Node":
    from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
    from pytest_kmigrate.model.topology import Role
    from pytest_kmigrate.waiting import PATIENCE_S, until

    def one() -> "Node | None":
        active = run.view.active_controller()
        fitting = [n for n in run.cluster.nodes(Role.BROKER) if (MIGRATION_FLAG in n.properties) == is_migrating]
        return next((node for node in fitting if active and node.name != active), None)

    return until(one, awaited="a broker that is not the controller", within_s=PATIENCE_S)


@pytest.fixture
@needing(Capability.START, Capability.RECONFIGURE)
def join(kmigrate_run: "Run") -> Callable[[str], None]:
    """``join("broker-2")`` restarts a broker in migration mode, without waiting for its replicas."""
    from pytest_kmigrate.documents.kip_866.procedure import brokers_join

    def joined(name: str) -> None:
        broker = kmigrate_run.cluster.node(name)
        broker.stop()
        broker.reconfigure(brokers_join(kmigrate_run.cluster))
        broker.start()

    return joined


@pytest.fixture
@needing(Capability.ZOOKEEPER_LOG)
def written_together(kmigrate_run: "Run") -> Callable[..., int]:
    """``written_together("orders", within_ms=150)``: how many transactions about a topic ZooKeeper took in that time.

    The most of any time so long. If each way to ZooKeeper and back takes longer, they were all in flight at once.
    """
    from pytest_kmigrate.model.capabilities import require

    cluster = kmigrate_run.cluster
    needs = frozenset({Capability.ZOOKEEPER_LOG})
    require(cluster.capabilities, needs, "written_together", kmigrate_run.recorder)

    def most(topic: str, within_ms: int) -> int:
        path, logged = f"/brokers/topics/{topic}/", cluster.zookeeper_log(-1)
        at_ns = [each.at_ns for each in logged if any(write.path.startswith(path) for write in each.changes)]
        window_ns = within_ms * 1_000_000
        return max((sum(since <= other < since + window_ns for other in at_ns) for since in at_ns), default=0)

    return most
