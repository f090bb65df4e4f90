"""Fixtures of KIP-500 tests, with the general ones: a conftest gets all of them by one line, ``import *``."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from pytest_kmigrate import fixtures
from pytest_kmigrate.fixtures import *
from pytest_kmigrate.model.capabilities import SIDES, Capability, needing
from pytest_kmigrate.suites.kip_500 import request_fixtures, scale_fixtures
from pytest_kmigrate.suites.kip_500.request_fixtures import *
from pytest_kmigrate.suites.kip_500.scale_fixtures import *

if TYPE_CHECKING:
    from pytest_kmigrate.model.events.nodes import ToolRan
    from pytest_kmigrate.procedures.driver import ProcedureDriver
    from pytest_kmigrate.running import Run

__all__ = [
    "acknowledged_at",
    "answers_of",
    "asked_for_isr",
    "change_at",
    "controller_serves",
    "created_through",
    "formatted_anew",
    "given_while_stopping",
    "isr_of_broker",
    "quorum",
    "registered_as",
    "taking_records",
]
__all__ += fixtures.__all__
__all__ += request_fixtures.__all__
__all__ += scale_fixtures.__all__


@pytest.fixture
def quorum(kmigrate_run: "Run") -> "ProcedureDriver":
    """``quorum.await_new_active_controller()``, ``await_state("phase", QuorumPhase.SERVING)``."""
    from pytest_kmigrate.fixtures.drivers import driver_of
    from pytest_kmigrate.procedures.driver import ProcedureDriver

    return driver_of(
        kmigrate_run, ProcedureDriver, "quorum: expected --kmigrate-profile kip-500, got one without phases"
    )


@pytest.fixture
@needing(Capability.REQUESTS)
def answers_of(kmigrate_run: "Run") -> Callable[[str], dict[str, str]]:
    """``answers_of("controller-3001")``: by request, the error that this very controller answers with.

    ``NO_ANSWER`` where it has none within 10 s.
    """
    from concurrent.futures import ThreadPoolExecutor

    from pytest_kmigrate.model.errors import AwaitTimeoutError
    from pytest_kmigrate.wire.admin import cluster_id_at, create_topics_at
    from pytest_kmigrate.wire.features import update_features_at
    from pytest_kmigrate.wire.registration import Registration, heartbeat_at, register_at

    def answers(name: str) -> dict[str, str]:
        peer = kmigrate_run.cluster.peer(name)
        cluster_id = cluster_id_at(kmigrate_run.cluster.peer("broker-0"))
        newcomer = Registration(8, cluster_id, (1, 30), is_migrating=False, listeners={"INTERNAL": "127.0.0.1:9"})
        creation = {"partitions": 1, "replication": 1, "patience_s": 0}
        asked: dict[str, Callable[[], str]] = {
            "BrokerRegistration": lambda: register_at(peer, newcomer, within_s=10)[0],
            "BrokerHeartbeat": lambda: heartbeat_at(peer, 0, 1, 1, within_s=10)[0],
            "CreateTopics": lambda: create_topics_at(peer, ["nowhere"], **creation, within_s=10)["nowhere"],
            "UpdateFeatures": lambda: update_features_at(peer, {"metadata.version": 30}, within_s=10).first_error,
        }
        with ThreadPoolExecutor(len(asked)) as pool:
            return dict(zip(asked, pool.map(answered, asked.values()), strict=True))

    def answered(ask: Callable[[], str]) -> str:
        try:
            return ask()
        except AwaitTimeoutError:
            return "NO_ANSWER"

    return answers


@pytest.fixture
@needing(Capability.REQUESTS, Capability.CHANGE)
def change_at(kmigrate_run: "Run") -> Callable[..., None]:
    """``change_at("controller-3000", "alone", topic="orders")`` requests changes of metadata of this very controller.

    A topic of this name, a config of ``topic``, and a quota, all at once; a check judges what it acknowledges.
    """
    from pytest_kmigrate.workloads.metadata.asking_one import request_at_once

    def requested(node: str, name: str, topic: str) -> None:
        request_at_once(node, kmigrate_run.cluster.peer(node), kmigrate_run.recorder, name, topic)

    return requested


@pytest.fixture
def taking_records(
    created: Callable[..., object],
    led_by: Callable[[str, str], list[int]],
    acknowledged_at: Callable[..., int],
    kmigrate_run: "Run",
) -> Callable[[str], Callable[[], list[str]]]:
    """``taking_records("alone")`` creates a topic; what it returns gives the brokers that take records into it.

    Each broker is sent records for a partition that it led at the creation, with acks=1.
    """
    from pytest_kmigrate.model.topology import Role

    def begun(topic: str) -> Callable[[], list[str]]:
        names = [node.name for node in kmigrate_run.cluster.nodes(Role.BROKER)]
        created(topic, partitions=len(names), replication=len(names))
        led = {name: led_by(name, topic)[0] for name in names}
        return lambda: [name for name in names if acknowledged_at(name, topic, led[name])]

    return begun


@pytest.fixture
@needing(Capability.REQUESTS, Capability.CHANGE)
def created_through(kmigrate_run: "Run") -> Callable[..., dict[str, str]]:
    """``created_through("broker-0", "a", "b")``: the error of each creation that a broker forwards."""
    from pytest_kmigrate.wire.admin import create_topics_at

    return lambda node, *topics: create_topics_at(
        kmigrate_run.cluster.peer(node), topics, partitions=1, replication=1, within_s=5
    )


@pytest.fixture
def controller_serves(kmigrate_run: "Run", created_through: Callable[..., dict[str, str]]) -> Callable[[str], bool]:
    """``controller_serves("again")``: whether a topic can be created through each broker within a minute.

    The topics are called ``again-broker-0`` and so on.
    """
    from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
    from pytest_kmigrate.model.topology import Role
    from pytest_kmigrate.waiting import until

    names = [node.name for node in kmigrate_run.cluster.nodes(Role.BROKER)]

    def is_created(name: str, topic: str) -> bool:
        try:
            return created_through(name, topic)[topic] in ("NONE", "TOPIC_ALREADY_EXISTS")
        except ClusterError:
            return False

    def serves(topic: str) -> bool:
        made = {name: f"{topic}-{name}" for name in names}
        try:
            return until(lambda: all(is_created(*each) for each in made.items()), awaited=f"topic {topic}", within_s=60)
        except AwaitTimeoutError:
            return False

    return serves


@pytest.fixture
@needing(Capability.REQUESTS)
def isr_of_broker(kmigrate_run: "Run") -> Callable[..., list[str]]:
    """``isr_of_broker("broker-2", "broker-0")``: what broker 0 lists broker 2 as the leader or in the ISR of."""
    from pytest_kmigrate.wire.admin import describe_topic_at
    from pytest_kmigrate.wire.describing import all_topics_at

    def listed(name: str, at: str) -> list[str]:
        number, peer = kmigrate_run.cluster.node(name).spec.node_id, kmigrate_run.cluster.peer(at)
        return [
            f"{topic}-{partition}"
            for topic in sorted(all_topics_at(peer))
            for partition, described in describe_topic_at(peer, topic).partitions.items()
            if number == described.leader or number in described.isr
        ]

    return listed


@pytest.fixture
@needing(Capability.REQUESTS)
def registered_as(kmigrate_run: "Run", leader: Callable[[], str]) -> Callable[..., str]:
    """``registered_as(0)``: the active controller's answer to another process that registers with this id."""
    from pytest_kmigrate.wire.admin import cluster_id_at
    from pytest_kmigrate.wire.features import node_features_at
    from pytest_kmigrate.wire.registration import Registration, register_at

    def answer(broker_id: int, cluster_id: str | None = None) -> str:
        peer = kmigrate_run.cluster.peer(leader())
        of_cluster = cluster_id or cluster_id_at(kmigrate_run.cluster.peer("broker-0"))
        level = node_features_at(peer).supported["metadata.version"]
        twin = Registration(broker_id, of_cluster, level, is_migrating=False, listeners={"INTERNAL": "127.0.0.1:9"})
        return register_at(peer, twin)[0]

    return answer


