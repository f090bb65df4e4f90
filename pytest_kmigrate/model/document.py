"""A document one can certify against: what a folder in ``documents/`` declares, and others use by this one name."""

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_kmigrate.model.capabilities import Needs
from pytest_kmigrate.model.checks import AnyChecker, Check
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.peer import Znodes, ZookeeperTls
from pytest_kmigrate.model.protocols import Cluster, CrashPoint, Reading, Scene
from pytest_kmigrate.model.spelling import did_you_mean
from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.model.verdict import Verdict


@dataclass(frozen=True)
class Window:
    """A time in which a known bug was at work, in nanoseconds since the run began."""

    from_ns: int
    to_ns: int


@dataclass(frozen=True)
class Diagnosis:
    """A known bug, and how it is recognized behind one violation of a verdict.

    ``explains(history, verdict)`` is asked about each violation by itself: the verdict is about this one only. It
    looks for the bug's own evidence (a state, metric, request or znode that this bug leaves and no other does); a
    symptom that several defects share is none. ``windows`` are when the bug was at work: what was made or seen at
    another time has another cause. None: the evidence is of the violation itself.
    """

    bug_id: str
    explains: Callable[[History, Verdict], bool]
    windows: Callable[[History], Sequence[Window]] | None = None


def diagnosis(
    bug_id: str, windows: Callable[[History], Sequence[Window]] | None = None
) -> Callable[[Callable[[History, Verdict], bool]], Diagnosis]:
    """Declare a function to be the diagnosis of a known bug; its docstring names the evidence."""

    def declared(explains: Callable[[History, Verdict], bool]) -> Diagnosis:
        return Diagnosis(bug_id, explains, windows)

    return declared


class Move(Protocol):
    """The smallest thing an operator does; returns when it has taken effect."""

    @property
    def needs(self) -> Needs:
        """What the provider must be able to do."""
        ...

    def make(self, scene: Scene) -> None:
        """Carry it out."""
        ...


@dataclass(frozen=True)
class Step:
    """One step of a procedure: its moves, in order, and what must be true when it is done."""

    name: str
    moves: Callable[[Cluster], list[Move]]
    reaches: tuple[str, str]
    """A state of the document, and its value then: ``("phase", "HYBRID")``."""
    requirements: tuple[str, ...] = ()
    """The requirements that are violated if the cluster does not come to its end, while no fault is in force."""


class Driver(Protocol):
    """Walks a document's procedure in one cluster."""

    def advance_to(self, value: str | enum.Enum) -> None:
        """Take every step up to the one that reaches ``value``, and wait until it is reached."""
        ...

    def begin(self, step: Step, moves: int) -> None:
        """Take only the first ``moves`` moves of the next step; ``advance_to`` later takes the rest."""
        ...

    def resume_at(self, value: str) -> None:
        """Take up where another driver had come to ``value``, and wait until the cluster is there again."""
        ...

    def await_new_active_controller(self, within_s: float = ...) -> str:
        """Return the node that took over since the last fault began."""
        ...


def name_of(value: str | enum.Enum) -> str:
    """A state's value as it is recorded: a member of an enumeration by its name."""
    return value.name if isinstance(value, enum.Enum) else value


@dataclass(frozen=True)
class ClusterReader:
    """What a document reads the states of a live cluster by, past the links."""

    cluster: Cluster
    znodes: Znodes | None
    """None: the cluster has no ZooKeeper, or the provider leads to none."""
    last: Callable[[str], str | None]
    """The value last read of a state; None before the first."""


@dataclass(frozen=True)
class State:
    """Where a cluster stands by a document, as one name; its changes are events of a run.

    ``phase`` is the state that a procedure walks along, if it has one: reports place faults by it. ``read`` returns
    None when nothing can be read.
    """

    name: str
    read: Callable[[ClusterReader], Reading | None]
    values: Sequence[str] = ()
    """Its values in order, by which timelines colour them alike in every run; none: in the order of each run."""


@dataclass(frozen=True)
class Rehearsal:
    """How a command under test kept the contract of members in a small script."""

    lines: Sequence[tuple[str, str, int]]
    """Name of each line, what is judged by it, and how often it was printed."""
    problems: Sequence[str]
    """What must be repaired, one sentence each."""


@dataclass(frozen=True)
class MembersUnderTest:
    """The members of groups that a document is about: commands that keep the contract of ``workloads/members``."""

    command: Sequence[str]
    """Runs a member of any other kind; the reference implementation."""
    others: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Kinds that another command runs, and this."""
    kinds: frozenset[str] = frozenset()
    """The kinds that the command of ``--kmigrate-member`` runs in its place."""
    script: Callable[[Scene, Any, Any], Rehearsal] | None = None
    """Runs such a command by a small script, given a scene, the run's members and its traffic."""
    topology: str = ""
    """What the script runs in."""


@dataclass(frozen=True)
class GroupReport:
    """A consumer group as two systems of coordination have it."""

    group: str
    mode: str
    """What the operator wrote, as shown."""
    followed: str
    """The system that decides."""
    members: Sequence[tuple[str, str]]
    """Member and kind."""
    partitions: Sequence[tuple[str, ...]]
    """Partition, owner, the offset in both stores and the end of its log."""
    findings: Sequence[str] = ()
    """What an operator should know, one sentence each."""


