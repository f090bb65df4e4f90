"""A History: all that is known of one run, read back from its folder. Checkers see nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

from pytest_kmigrate.model.capabilities import with_implied
from pytest_kmigrate.model.circumstances import Circumstances, circumstances_in
from pytest_kmigrate.model.event import A, B, C, Event, EventData, EventKind, Recorded, is_a
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.model.events.steps import StateChanged
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.operations import Operations, no_operations

SCHEDULE = "schedule"
"""The key of a header's ``extra`` that holds what the run carried out."""

NIGHT = "night"
"""The key of a header's ``extra`` that holds which line of which night that was."""

MUTANT = "mutant"
"""The key that holds which changed class was planted: its ``id``, ``class_name`` and ``sha256``; null: none."""
EXERCISE = "exercise"
"""The key that holds the patterns of classes of which was recorded what is executed; null if nothing was."""


@dataclass(frozen=True)
class Executed:
    """Code of one class that a node had executed by ``at_ns``, and not in what it reported of the class before.

    A probe is a place in a class file that JaCoCo watches, by its number from 0; a class file is known by JaCoCo's sum
    of it, as two releases number the places of a class differently.
    """

    at_ns: int
    node: str
    class_name: str
    """Its full name, with ``$`` before that of a nested class."""
    class_id: str
    """Sum of the class file: 16 hexadecimal digits."""
    probes: int
    """How many places the class file has."""
    executed: tuple[int, ...]
    """Those that were executed."""


@dataclass(frozen=True)
class Sample:
    """One node's metrics at one moment; metric names as given to the probe, values numbers (None: not exposed)."""

    at_ns: int
    node: str
    values: Mapping[str, float | None]
    number: int = field(default=-1, compare=False)
    """Which of the node's samples it is, from 0; -1: not numbered, as in folders of version 0.1."""


@dataclass(frozen=True)
class ZnodeChange:
    """What a path held from ``at_ns`` on; ``data`` None: it is not there; ``version``, ``mzxid`` as ZooKeeper says.

    ``is_ephemeral``: it goes with its session; None when it is not there, and in folders of before that was asked.
    """

    at_ns: int
    path: str
    data: str | None
    version: int = -1
    mzxid: int = -1
    children: tuple[str, ...] = ()
    is_ephemeral: bool | None = None
    number: int = field(default=-1, compare=False)
    """Which of the run's changes it is, from 0; -1: not numbered, as in older folders."""


@dataclass(frozen=True)
class Write:
    """One operation on one znode: ``create``, ``delete``, ``set-data``, ``set-acl`` or ``check``.

    A ``check`` writes nothing: it is a condition of the other operations of its transaction.
    """

    operation: str
    path: str
    data: str | None = None
    """What was written as text, without secrets; None for operations without data."""
    version: int | None = None
    """Version of the znode that resulted, or that a check required; None: not logged."""
    is_ephemeral: bool = False


@dataclass(frozen=True)
class Transaction:
    """One transaction as a ZooKeeper server logged it; its operations took effect together."""

    at_ns: int
    """When the leader of the ensemble took it; to the millisecond."""
    zxid: int
    session: int
    writes: tuple[Write, ...] = ()
    """Empty for sessions that begin or end, and for what was refused."""
    is_multi: bool = False
    """Whether the client sent its operations as one transaction, though it be only one."""
    error: int = 0
    """ZooKeeper's code of the error it was refused with; 0: it took effect."""

    @cached_property
    def changes(self) -> tuple[Write, ...]:
        """What it wrote, without its conditions."""
        return tuple(each for each in self.writes if each.operation != "check")


@dataclass(frozen=True)
class Batch:
    """One batch of the metadata log as it lies on a node's disk: enough to compare nodes by."""

    first: int
    last: int
    """Offsets of its first and last record."""
    epoch: int
    """The epoch of the leader that appended it."""
    digest: int
    """Kafka's checksum of all that the batch holds."""
    leader: int | None = None
    """The controller that the batch makes known as the leader of its epoch; None: it holds something else."""
    announced: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    """Its records {offset, type, version, data} of registrations of brokers, and of levels of features.

    A first batch that is not the log's first has those of the snapshot before it, too.
    """

    def as_row(self) -> list[int | None]:
        """What a run folder has of each batch."""
        return [self.first, self.last, self.epoch, self.digest, self.leader]


@dataclass(frozen=True)
class ClientMetadata:
    """What one broker answered to a client that asked for all metadata; ``at_ns``: when the answer was there."""

    at_ns: int
    node: str
    controller: int
    """The id that it gives as the controller's; -1: none."""
    brokers: tuple[int, ...]
    """Ids of the brokers that it lists, sorted."""
    topics: Mapping[str, str]
    """By name, the topic's id and its partitions as text; equal texts stand for equal metadata."""


