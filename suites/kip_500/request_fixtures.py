"""Fixtures that ask brokers and controllers of KIP-500 tests: what goes on while a leader is lost, and who may ask."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_kmigrate.model.capabilities import Capability, needing

if TYPE_CHECKING:
    from pytest_kmigrate.model.events.nodes import ToolRan
    from pytest_kmigrate.running import Run

__all__ = [
    "creation_as",
    "creations_under_way",
    "given_while_starting",
    "hold_partitions",
    "isr_recorded",
    "leads",
    "protocols_taken",
    "received_by_controllers",
    "refused_ways",
    "registrations",
    "seconds_to_serve",
    "snapshots_loaded",
    "snapshots_since",
    "states",
    "topics_counted",
    "topics_listed",
    "under_replicated",
    "user_made",
    "ways_of_metadata",
]

WAYS: Mapping[str, tuple[str, ...]] = {
    "config of a topic": ("topics", "by-tool", "retention.ms=700000"),
    "config of a broker": ("brokers", "0", "log.retention.ms=800000"),
    "quota of a client": ("clients", "by-tool", "consumer_byte_rate=1000000"),
    "quota of a user": ("users", "by-tool", "producer_byte_rate=1000000"),
    "credentials of a user": ("users", "by-tool", "SCRAM-SHA-256=[iterations=4096,password=not-secret]"),
}
"""What kafka-configs once wrote into ZooKeeper: the type and name of an entity, and what is added to it."""


@pytest.fixture
@needing(Capability.REQUESTS, Capability.CHANGE)
def creations_under_way(kmigrate_run: "Run") -> Callable[..., AbstractContextManager[Mapping[str, str]]]:
    """Topics are created while a block runs: ``with``, and the names of brokers; ``as`` their answers.

    One after the other through each of these brokers; some are answered before the block begins, and some after what
    it does. Answers are Kafka's names of errors, by topic.
    """
    from pytest_kmigrate.workloads.metadata.creating import creating

    return lambda *nodes: creating({node: kmigrate_run.cluster.peer(node) for node in nodes})


@pytest.fixture
def isr_recorded(log_of: Callable[[str], list[Mapping[str, Any]]], leader: Callable[[], str]) -> Callable[..., Any]:
    """``isr_recorded("pinned")``: the ISRs that the log of the leader gives to a topic's partition 0, in turn."""
    from pytest_kmigrate.documents.kip_500.log import isrs_of

    return lambda topic: isrs_of(log_of(leader()), topic, 0)


@pytest.fixture
@needing(Capability.REQUESTS)
def leads(kmigrate_run: "Run") -> Callable[[str], list[str]]:
    """``leads("broker-2")``: the partitions of any topic that broker 0 lists this one as the leader of."""
    from pytest_kmigrate.wire.admin import describe_topic_at
    from pytest_kmigrate.wire.describing import all_topics_at

    def led(name: str) -> list[str]:
        number, peer = kmigrate_run.cluster.node(name).spec.node_id, kmigrate_run.cluster.peer("broker-0")
        described = {topic: describe_topic_at(peer, topic).partitions for topic in sorted(all_topics_at(peer))}
        return [
            f"{topic}-{at}" for topic, those in described.items() for at, one in those.items() if one.leader == number
        ]

    return led


@pytest.fixture
def registrations(
    kmigrate_run: "Run", log_of: Callable[[str], list[Mapping[str, Any]]], leader: Callable[[], str]
) -> Callable[[str], list[bool]]:
    """``registrations("broker-2")``: of each registration of this broker in the log, whether it was fenced by it."""
    from pytest_kmigrate.documents.kip_500.log import fenced_as_registered

    return lambda name: fenced_as_registered(log_of(leader()), kmigrate_run.cluster.node(name).spec.node_id)


@pytest.fixture
@needing(Capability.METRICS)
def received_by_controllers(kmigrate_run: "Run") -> Callable[[str], int]:
    """``received_by_controllers("AlterPartition")``: how many such requests the live controllers have received."""
    from pytest_kmigrate.model.topology import Role

    def count(request: str) -> int:
        live = [node.name for node in kmigrate_run.cluster.nodes(Role.CONTROLLER) if node.alive]
        received = [kmigrate_run.cluster.requests_received(name) for name in live]
        return sum(count for each in received for (name, _), count in each.items() if name == request)

    return count


@pytest.fixture
@needing(Capability.METRICS)
def states(
    kmigrate_run: "Run", fenced_count: Callable[[], float | None]
) -> Callable[[], tuple[dict[str, float | None], float | None]]:
    """``states()``: by broker its metric BrokerState (3 is running), and how many the active controller has fenced."""
    from pytest_kmigrate.model.topology import Role

    names = [node.name for node in kmigrate_run.cluster.nodes(Role.BROKER)]
    return lambda: ({name: kmigrate_run.view.metric(name, "BrokerState") for name in names}, fenced_count())