@pytest.fixture
@needing(Capability.REQUESTS, *SIDES["log"])
def asked_for_isr(kmigrate_run: "Run", leader: Callable[[], str]) -> Callable[..., str]:
    """``asked_for_isr("pinned", leader_epoch=-1)``: the leader's answer to a change of partition 0 that differs so.

    The change leaves the leader alone in the ISR; the three epochs are added to the right ones.
    """
    from base64 import urlsafe_b64decode
    from uuid import UUID

    from pytest_kmigrate.wire.broker_requests import IsrChange, alter_partition_at

    def answer(topic: str, *, leader_epoch: int = 0, partition_epoch: int = 0, broker_epoch: int = 0) -> str:
        image = kmigrate_run.metadata.seen("log")
        now: Mapping[str, Any] = image.partitions[f"{topic}-0"]
        brokers = image.of_log["brokers"]
        change = IsrChange(
            now["leader"],
            brokers[str(now["leader"])]["epoch"] + broker_epoch,
            UUID(bytes=urlsafe_b64decode(f"{image.topics[topic]['id']}==")),
            0,
            now["leader_epoch"] + leader_epoch,
            now["partition_epoch"] + partition_epoch,
            (now["leader"],),
        )
        return alter_partition_at(kmigrate_run.cluster.peer(leader()), change)

    return answer


