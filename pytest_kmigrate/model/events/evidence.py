"""Events of the run itself: begin and end, stored images, expectations, and the checks that were requested."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_kmigrate.model.event import Ending, EventData, EventKind


@dataclass(frozen=True)
class RunBegan(EventData):
    """The first event of every run."""

    event_kind: ClassVar = EventKind.RUN_BEGAN


@dataclass(frozen=True)
class RunEnded(EventData):
    """The last event of a complete run; a run that was interrupted lacks it."""

    event_kind: ClassVar = EventKind.RUN_ENDED
    test: Ending | None = None
    """``passed``, ``known-bug``, ``not-applicable`` or ``failed``; missing if the end of the test was not observed."""
    outcome: str | None = None
    """Outcome of all verdicts together, for example ``CONFORMS``; missing if ``test`` is."""
    known_bug: str | None = None
    """Id of the known Kafka bug that the test ended by; missing if there was none."""
    seals: Mapping[str, Mapping[str, object]] | None = None
    """By file, the ``sha256`` of all evidence, and its ``lines`` or, of logs, ``bytes``; those before this event."""
    hidden: Sequence[Sequence[object]] | None = None
    """Blocks of logs in which secrets were hidden at the end: node, first byte, end, ``sha256``; missing if none."""


@dataclass(frozen=True)
class StartConditionMade(EventData):
    """A znode was put where the test wants to find it, before the test began."""

    event_kind: ClassVar = EventKind.START_CONDITION
    path: str
    """Path of the znode."""
    data: str | None
    """Its content as text; null for a znode without data."""


@dataclass(frozen=True)
class SnapshotTaken(EventData):
    """A metadata image was stored in the folder."""

    event_kind: ClassVar = EventKind.SNAPSHOT
    label: str
    """Label of the image, for example ``all-kraft-log``."""
    file: str
    """The file, relative to the folder."""
    began_ns: int
    """When taking it began, in nanoseconds since the run began; a change after that may be in it or not."""


@dataclass(frozen=True)
class RaftLogRead(EventData):
    """What a node had of the metadata log when the run ended."""

    event_kind: ClassVar = EventKind.RAFT_LOG
    batches: Sequence[Sequence[int | None]]
    """Each batch: first and last offset, epoch, checksum, and the leader that it makes known, or null."""
    announced: Sequence[Mapping[str, object]] | None = None
    """Its records {offset, type, version, data} of registrations and levels of features; missing in older folders."""


@dataclass(frozen=True)
class ImagesSettled(EventData):
    """Images of several sides were taken again and again until they agreed, or time was up."""

    event_kind: ClassVar = EventKind.SETTLED
    label: str
    """First part of the images' labels."""
    images: Sequence[str]
    """Labels of the images."""
    took_s: float
    """Seconds until they agreed, or until the attempt ended."""


@dataclass(frozen=True)
class ExpectationEnded(EventData):
    """Something a test expected of the live cluster came true, or did not in time."""

    event_kind: ClassVar = EventKind.EXPECTATION
    name: str
    """What was looked at."""
    expected: object
    """The expected value."""
    observed: object
    """The value observed last; an error as text."""
    met: bool
    """Whether it came true."""
    kind: str | None
    """Kind of the violation if it did not: ``SAFETY`` or ``LIVENESS``; null: the test only asked."""
    within_s: float
    """Seconds within which it was expected."""
    took_ms: int
    """Milliseconds until it came true, or until time was up."""
    requirements: Sequence[str] | None = None
    """The requirements it speaks for; missing: all that the test claims."""
    expectation: str | None = None
    """Id by which diagnoses recognize it; missing where none looks for it."""
    places: Mapping[str, str] | None = None
    """By name, what it is about, for example the ``topic``; missing if its words are fixed."""


@dataclass(frozen=True)
class EndExpected(EventData):
    """A test expected nodes to end by themselves, by an error; recorded when the time for it is over."""

    event_kind: ClassVar = EventKind.EXPECTED_END
    nodes: Sequence[str]
    """Names of the nodes."""
    within_s: float
    """Seconds within which their ends were expected."""
    naming: str | None
    """What their last words must name as the reason, for example a property; null: anything."""
    began_ns: int
    """When the time for it began, in nanoseconds since the run began."""
    requirements: Sequence[str] | None = None
    """The requirements it speaks for; missing: all that the test claims."""
    is_optional: bool | None = None
    """True if the nodes may as well stay up, so that nothing is judged by their end; missing otherwise."""


@dataclass(frozen=True)
class FigureMeasured(EventData):
    """Something was measured at a size that it may grow with; the analysis finds the law over many of these."""

    event_kind: ClassVar = EventKind.FIGURE
    measure: str
    """What was measured, for example ``metadata log``."""
    measured: float
    """The number."""
    unit: str
    """Its unit, for example ``B`` or ``s``."""
    size: float
    """How large the thing was that it may grow with."""
    of: str
    """What ``size`` counts, for example ``partitions``."""


@dataclass(frozen=True)
class CapabilityLacking(EventData):
    """A test asked for something that the provider cannot do: the run is NOT_APPLICABLE."""

    event_kind: ClassVar = EventKind.NOT_OFFERED
    what: str
    """What the test asked for."""
    lacking: Sequence[str]
    """Names of the capabilities that the provider lacks."""


@dataclass(frozen=True)
class ChecksRequested(EventData):
    """The test called ``verify``; a run without this event never conforms."""

    event_kind: ClassVar = EventKind.CHECKS
    checks: Sequence[Mapping[str, object]]
    """The checks to judge: each its ``name`` and ``arguments``."""


PartOfHarness = Literal["links", "supervisor", "engine", "clients"]
"""What a run cannot do without: the links' proxies, the owner of all processes, the container engine, the clients."""

READING_BACK = "reading back"
"""The part of the harness that reads every partition to its end when traffic is over."""


@dataclass(frozen=True)
class HarnessTrouble(EventData):
    """A failure of our own, not of Kafka: verdicts that would conform become INCONCLUSIVE."""

    event_kind: ClassVar = EventKind.HARNESS_TROUBLE
    what: str
    """The part that failed."""
    error: str
    """The error as text."""
    of_machine: bool | None = None
    """True if this machine lacked something: what did not happen in time is then not Kafka's; missing otherwise."""
    lost: PartOfHarness | None = None
    """The part that is gone from this moment on: nothing is judged by what was recorded later; missing otherwise."""


@dataclass(frozen=True)
class MachinePressure(EventData):
    """How this machine was used between ``from_ns`` and the event; spans in which it was not busy are left out."""

    event_kind: ClassVar = EventKind.MACHINE_PRESSURE
    from_ns: int
    """When the span began, in nanoseconds since the run began."""
    waiting: float
    """Threads of the whole machine that were ready to run and waited, per processor, on average."""
    foreign: float
    """Share (0 to 1) of all processors' time that processes outside the run used."""
    late_ms: int
    """Milliseconds that the span lasted longer than planned: pytest stood still, or got no processor."""
    memory: float | None = None
    """Share (0 to 1) of the span in which every thread that could run waited for memory; missing without PSI."""
    io: float | None = None
    """Share (0 to 1) of the span in which every thread that could run waited for a disk; missing without PSI."""
    foreign_io: float | None = None
    """Share (0 to 1) of the bytes read and written on disks that were of others than the run; missing if unknown."""
    foreign_memory: float | None = None
    """Share (0 to 1) of the memory in use that was of others than the run; missing if unknown."""
