"""What the keys of a schedule may hold each by itself, and not together."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_kmigrate.faults.effect import Fault
from pytest_kmigrate.faults.holding import Hold
from pytest_kmigrate.faults.links import Partition, Slow
from pytest_kmigrate.faults.processes import Kill, Pause, Stop
from pytest_kmigrate.faults.resources import FewFiles, FillDisk, Starve, TornTail
from pytest_kmigrate.faults.schedules.schedule import Begin, Happening, Schedule
from pytest_kmigrate.faults.schedules.spelling import Act, Mistake, point_of, wrong
from pytest_kmigrate.faults.targets import EVERY
from pytest_kmigrate.faults.znodes import ExpireSession
from pytest_kmigrate.model.protocols import CrashPoint
from pytest_kmigrate.model.topology import BrokerMode, Role

_OF_PROCESSES = (Kill, Stop, Pause, Starve, FillDisk, FewFiles, TornTail)
"""Each of them stops its node, starts it again, or is about the one process that it has."""
_LEAST_GROUPS = 2


@dataclass(frozen=True)
class Walkable:
    """What of a document a schedule may name."""

    document: str
    is_known: bool = field(default=True, kw_only=True)
    """Whether there is such a document."""
    states: Sequence[str] = ()
    """Values of the state ``phase``, in order."""
    walk: Sequence[str] = ()
    """Those that a step of the procedure reaches."""
    starts: Sequence[str] = ()
    """Those that a run may begin in by a checkpoint."""
    crash_points: Mapping[CrashPoint, Role] = field(default_factory=dict)
    """Places in Kafka's code that a happening may begin at, and the role of the nodes that come there."""
    acts: Sequence[str] = ()
    """What an operator does that happenings name in place of faults; none: the document has faults."""
    roles: Collection[Role] = ()
    """Those that each topology of its nights has."""
    modes: Collection[BrokerMode] = ()
    """Where brokers of these topologies keep their metadata at the start; none: the document declares no nights."""
    cannot: Callable[[str, str, str], str | None] = lambda _effect, _state, _aim: None
    """Why an effect cannot be in a state, aimed at something; None: the document declares nothing against it."""


def contradictions(schedule: Schedule, there: Walkable) -> Iterator[Mistake]:
    """What each key may hold by itself, and not together."""
    ids = [each.id for each in schedule.happenings]
    end = there.states.index(schedule.states[-1]) if schedule.states else 0
    passed = there.states[: end + 1]
    first = there.states.index(schedule.starts_at) if schedule.starts_at else 0
    for number, each in enumerate(schedule.happenings):
        key = f"happenings[{number}]"
        if ids.count(each.id) > 1 and ids.index(each.id) == number:
            yield wrong(f"{key}.id", "an id of its own", each.id)
        if each.begin.state is not None and each.begin.state not in passed[first:]:
            yield wrong(
                f"{key}.begin.state", f"a state on the walk ({', '.join(passed[first:])})", each.begin.state, passed
            )
        if each.begin.at is not None:
            mistakes: list[Mistake] = []
            point_of(f"{key}.begin.at", each.begin.at, there.crash_points, mistakes)
            yield from mistakes
            if each.begin.state is None and schedule.states:
                yield wrong(f"{key}.begin.state", "the state in which its crash point is armed", None)
        yield from _circles(key, each, schedule)
        yield from _never(key, each, schedule)
        yield from _nothing(key, each.fault)
        yield from _of_all(key, each)
        yield from _both(key, each, schedule)
    yield from _points(schedule, there)


def _points(schedule: Schedule, there: Walkable) -> Iterator[Mistake]:
    """A crash point holds one node, once, and nodes of another role never come to it."""
    seen: set[str] = set()
    for number, each in enumerate(schedule.happenings):
        held = each.fault.point.name if isinstance(each.fault, Hold) else None
        for key, name in (("begin.at", each.begin.at), ("fault.point", held)):
            if name in seen:
                yield wrong(f"happenings[{number}].{key}", "a crash point that no other happening has", name)
            seen |= {name} if name else set()
        if isinstance(each.fault, Hold) and each.fault.role is not there.crash_points.get(each.fault.point):
            comes = there.crash_points[each.fault.point].value
            yield wrong(f"happenings[{number}].fault.role", f"{comes}, which comes to {held}", each.fault.role.value)