@dataclass(frozen=True)
class Servers:
    """How an operator reaches the servers of a group."""

    zookeeper: str
    """Its servers, and the chroot."""
    bootstrap: str | None = None
    """Kafka's brokers; None: those that ZooKeeper has."""
    client: Mapping[str, str] = field(default_factory=dict)
    """Further settings of a Kafka client, such as those of TLS and SASL."""
    tls: ZookeeperTls | None = None
    login: str | None = None
    """Of ZooKeeper's scheme ``digest``: user and password, with a colon between them."""


class GroupOperator(Protocol):
    """What an operator does with a consumer group of a document; WrongUseError for what the document forbids."""

    def status(self, group: str, servers: Servers) -> GroupReport:
        """Look at it."""
        ...

    def toggle(self, group: str, mode: str, servers: Servers) -> GroupReport:
        """Write its mode, and look at it."""
        ...


def check_state(name: str, known: Sequence[str]) -> None:
    """WrongUseError when a document, which has these states, has none of this name."""
    if name not in known:
        if not known:
            raise WrongUseError(f"state: expected none, as the document has no states; got {name!r}")
        raise WrongUseError(
            f"state: expected one of {', '.join(known)}; got {name!r}{did_you_mean(name, known, '; take one of these')}"
        )


@dataclass(frozen=True)
class Watching:
    """What is looked at while an operator walks a procedure himself, and what is judged of it besides every run."""

    sides: Mapping[str, Sequence[str]]
    """Where the metadata are the same, by value of ``phase``: ``log``, ``zookeeper``, ``brokers``."""
    checks: Callable[[str, Sequence[Sequence[str]]], Sequence[Check]]
    """Given are the value it was to come to, and the labels of images of the sides, each time taken together."""


@dataclass(frozen=True)
class Document:
    """One document; its requirements and known bugs are data in its folder (``requirements.toml``, ...)."""

    id: str
    """The profile's name, such as ``kip-866``."""
    title: str
    checks: tuple[AnyChecker, ...] = ()
    """Its own checkers, and general ones that it binds to its requirements by ``speaking``."""
    diagnoses: tuple[Diagnosis, ...] = ()
    replaced_by: str = ""
    """The profile of a later text, which Kafka follows; empty: this one is in force."""
    judges_runs_of: Sequence[str] = ()
    """The profiles whose runs are evidence for this document, too: its own checks judge them again."""
    states: Sequence[State] = ()
    in_charge: Callable[[ClusterReader], str | None] | None = None
    """The node in charge of the cluster; None: the quorum's leader."""
    watched_znodes: Sequence[str] = ()
    """Paths whose every change is evidence; ``/*`` at the end: with the names of their children."""
    metrics: Sequence[str] = ()
    """Metrics of the catalogue that are sampled from every broker and controller, unless the topology chooses."""
    procedure: Sequence[Step] = ()
    """The steps forward, each from where the one before has ended."""
    driver: Callable[[Scene], Driver] | None = None
    """Walks the procedure; None: the general driver, which knows the way forward only."""
    begins_in: str = ""
    """The value of ``phase`` before the first step."""
    revert: Callable[[Any], None] | None = None
    """Goes back there with the document's own driver; None: no way leads back."""
    starts: Mapping[str, str | None] = field(default_factory=dict)
    """The values of ``phase`` that a test may begin in, each with the one from whose checkpoint it is reached.

    None: from scratch.
    """
    dies_by_design: Sequence[str] = ()
    """What a node says last that ends itself as the document means it to, if a fault keeps it from its task."""
    crash_points: Mapping[CrashPoint, Role] = field(default_factory=dict)
    """Places in Kafka's code that schedules name, and the role of the nodes that come there."""
    acts: Sequence[str] = ()
    """What an operator does that schedules name, in place of faults."""
    is_settled: Callable[[ClusterReader], bool] | None = None
    """Whether nodes in such a value have nothing outstanding that they do in the background; None: they never have."""
    check_topology: Callable[[Topology, str], None] | None = None
    """Raises WrongUseError for a topology on which the procedure cannot come to this value of a state."""
    unfilled: Callable[[Topology], frozenset[str]] = lambda _: frozenset()
    """Families of metadata that the procedure cannot take along there: put in only where a test names them.

    A metadata workload leaves out the families of these names, too.
    """
    members: MembersUnderTest | None = None
    """The members that the document is about; None: it is about no groups."""
    operator: GroupOperator | None = None
    """What the command ``kmigrate consumers`` does; None: the document is about no groups."""
    watching: Watching | None = None
    """How a procedure is watched that an operator walks himself; None: it cannot be."""
    walked_by: Sequence[str] = ()
    """Fixtures by which tests walk the procedure: their topologies are checked before any cluster is started."""
    walking_needs: Needs = frozenset()
    """What the provider must be able to do for the procedure to be walked: what its moves need."""