@pytest.fixture
def given_while_starting(
    kmigrate_run: "Run", log_of: Callable[[str], list[Mapping[str, Any]]], leader: Callable[[], str]
) -> Callable[[str], list[str]]:
    """``given_while_starting("broker-2")``: the partitions that it got while its registration was fenced."""
    from pytest_kmigrate.documents.kip_500.log import given_while_fenced

    return lambda name: given_while_fenced(log_of(leader()), kmigrate_run.cluster.node(name).spec.node_id)


@pytest.fixture
def refused_ways(tool: "Callable[..., ToolRan]") -> Callable[[], list[str]]:
    """``refused_ways()``: the operations of ``WAYS`` that kafka-configs does not carry out through broker 0."""

    def status(kind: str, name: str, added: str) -> int:
        entity = ("--entity-type", kind, "--entity-name", name)
        asked = ("--bootstrap-server", "{bootstrap}", "--alter", *entity, "--add-config", added)
        return tool("broker-0", "kafka-configs", *asked).status

    return lambda: [way for way, words in WAYS.items() if status(*words) != 0]


@pytest.fixture
@needing(Capability.REQUESTS)
def ways_of_metadata(kmigrate_run: "Run") -> Callable[[str], dict[str, str]]:
    """``ways_of_metadata("by-tool")``: by request, what broker 0 answers to an election and a reassignment."""
    from pytest_kmigrate.wire.admin import reassign
    from pytest_kmigrate.wire.rare_admin import elect_leader_at

    def answers(topic: str) -> dict[str, str]:
        peer = kmigrate_run.cluster.peer("broker-0")
        return {
            "ElectLeaders": elect_leader_at(peer, topic, 0),
            "AlterPartitionReassignments": reassign(peer, {(topic, 0): [0, 1, 2]})[topic, 0],
        }

    return answers


@pytest.fixture
@needing(Capability.REQUESTS, Capability.CHANGE)
def hold_partitions(kmigrate_run: "Run", leader: Callable[[], str]) -> Callable[..., None]:
    """``hold_partitions("many", thousands=20, brokers=(10, 11))`` creates topics of 1,000 partitions on them."""
    from pytest_kmigrate.model.errors import ClusterError
    from pytest_kmigrate.wire.rare_admin import create_placed_topic_at

    def create(name: str, *, thousands: int, brokers: tuple[int, ...]) -> None:
        peer = kmigrate_run.cluster.peer(leader())
        for number in range(thousands):
            if (error := create_placed_topic_at(peer, f"{name}-{number}", 1000, brokers)) != "NONE":
                raise ClusterError(f"{name}-{number}: expected it to be created; got {error}")

    return create


@pytest.fixture
def seconds_to_serve(controller_serves: Callable[[str], bool]) -> Callable[[str], float]:
    """``seconds_to_serve("again")``: how long it takes until a topic can be created; a minute if it cannot."""
    from time import monotonic

    def taken(topic: str) -> float:
        began = monotonic()
        controller_serves(topic)
        return monotonic() - began

    return taken


@pytest.fixture
@needing(Capability.REQUESTS)
def topics_listed(kmigrate_run: "Run") -> Callable[[], int]:
    """``topics_listed()``: how many topics broker 0 lists to clients."""
    from pytest_kmigrate.wire.describing import all_topics_at

    return lambda: len(all_topics_at(kmigrate_run.cluster.peer("broker-0")))


@pytest.fixture
@needing(Capability.METRICS)
def topics_counted(kmigrate_run: "Run") -> Callable[[], dict[str, float | None]]:
    """``topics_counted()``: by controller, how many topics the metadata have that it holds in memory."""
    from pytest_kmigrate.model.topology import Role

    names = [node.name for node in kmigrate_run.cluster.nodes(Role.CONTROLLER)]
    return lambda: {name: kmigrate_run.view.metric(name, "GlobalTopicCount") for name in names}


@pytest.fixture
def snapshots_since(kmigrate_run: "Run", snapshots_of: Callable[[str], Sequence[str]]) -> Callable[[], Any]:
    """``snapshots_since()`` returns a function: the controllers that have written no snapshot since then."""
    from pytest_kmigrate.model.topology import Role

    names = [node.name for node in kmigrate_run.cluster.nodes(Role.CONTROLLER)]

    def begun() -> Callable[[], list[str]]:
        before = {name: set(snapshots_of(name)) for name in names}
        return lambda: [name for name in names if set(snapshots_of(name)) <= before[name]]

    return begun