def _circles(key: str, happening: Happening, schedule: Schedule) -> Iterator[Mistake]:
    """A happening waits for one that is there, and never for itself."""
    of, seen = happening.begin.of, {happening.id}
    if of is not None and schedule.named(of) is None:
        yield wrong(f"{key}.begin.of", "the id of another happening of the schedule", of)
    while of is not None:
        if of in seen:
            yield wrong(f"{key}.begin.of", "a happening that does not wait for this one", happening.begin.of)
            return
        seen.add(of)
        other = schedule.named(of)
        of = other.begin.of if other else None


def _never(key: str, happening: Happening, schedule: Schedule) -> Iterator[Mistake]:
    """The walk stays in a state until what begins there is over, so that it never begins after what comes later."""
    begin, other = happening.begin, schedule.named(happening.begin.of) if happening.begin.of is not None else None
    if begin.of is None and begin.when != Begin.when:
        yield wrong(f"{key}.begin.when", "none without of, the happening that it is about", begin.when)
    if other is None or begin.at is not None or begin.state not in schedule.states:
        return
    stays = f"the walk stays in {begin.state} until this one has begun"
    later = schedule.states[schedule.states.index(begin.state) + 1 :]
    if other.begin.state in later:
        yield wrong(f"{key}.begin.of", f"a happening that begins before {other.begin.state}, as {stays}", begin.of)
    elif begin.when == "healed" and other.release.across and other.begin.state == begin.state:
        text = f"begun or witnessed, as happening {other.id} stays in force across {begin.state}, and {stays}"
        yield wrong(f"{key}.begin.when", text, begin.when)


def _nothing(key: str, fault: Fault | Act) -> Iterator[Mistake]:
    """What disturbs no link whatever the cluster is."""
    if isinstance(fault, Slow) and not fault.latency_ms and not fault.jitter_ms:
        yield wrong(f"{key}.fault.latency_ms", "more than 0, or a jitter_ms of more than 0", fault.latency_ms)
    if isinstance(fault, Partition) and len(set(map(str, fault.groups))) < _LEAST_GROUPS:
        got = [str(each) for each in fault.groups]
        yield wrong(f"{key}.fault.groups", "two groups at least, as links between groups are cut", got)


def _of_all(key: str, happening: Happening) -> Iterator[Mistake]:
    """What no cluster can walk under, and what is about one node only."""
    aims = _aims(happening.fault)
    every = [each for each in aims if each in EVERY]
    if every and isinstance(happening.fault, ExpireSession):
        yield wrong(f"{key}.fault.target", "one node, as a session is of one", every[0])
    if every and happening.release.across and isinstance(happening.fault, Kill | Stop | Pause):
        yield wrong(
            f"{key}.release.across", f"false, as no step ends without any of {every[0]}", happening.release.across
        )


def _both(key: str, happening: Happening, schedule: Schedule) -> Iterator[Mistake]:
    """One node is never in two faults of processes at once."""
    for other in _beside(happening, schedule):
        yield from _same(key, happening, other)


def _beside(happening: Happening, schedule: Schedule) -> list[Happening]:
    """The one that it waits for, if not until that is healed; or those of before that begin when it does."""
    begin = happening.begin
    if begin.of is not None:
        other = schedule.named(begin.of)
        return [other] if other and other is not happening and begin.when != "healed" else []
    before = schedule.happenings[: schedule.happenings.index(happening)]
    return [
        each for each in before if each.begin.of is None and (each.begin.state, each.begin.at) == (begin.state, None)
    ]


def _same(key: str, happening: Happening, other: Happening) -> Iterator[Mistake]:
    both = set(_aims(happening.fault)) & set(_aims(other.fault))
    if both and isinstance(happening.fault, _OF_PROCESSES) and isinstance(other.fault, _OF_PROCESSES):
        got = f"{min(both)}, which happening {other.id} holds: write of: {other.id}, when: healed, or another target"
        yield Mistake(f"{key}.fault.target", f"expected a node that no other fault has stopped; got {got}")
        return
    gone = both & EVERY.keys() if isinstance(other.fault, Kill | Stop) else set()
    if gone and happening.begin.of == other.id:
        got = f"{min(gone)}, all of which happening {other.id} ends: write when: healed, or another aim"
        yield Mistake(f"{key}.fault", f"expected nodes that run, so that it can be seen to bite; got {got}")


def _aims(fault: Fault | Act) -> list[str]:
    one = [str(getattr(fault, name)) for name in ("target", "source", "destination") if hasattr(fault, name)]
    return [*one, *map(str, getattr(fault, "groups", ()))]
