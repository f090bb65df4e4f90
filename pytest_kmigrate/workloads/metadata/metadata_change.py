"""Changes of metadata as values, and endless seeded streams of them: what to try, with no I/O."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

FIRST_ROUND: Mapping[str, Sequence[str]] = {
    "topics": ("create-topic", "add-partitions", "create-topic", "delete-topic"),
    "configs": ("alter-config",),
    "acls": ("set-acl",),
    "quotas": ("set-quota",),
    "scram": ("set-scram",),
}
"""What the first round of a stream is made of, by family; every later round has as many changes of each."""

NAME = "metadata"
"""The name of a stream of changes, as events have it."""

MOST_TOPICS = 20
MOST_PARTITIONS = 12
MOST_ACLS = 20

TOPIC_CONFIGS = ("retention.ms", "retention.bytes", "max.message.bytes", "segment.bytes")
BROKER_CONFIGS = ("log.retention.ms", "log.retention.bytes", "log.segment.bytes")
"""Harmless ones: large values of these change nothing that the clients could notice."""

USERS = ("alice", "bob", "CN=al ice,O=x")
QUOTAS = ("producer_byte_rate", "consumer_byte_rate", "request_percentage")
MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
OPERATIONS = ("Read", "Write", "Describe", "Alter")

_OPPOSITES = {
    "create-topic": "delete-topic",
    "set-acl": "remove-acl",
    "set-scram": "remove-scram",
    "create-token": "remove-token",
}


@dataclass(frozen=True)
class MetadataChange:
    """One change: what, of which subject, and what shall be so afterwards (the forms of EventKind.METADATA_CHANGE).

    ====================  ==================================================  ====================================
    change                subject                                             wanted
    ====================  ==================================================  ====================================
    create-topic          name                                                partitions, replication
    delete-topic          name
    add-partitions        name                                                partitions: the new total
    alter-config          "topic:t", "broker:1", "broker:<default>"           config: value, None to unset
    set-acl, remove-acl   "Topic:LITERAL:name"                                binding: "User:a|*|Read|Allow"
    set-quota             "user=a,client-id=b", "user=<default>", "ip=..."    quota: number, None to unset
    set-scram             "user:SCRAM-SHA-256"                                iterations
    remove-scram          "user:SCRAM-SHA-256"
    create-token          any name; recorded by the id that Kafka gave        owner (None: ourselves), renewers: [user]
    renew-token           the same name                                       for_ms
    remove-token          the same name
    ====================  ==================================================  ====================================
    """

    change: str
    subject: str
    wanted: Mapping[str, object] = field(default_factory=dict)


def topic_created(name: str, partitions: int, replication: int) -> MetadataChange:
    """The creation of a topic."""
    return MetadataChange("create-topic", name, {"partitions": partitions, "replication": replication})


def undoing_of(change: MetadataChange) -> MetadataChange | None:
    """What takes a change back; None for one that takes something back itself, or that goes with something else.

    None also for a token made for somebody else: Kafka lets only its owner take it away.
    """
    if change.change in ("alter-config", "set-quota"):
        return MetadataChange(change.change, change.subject, dict.fromkeys(change.wanted))
    if change.change not in _OPPOSITES or change.wanted.get("owner"):
        return None
    wanted = change.wanted if change.change == "set-acl" else {}
    return MetadataChange(_OPPOSITES[change.change], change.subject, wanted)


@dataclass(frozen=True)
class Scope:
    """What a stream may touch: names beginning with ``prefix``, these brokers, this replication, these families."""

    prefix: str = "changing"
    broker_ids: tuple[int, ...] = ()
    replication: int = 3
    families: tuple[str, ...] = tuple(FIRST_ROUND)

    @property
    def first_round(self) -> tuple[str, ...]:
        """What the first round of its stream is made of."""
        return tuple(change for family in self.families for change in FIRST_ROUND[family])


class _Stream:
    """Remembers what should exist by now, believing that every change was done: failures show as failures later."""

    def __init__(self, rng: Random, scope: Scope) -> None:
        self._rng = rng
        self._scope = scope
        self._count = 0
        self._topics: dict[str, int] = {}
        self._acls: list[MetadataChange] = []
        self._scram: list[str] = []

    def create_topic(self) -> MetadataChange:
        """Another topic, unless there are enough; a name is never used twice, so that nothing old can pass for new."""
        if len(self._topics) >= MOST_TOPICS:
            return self.delete_topic()
        self._count += 1
        name = f"{self._scope.prefix}-{self._count}"
        self._topics[name] = self._rng.randint(1, 4)
        return topic_created(name, self._topics[name], self._scope.replication)

    def add_partitions(self) -> MetadataChange:
        """More partitions of some topic, or a topic when none may grow."""
        growing = [name for name, partitions in self._topics.items() if partitions < MOST_PARTITIONS]
        if not growing:
            return self.create_topic()
        name = self._rng.choice(growing)
        self._topics[name] += self._rng.randint(1, 3)
        return MetadataChange("add-partitions", name, {"partitions": self._topics[name]})

    def delete_topic(self) -> MetadataChange:
        """One topic less; there must be one."""
        name = self._rng.choice(list(self._topics))
        del self._topics[name]
        return MetadataChange("delete-topic", name)

    def configs(self) -> MetadataChange:
        """Set or unset a config of a topic, a broker or all brokers."""
        topics = [f"topic:{name}" for name in self._topics]
        brokers = [f"broker:{number}" for number in self._scope.broker_ids]
        subject = self._rng.choice([*topics, *brokers, "broker:<default>"])
        key = self._rng.choice(TOPIC_CONFIGS if subject.startswith("topic:") else BROKER_CONFIGS)
        value = None if self._rng.random() < 0.25 else str(self._rng.randrange(500_000_000, 1_000_000_000))
        return MetadataChange("alter-config", subject, {key: value})

    def acls(self) -> MetadataChange:
        """Allow a user something, or take it back."""
        if self._acls and (len(self._acls) >= MOST_ACLS or self._rng.random() < 0.35):
            given = self._acls.pop(self._rng.randrange(len(self._acls)))
            return MetadataChange("remove-acl", given.subject, given.wanted)
        pattern = self._rng.choice(("LITERAL", "PREFIXED"))
        self._count += 1
        user, operation = self._rng.choice(USERS), self._rng.choice(OPERATIONS)
        subject = f"Topic:{pattern}:{self._scope.prefix}-acl-{self._count}"
        self._acls.append(MetadataChange("set-acl", subject, {"binding": f"User:{user}|*|{operation}|Allow"}))
        return self._acls[-1]

    def quotas(self) -> MetadataChange:
        """Set or unset a quota of a user, a client id, both, or a default."""
        user = self._rng.choice((*USERS, "<default>"))
        client = self._rng.choice((f"{self._scope.prefix}-client", "<default>"))
        subject = self._rng.choice((f"user={user}", f"client-id={client}", f"user={user},client-id={client}"))
        # Large enough never to slow a client of this run down.
        value = None if self._rng.random() < 0.25 else float(self._rng.randrange(100_000_000, 900_000_000))
        return MetadataChange("set-quota", subject, {self._rng.choice(QUOTAS): value})

    def scram(self) -> MetadataChange:
        """Give a user a credential, another one, or take it away."""
        if self._scram and self._rng.random() < 0.35:
            return MetadataChange("remove-scram", self._scram.pop(self._rng.randrange(len(self._scram))))
        user = f"{self._scope.prefix}-user-{self._rng.randint(1, 9)}"
        subject = f"{user}:{self._rng.choice(MECHANISMS)}"
        if subject not in self._scram:
            self._scram.append(subject)
        return MetadataChange("set-scram", subject, {"iterations": self._rng.randrange(4096, 8192)})


def operations(rng: Random, scope: Scope) -> Iterator[MetadataChange]:
    """An endless stream of changes of the scope's families, the same for the same seed, in shuffled rounds.

    Each round has a change of each of them, and of topics every kind, so that the shortest stream misses none.
    """
    stream = _Stream(rng, scope)
    of_family: dict[str, Sequence[Callable[[], MetadataChange]]] = {
        "topics": (stream.create_topic, stream.add_partitions, stream.create_topic, stream.delete_topic),
        "configs": (stream.configs,),
        "acls": (stream.acls,),
        "quotas": (stream.quotas,),
        "scram": (stream.scram,),
    }
    while True:
        turns = [family for family in scope.families for _ in of_family[family]]
        rng.shuffle(turns)
        # Within a family the order stays: a topic is made before one grows or goes.
        left = {family: iter(ways) for family, ways in of_family.items()}
        for family in turns:
            yield next(left[family])()
