"""A group on its way between two systems of coordination, as tests act on it: members, the mode, and what to await."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from pytest_kmigrate.checkers.evidence.spans import owned_at, spans
from pytest_kmigrate.documents.kip_125.evidence.assignments import assigned_at, assigned_by_kafka, assigned_by_range
from pytest_kmigrate.documents.kip_125.evidence.lives import lives
from pytest_kmigrate.documents.kip_125.evidence.modes import KAFKA, ZOOKEEPER
from pytest_kmigrate.documents.kip_125.kinds import (
    COMMIT_EVERY_S,
    MODE,
    NAME,
    PLAIN,
    SESSION_S,
    TOPIC,
    WITH,
)
from pytest_kmigrate.documents.kip_125.reports import GroupReports, has_formed
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.events.members import GroupDescribed, ZnodeWritten
from pytest_kmigrate.model.history import History, RunHeader
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until
from pytest_kmigrate.workloads.members.member import RunningMember

_TAKING_OVER = (
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
)
"""What brokers answer while a coordinator takes over a group."""
_HEADER = RunHeader("", "", 0, "", "")
"""Of the history so far: what tests await is computed as the checks do."""


class Traffic(Protocol):
    """What the group needs of a run's traffic."""

    def await_acked(self, count: int) -> None:
        """Return when so many more writes are acknowledged."""

    def add_partitions(self, topic: str, total: int) -> None:
        """Let a topic have so many partitions."""

    def stop_sending(self) -> None:
        """Send nothing new."""


class Members(Protocol):
    """What the group needs of a run's members."""

    by_name: dict[str, RunningMember]

    def start(
        self,
        kind: str,
        group: str,
        topics: Mapping[str, int],
        properties: Mapping[str, str],
        *,
        has_listener: bool = False,
    ) -> RunningMember:
        """Start a member."""
        ...


def properties_of(
    kind: str, connection: Mapping[str, str], zookeeper: str, client_id: str, group: str = NAME
) -> dict[str, str]:
    """The settings of a member of a kind: the old consumer's keys, or the new one's for a plain KafkaConsumer."""
    bootstrap, session, commit = (
        connection["bootstrap.servers"],
        str(int(SESSION_S * 1000)),
        str(int(COMMIT_EVERY_S * 1000)),
    )
    new = {"bootstrap.servers": bootstrap, "session.timeout.ms": session, "heartbeat.interval.ms": "1000"}
    if kind in PLAIN:
        return {**new, "group.id": group, "client.id": client_id, "auto.commit.interval.ms": commit}
    old = {
        "zookeeper.connect": zookeeper,
        "zookeeper.session.timeout.ms": session,
        "group.id": group,
        "client.id": client_id,
        "auto.commit.interval.ms": commit,
        "auto.offset.reset": "smallest",
    }
    if kind != WITH:
        return old
    prefixed = {f"coordination.migration.{key}": value for key, value in new.items()}
    migrating = {"coordination.migration.enabled": "true", "offsets.storage": "kafka", "dual.commit.enabled": "true"}
    return {**old, **prefixed, **migrating}


