"""Check of how long there was no active controller, though enough of them ran to elect one."""

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.lives import plays, roles
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_begun_of
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.model.verdict import Kind, Verdict, conforms, inconclusive, violates

_ACTIVE = "ActiveControllerCount"
_FRESH_NS = 3_000_000_000
"""What a controller reported counts for so long; a controller that stands still reports nothing more."""
_ON_LINKS = frozenset({"cut", "refuse", "reset", "slow", "throttle", "slice", "isolate", "partition"})
"""Faults that may keep controllers from each other, which no election can help."""


@dataclass(frozen=True)
class _Look:
    """What the controllers reported at one instant: how many are active, and how many are not."""

    at_ns: int
    active: int
    standing_by: int


def _are_sampled(history: History) -> bool:
    return any(True for _ in _samples(history))


@checker(in_every_run=_are_sampled, anomaly="no active controller", needs=[Capability.METRICS])
def longest_time_without_active_controller(history: History, at_most_s: float = 30) -> Verdict:
    """A majority of the controllers never reports for longer than this that none of them is active.

    Only what they report counts: a controller that is down or stands still reports nothing, and without a majority
    no controller can be elected. Nor is a time judged in which links were disturbed. An election takes a few seconds,
    and the bound is for a slow machine.
    """
    name = "longest_time_without_active_controller"
    gaps = [(from_ns, to_ns) for from_ns, to_ns in _gaps(history) if not _are_apart(history, from_ns, to_ns)]
    looks = sum(1 for _ in _samples(history))
    if not looks:
        return inconclusive(name, Kind.VACUOUS, "no controller reported whether it is active")
    longest_ns = max((to_ns - from_ns for from_ns, to_ns in gaps), default=0)
    found = [
        timed_violation(
            history,
            f"a controller is active again within {at_most_s:g} s",
            f"a majority of the controllers reported for {span(to_ns - from_ns)} that none is",
            from_ns,
        )
        for from_ns, to_ns in gaps
        if to_ns - from_ns > at_most_s * 1e9
    ]
    if found:
        return violates(name, Kind.LIVENESS, found, f"{counted(len(found), 'time')} without an active controller")
    return conforms(name, f"at most {span(longest_ns)} without an active controller, in {counted(looks, 'sample')}")


def _samples(history: History) -> Iterator[Sample]:
    by_role = roles(history)
    for sample in history.samples:
        is_known = sample.values.get(_ACTIVE) is not None
        if is_known and plays(by_role.get(sample.node), Role.CONTROLLER):
            yield sample


def _gaps(history: History) -> Iterator[tuple[int, int]]:
    """From when to when no controller was active by what a majority of them reported."""
    needed = sum(plays(role, Role.CONTROLLER) for role in roles(history).values()) // 2 + 1
    since_ns: int | None = None
    last_ns = 0
    for look in _looks(history):
        if look.active == 0 and look.standing_by >= needed:
            since_ns, last_ns = look.at_ns if since_ns is None else since_ns, look.at_ns
        elif since_ns is not None:
            yield since_ns, last_ns
            since_ns = None
    if since_ns is not None:
        yield since_ns, last_ns


def _looks(history: History) -> Iterator[_Look]:
    reported: dict[str, Sample] = {}
    ends = {EventKind.NODE_STOPPED, EventKind.NODE_DIED, EventKind.NODE_PAUSED}
    gone = [(each.at_ns, str(each.node)) for each in history.of(*ends)]
    for sample in sorted(_samples(history), key=lambda each: each.at_ns):
        reported[sample.node] = sample
        fresh = {
            node: each
            for node, each in reported.items()
            if sample.at_ns - each.at_ns <= _FRESH_NS
            and not any(node == which and each.at_ns <= at_ns <= sample.at_ns for at_ns, which in gone)
        }
        active = sum(each.values[_ACTIVE] == 1 for each in fresh.values())
        yield _Look(sample.at_ns, active, len(fresh) - active)


def _are_apart(history: History, from_ns: int, to_ns: int) -> bool:
    begun = faults_begun_of(history, from_ns, to_ns)
    return any(str(each.data.get("effect")) in _ON_LINKS for each in begun)