@pytest.fixture
@needing(Capability.START, Capability.WIPE, Capability.REQUESTS)
def formatted_anew(kmigrate_run: "Run", tool: "Callable[..., ToolRan]") -> Callable[[str], None]:
    """``formatted_anew("controller-3001")``: a node is stopped, gets an empty disk, and starts with it."""
    from pytest_kmigrate.wire.admin import cluster_id_at

    def anew(name: str) -> None:
        node = kmigrate_run.cluster.node(name)
        cluster_id = cluster_id_at(kmigrate_run.cluster.peer("broker-0"))
        node.stop()
        node.wipe()
        tool(name, "kafka-storage", "format", f"--cluster-id={cluster_id}", "--config", "{config}")
        node.start()

    return anew


@pytest.fixture
def given_while_stopping(
    kmigrate_run: "Run", log_of: Callable[[str], list[Mapping[str, Any]]]
) -> Callable[[str], list[str]]:
    """``given_while_stopping("broker-2")``: the partitions that it got after it had announced to stop."""
    from pytest_kmigrate.documents.kip_500.log import given_after_stopping

    return lambda name: given_after_stopping(
        log_of(kmigrate_run.view.quorum_leader() or "controller-3000"), kmigrate_run.cluster.node(name).spec.node_id
    )


@pytest.fixture
@needing(Capability.REQUESTS, Capability.CHANGE)
def acknowledged_at(kmigrate_run: "Run") -> Callable[..., int]:
    """``acknowledged_at("broker-0", "orders", 0)``: of 20 records with acks=1 sent to this broker, how many it took."""
    from confluent_kafka import Producer

    def taken(node: str, topic: str, partition: int) -> int:
        connection: Mapping[str, str] = kmigrate_run.cluster.client_connection()
        address = kmigrate_run.cluster.peer(node).address
        limits = {"acks": "1", "message.timeout.ms": 5000, "bootstrap.servers": address}
        producer, acknowledged = Producer({**connection, **limits}), list[object]()
        for number in range(20):
            producer.produce(
                topic,
                str(number).encode(),
                partition=partition,
                on_delivery=lambda error, _: acknowledged.append(error),
            )
        producer.flush(8)
        return acknowledged.count(None)

    return taken