class MigratingGroup(GroupReports):
    """The group ``migrating`` of one run."""

    def __init__(
        self, scene: Scene, members: Members, partitions: int, traffic: Traffic, topics: Sequence[str] = (TOPIC,)
    ) -> None:
        """``flow`` waits for so many more writes to the topics; ``stop_sending`` ends them."""
        self.flow: Callable[[int], None] = traffic.await_acked
        self.stop_sending = traffic.stop_sending
        self._traffic = traffic
        super().__init__(scene, partitions, topics)
        self._topics = topics
        self._members = members
        self._admin: AdminClient | None = None

    def join(
        self, kind: str, count: int = 1, *, streams: int = 1, has_listener: bool = False, **settings: str
    ) -> list[RunningMember]:
        """Start members of a kind and return when they are constructed; ``settings`` have ``_`` for ``.``."""
        started = [self.start(kind, streams=streams, has_listener=has_listener, **settings) for _ in range(count)]
        for each in started:
            each.await_started()
        return started

    def start(self, kind: str, *, streams: int = 1, has_listener: bool = False, **settings: str) -> RunningMember:
        """Start a member of a kind, without waiting for it."""
        cluster = self._scene.cluster
        number = 1 + sum(each.kind == kind for each in self._members.by_name.values())
        chosen = {key.replace("_", "."): value for key, value in settings.items()}
        servers = cluster.zookeeper_reached_by(f"{kind}-{number}")
        known = properties_of(kind, cluster.client_connection(), servers, f"{kind.lower()}-{number}")
        given = {**known, **chosen}
        return self._members.start(kind, NAME, dict.fromkeys(self._topics, streams), given, has_listener=has_listener)

    def start_others(self, count: int) -> list[RunningMember]:
        """Start a member with migration in each of so many other groups, whose topics are not there."""
        cluster = self._scene.cluster
        started = []
        for number in range(count):
            name = f"{NAME}-{number}"
            servers = cluster.zookeeper_reached_by(f"{WITH}-{number + 1}")
            given = properties_of(WITH, cluster.client_connection(), servers, name, name)
            started.append(self._members.start(WITH, name, {f"{TOPIC}-of-{name}": 1}, given))
        return started

    def replace(self, members: Sequence[RunningMember], kind: str) -> None:
        """Replace members by as many of another kind, all at the same time; return when the group owns everything."""
        joined = self.join(kind, len(members))
        self.await_owned(joined)
        for each in members:
            each.ask_to_stop()
        for each in members:
            each.await_ended()
        self.await_owned(joined)

    def alive(self, kind: str | None = None) -> list[RunningMember]:
        """The members that are alive, of one kind or of all."""
        return [each for each in self._members.by_name.values() if each.alive and kind in (None, each.kind)]

    def assigned(self) -> int:
        """How many partitions Kafka's coordinator assigns."""
        return sum(len(each) for each in self.describe().members.values())

    def requests(self, kind: str) -> int:
        """How many requests of a kind, such as ``Fetch``, brokers have received since they were started."""
        counts = [self._scene.cluster.requests_received(each.name) for each in self._scene.cluster.nodes(Role.BROKER)]
        return sum(count for each in counts for (name, _), count in each.items() if name == kind)

    def coordinator(self) -> str:
        """The name of the broker that coordinates the Kafka group."""
        found: Any = self._described().coordinator
        (name,) = [each.name for each in self._scene.cluster.nodes(Role.BROKER) if each.spec.node_id == found.id]
        return name

    def add_partitions(self, total: int) -> None:
        """Let the one topic have so many partitions."""
        self._traffic.add_partitions(TOPIC, total)
        self.partitions = {(TOPIC, number) for number in range(total)}

    def await_owned(self, by: Iterable[RunningMember] = (), within_s: float = PATIENCE_S) -> None:
        """Return when every partition has an owner, and each of these members owns one."""
        names = {each.name for each in by}

        def owned() -> bool | NotYet:
            found = self.owners()
            return (found.keys() >= self.partitions and names <= set(found.values())) or NotYet(found)

        until(owned, awaited="an owner of every partition", within_s=within_s)

    def await_owned_without(self, member: RunningMember, within_s: float = PATIENCE_S) -> None:
        """Return when others report to own every partition; a member that stands still reports nothing."""

        def taken_over() -> bool | NotYet:
            found = self.owners()
            return (found.keys() >= self.partitions and member.name not in found.values()) or NotYet(found)

        until(taken_over, awaited=f"owners other than {member.name}", within_s=within_s)

    def write_mode(self, mode: str | bytes | None) -> None:
        """Write the mode as an operator does; None deletes the node."""
        data = mode.encode() if isinstance(mode, str) else mode
        # A server that was only beginning may have forgotten this client, who waits 10 s for it: members must not be
        # asked to follow what is not written yet.
        self._scene.znodes.get(MODE)
        self.note_mode(data)
        if data is None:
            self._scene.znodes.delete(MODE)
        else:
            self._scene.znodes.set(MODE, data)

    def note_mode(self, data: bytes | None) -> None:
        """Record what the mode node holds from now on, for those that read it; None: it is not there."""
        shown = None if data is None else data[:100].decode("utf-8", "replace")
        self._scene.recorder.record(ZnodeWritten(MODE, shown))

    def toggle(self, mode: str | bytes | None, within_s: float = PATIENCE_S) -> None:
        """Write the mode and return when every member with migration follows, and owns what that system assigns."""
        self.write_mode(mode)
        self.await_followed(KAFKA if mode in (KAFKA, b"kafka") else ZOOKEEPER, within_s)

    def await_followed(self, mode: str, within_s: float = PATIENCE_S) -> None:
        """Return when every member with migration follows this system, and owns what it assigns."""
        self.await_mode(mode, within_s)

        def followed() -> bool | NotYet:
            now_ns = self._scene.recorder.now_ns()
            history = self._history()
            clients = {each.client for each in self.alive()}
            alive = [each for each in lives(history).values() if each.client in clients]
            by_kafka = mode == KAFKA
            wanted = (
                assigned_by_kafka(history, alive, now_ns) if by_kafka else assigned_by_range(history, alive, now_ns)
            )
            owned = {partition: those for partition, those in owned_at(spans(history), now_ns).items() if those}
            if wanted is None or owned.keys() < self.partitions:
                return NotYet(owned)
            return all(owned[partition] == {client} for partition, client in wanted.items()) or NotYet(owned)

        until(followed, awaited=f"owners as {mode} assigns", within_s=within_s)

    def await_mode(self, mode: str, within_s: float = PATIENCE_S) -> None:
        """Return when every live member with migration follows this system."""

        def agreed() -> bool | NotYet:
            modes = self.modes()
            return all(modes.get(each.client) == mode for each in self.alive(WITH)) or NotYet(modes)

        until(agreed, awaited=f"mode {mode} of every member", within_s=within_s, every_s=0.01)

    def describe(self) -> GroupDescribed:
        """Record how the coordinator describes the group."""
        asked_ns = self._scene.recorder.now_ns()
        found = self._described()
        members = {each.client_id: _assigned(each) for each in found.members}
        described = GroupDescribed(NAME, found.state.name, found.partition_assignor, members, asked_ns)
        self._scene.recorder.record(described)
        return described

    def _described(self) -> Any:
        admin = self._admin = self._admin or AdminClient(dict(self._scene.cluster.client_connection()))

        def described() -> Any:
            return answer_of(lambda: admin.describe_consumer_groups([NAME])[NAME].result(PATIENCE_S))

        return until(described, awaited="a coordinator that describes the group", within_s=PATIENCE_S)

    def await_stable(self, count: int, within_s: float = PATIENCE_S) -> GroupDescribed:
        """Return how Kafka's group is described once it is stable with so many of its members, and they know of it."""

        def stable() -> GroupDescribed | NotYet:
            found = self.describe()
            own = [each.consumer_id for each in self._members.by_name.values()]
            is_formed = has_formed(found, count, own)
            return found if is_formed and self._is_known(found) else NotYet(found)

        return until(stable, awaited=f"a stable group of {count}", within_s=within_s, every_s=0.2)

    def _history(self) -> History:
        """What is recorded so far."""
        return History(_HEADER, list(self._scene.recorder.events))

    def _is_known(self, described: GroupDescribed) -> bool:
        """Whether every live member with migration has reported what the coordinator describes as assigned to it."""
        history = self._history()
        now_ns = self._scene.recorder.now_ns()
        mine = [each for each in self.alive(WITH) if each.consumer_id in described.members]
        return all(
            assigned_at(history, each.client, now_ns)
            == {(str(topic), int(str(number))) for topic, number in described.members[each.consumer_id]}
            for each in mine
        )


def answer_of(ask: Callable[[], Any]) -> Any:
    """What a coordinator answers; NotYet while it takes over from one that died; ClusterError for another error."""
    try:
        return ask()
    except KafkaException as error:
        if error.args[0].code() not in _TAKING_OVER:
            raise ClusterError(f"expected a coordinator to describe the group; got {error}") from error
        return NotYet(error)


def _assigned(member: Any) -> Sequence[Sequence[object]]:
    topics = member.assignment.topic_partitions if member.assignment else []
    return sorted([each.topic, each.partition] for each in topics)