@pytest.fixture
@needing(Capability.METRICS)
def snapshots_loaded(kmigrate_run: "Run") -> Callable[[], dict[str, float]]:
    """``snapshots_loaded()``: by controller and broker, how many snapshots its process has loaded."""

    def loaded() -> dict[str, float]:
        names = [node.name for node in kmigrate_run.cluster.nodes()]
        return {name: kmigrate_run.view.metric(name, "HandleLoadSnapshotCount") or 0 for name in names}

    return loaded


@pytest.fixture
@needing(Capability.METRICS)
def under_replicated(kmigrate_run: "Run", leader: Callable[[], str]) -> Callable[[str], float | None]:
    """``under_replicated("broker-0")``: how many partitions that it leads it counts as under-replicated.

    None while it has not applied what the quorum had committed before: until then it counts by an older ISR.
    """

    def counted(node: str) -> float | None:
        committed = kmigrate_run.view.metric(leader(), "LastCommittedRecordOffset")
        applied = kmigrate_run.view.metric(node, "BrokerLastAppliedRecordOffset")
        if committed is None or applied is None or applied < committed:
            return None
        return kmigrate_run.view.metric(node, "UnderReplicatedPartitions")

    return counted


@pytest.fixture
@needing(Capability.REQUESTS)
def protocols_taken(kmigrate_run: "Run") -> Callable[[], dict[str, set[str]]]:
    """``protocols_taken()``: by each port of each node that Kafka listens on, of plain text and TLS what it answers."""
    from pytest_kmigrate.model.errors import ClusterError
    from pytest_kmigrate.model.peer import Peer
    from pytest_kmigrate.wire.request import api_versions

    trust = kmigrate_run.cluster.client_connection()["ssl.ca.location"]

    def is_taken(address: str, protocol: str) -> bool:
        try:
            api_versions(Peer(address, {"security.protocol": protocol, "ssl.ca.location": trust}), within_s=10)
        except ClusterError:
            return False
        return True

    def taken() -> dict[str, set[str]]:
        ports = {
            f"{node.name}:{listener.rpartition(':')[2]}": kmigrate_run.cluster.peer(node.name).address
            for node in kmigrate_run.cluster.nodes()
            for listener in node.properties["listeners"].split(",")
        }
        at = {name: f"{address.rpartition(':')[0]}:{name.rpartition(':')[2]}" for name, address in ports.items()}
        return {name: {each for each in ("PLAINTEXT", "SSL") if is_taken(at[name], each)} for name in ports}

    return taken


@pytest.fixture
@needing(Capability.REQUESTS, Capability.CHANGE)
def user_made(kmigrate_run: "Run") -> Callable[[str], Mapping[str, str]]:
    """``user_made("somebody")``: a user without any rights; the login that brokers take once they know of it."""
    from pytest_kmigrate.model.errors import ClusterError
    from pytest_kmigrate.model.peer import Peer
    from pytest_kmigrate.model.topology import Role
    from pytest_kmigrate.waiting import PATIENCE_S, until
    from pytest_kmigrate.wire.admin import cluster_at
    from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange
    from pytest_kmigrate.workloads.metadata.metadata_invocation import MetadataAdmin

    def is_let_in(peer: Peer) -> bool:
        try:
            return bool(cluster_at(peer))
        except ClusterError:
            return False

    def made(user: str) -> Mapping[str, str]:
        connection = kmigrate_run.cluster.client_connection()
        change = MetadataChange("set-scram", f"{user}:SCRAM-SHA-512", {"iterations": 4096})
        MetadataAdmin(connection).invoke(change)
        login = {**connection, "sasl.username": user, "sasl.password": f"password of {user}"}
        brokers = [kmigrate_run.cluster.peer(node.name).address for node in kmigrate_run.cluster.nodes(Role.BROKER)]
        until(
            lambda: all(is_let_in(Peer(each, login)) for each in brokers),
            awaited=f"user {user} at every broker",
            within_s=PATIENCE_S,
        )
        return login

    return made


@pytest.fixture
@needing(Capability.REQUESTS, Capability.CHANGE)
def creation_as(kmigrate_run: "Run") -> Callable[[Mapping[str, str], str], str]:
    """``creation_as(login, "broker-0")``: the error of a creation of topic ``broker-0`` that this broker forwards."""
    from pytest_kmigrate.model.peer import Peer
    from pytest_kmigrate.wire.admin import create_topics_at

    return lambda login, node: create_topics_at(
        Peer(kmigrate_run.cluster.peer(node).address, login), [node], partitions=1, replication=1
    )[node]