@dataclass(frozen=True)
class RunHeader:
    """What ``run.json`` says, written before anything was provisioned."""

    run_id: str
    test_id: str
    seed: int
    kafka: str
    topology: str
    provider: str = "process"
    profile: str = "kip-866"
    requirements: tuple[str, ...] = ()
    started_at: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)

    @cached_property
    def circumstances(self) -> Circumstances:
        """What ``extra`` says, with types."""
        return circumstances_in(self.extra)

    @property
    def schedule(self) -> Mapping[str, Any] | None:
        """The schedule that the run carried out, as data; None for any other test."""
        return self.circumstances.schedule

    @property
    def has_mutant(self) -> bool:
        """Whether a defect was planted in Kafka, by Byteman rules or as a changed class."""
        return bool(self.circumstances.byteman or self.circumstances.mutant)

    @property
    def release(self) -> str:
        """The version that the jars under test name, as nodes record it: ``kafka`` without the name of a build."""
        return self.kafka.rpartition("+")[0] or self.kafka

    @property
    def inherited_offset(self) -> int:
        """The last offset of the metadata log that was there when the run began; -1: it began from scratch.

        The run began from a checkpoint, or on the cluster of an earlier run of its scene. What the log holds up to
        there is the evidence of one migration, whichever runs began from its copies or after it.
        """
        return self._inherited("log_offset")

    @property
    def inherited_zxid(self) -> int:
        """ZooKeeper's last transaction when the run began; -1: it began from scratch, or without ZooKeeper."""
        return self._inherited("zxid")

    @property
    def offered(self) -> frozenset[str] | None:
        """The capabilities of the run's provider; None: the folder is older than the table of them."""
        offered = self.circumstances.capabilities
        return with_implied(offered) if offered is not None else None

    @property
    def evidence(self) -> int:
        """Which kind of evidence it has, as the recorder of its release numbers them; 0: an older folder."""
        return self.circumstances.evidence

    @property
    def digests(self) -> Mapping[str, str] | None:
        """The digest of each Kafka, by the version or path that the topology has; None: the folder names none."""
        return self.circumstances.distribution_digests

    @property
    def images(self) -> Mapping[str, str]:
        """The id of the container image of each Kafka that comes in one, by the name that the topology has."""
        return self.circumstances.images or {}

    def _inherited(self, key: str) -> int:
        begun = (self.circumstances.checkpoint, self.circumstances.scene)
        return max((int(str(each.get(key, -1))) for each in begun if each is not None), default=-1)


@dataclass(frozen=True)
class History:
    """One run: header, events, client operations, metrics, znodes, answers to clients and metadata images by label."""

    header: RunHeader
    events: Sequence[Event] = ()
    operations: Operations = field(default_factory=no_operations)
    samples: Sequence[Sample] = ()
    znodes: Sequence[ZnodeChange] = ()
    images: Mapping[str, MetadataImage] = field(default_factory=dict)
    client_metadata: Sequence[ClientMetadata] = ()
    """Answers of brokers to clients; those of one broker in the order of time."""
    transactions: Sequence[Transaction] = ()
    """What ZooKeeper logged since the run began, by zxid, without what the harness itself wrote."""
    logs: Mapping[str, str] = field(default_factory=dict)
    """What each node logged in all its lives, by its name; read from the folder when it is looked up."""
    death: Recorded[HarnessTrouble] | None = None
    """From when on evidence may be missing, as the harness died before the run had its end; None if it did not."""
    dies_by_design: Sequence[str] = ()
    """What a node says last that ends itself as the run's document means it to; ``Document`` has it."""

    @cached_property
    def end_ns(self) -> int:
        """When the evidence ends. The end of the run is no part of it: it is recorded after the run was judged."""
        return max((event.at_ns for event in self.events if event.kind is not EventKind.RUN_ENDED), default=0)

    @overload
    def of(self, kind: type[A], /) -> list[Recorded[A]]: ...
    @overload
    def of(self, kind: type[A], or_kind: type[B], /) -> list[Recorded[A | B]]: ...
    @overload
    def of(self, kind: type[A], or_kind: type[B], third: type[C], /) -> list[Recorded[A | B | C]]: ...
    @overload
    def of(self, *kinds: EventKind) -> list[Event]: ...
    def of(self, *kinds: EventKind | type[EventData]) -> list[Any]:
        """The events of these classes, whose fields are then known, or of these kinds, in order."""
        return list(_of(self, *kinds))

    def states(self, name: str) -> list[Recorded[StateChanged]]:
        """The changes of one state of the document (its name, such as ``phase``), in order."""
        return [event for event in self.of(StateChanged) if event.what.of == name]


@kept
def _of(history: History, *kinds: EventKind | type[EventData]) -> tuple[Event, ...]:
    found: dict[int, Event] = {}
    for each in kinds:
        own = _by_kind(history).get(each if isinstance(each, EventKind) else each.event_kind, {})
        fitting = own if isinstance(each, EventKind) else {at: one for at, one in own.items() if is_a(one, each)}
        found = {**found, **fitting} if found else dict(fitting)
    return tuple(found[at] for at in (sorted(found) if len(kinds) > 1 else found))


@kept
def _by_kind(history: History) -> dict[EventKind, dict[int, Event]]:
    """The events of each kind by their places: a run is asked for those of one kind or another a thousand times."""
    found: dict[EventKind, dict[int, Event]] = {}
    for at, event in enumerate(history.events):
        found.setdefault(event.kind, {})[at] = event
    return found
