"""Carries a schedule out in a live run: the walk in the test's own thread, each fault in a thread of its own."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache, partial
from itertools import zip_longest

from pytest_kmigrate.documents import document
from pytest_kmigrate.faults.injection import Injection
from pytest_kmigrate.faults.schedules.contradictions import Walkable
from pytest_kmigrate.faults.schedules.header import IMAGES
from pytest_kmigrate.faults.schedules.schedule import Happening, Moment, Schedule
from pytest_kmigrate.faults.schedules.space import Space
from pytest_kmigrate.faults.schedules.space_file import declared
from pytest_kmigrate.faults.schedules.spelling import Act
from pytest_kmigrate.faults.triggers import (
    Fired,
    Trigger,
    after_operations,
    after_s,
    at_crash_point,
    first_of,
    in_turn,
    now,
    on_state,
    when,
)
from pytest_kmigrate.judging import checks
from pytest_kmigrate.judging.guarantees import A_SESSION_AND_TWO_ELECTIONS_S, to_clients
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.model.event import PHASE
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.running.images import BROKERS, LOG, ZOOKEEPER
from pytest_kmigrate.running.run import Run
from pytest_kmigrate.waiting import until

_BEGUN_WITHIN_S = 60
"""So long a happening may take to begin once the walk has come to its state; then it is left out."""
_SETTLED_WITHIN_S = 60
_WRITES_PER_S = 100
"""What a schedule's clients write at most: a night costs processors, and each of its records costs three brokers."""
_LABEL = "after"
_ALL_THE_TIME = (LOG, BROKERS)
"""The sides of the metadata where no document moves them; a cluster without a quorum has the second alone."""


def walkable(profile: str) -> Walkable:
    """What a schedule of this document may name; WrongUseError if there is no such document."""
    of = document(profile)
    states = next((each.values for each in of.states if each.name == PHASE), ())
    walk = tuple(step.reaches[1] for step in of.procedure)
    named = Walkable(profile, tuple(states), walk, tuple(of.starts), of.crash_points, of.acts)
    space = _space(profile)
    if space is None:
        return named
    modes = {node.mode for each in space.topologies for node in each.nodes if node.mode}
    return replace(named, roles=_roles(space), modes=modes, cannot=space.cannot)


@cache
def _space(profile: str) -> Space | None:
    return declared(profile)


def _roles(space: Space) -> frozenset[Role]:
    """The roles that each topology of its nights has, of nodes that may be combined."""
    played = [{part for node in each.nodes for part in node.role.parts} for each in space.topologies]
    return frozenset(set.intersection(*played))


def carry_out(schedule: Schedule, run: Run) -> Sequence[Check]:
    """Walk and let everything happen; return what is to be judged besides every run.

    A happening that cannot begin within a minute of its state is left out: its fault is not witnessed, and the run
    INCONCLUSIVE. Clients have joined before anything happens, and are served when all of it is over: a schedule of
    seconds would show nothing of readers otherwise.
    """
    usual = run.traffic.usual()
    clients = replace(usual, per_s=min(usual.per_s, _WRITES_PER_S))
    run.traffic.start(clients)
    once = clients.partitions * len(clients.topics)
    run.traffic.await_committed(once)
    changing = _Changing(run, document(schedule.document))
    if schedule.changes_per_s:
        run.metadata.change(schedule.changes_per_s)
    walk = _Walk(schedule, run)
    states = schedule.states
    with walk.happening():
        for state, then in zip_longest(states, states[1:]):
            walk.come_to(state)
            if then is not None and changing.loses_a_side(state, then):
                changing.compare(state)
        walk.end()
    run.traffic.await_committed(2 * once)
    last = states[-1] if states else ""
    if not changing.is_over:
        changing.compare(last)
    return (
        *to_clients(A_SESSION_AND_TWO_ELECTIONS_S + schedule.longest_s),
        *changing.alike(last),
        *changing.present(),
    )


class _Changing:
    """Metadata that change until their sides are compared: at the end, or before one of them is none any more."""

    def __init__(self, run: Run, of: Document) -> None:
        self._watching = of.watching
        self.images: list[Sequence[str]] = []
        self.is_over = False
        self._run = run

    def loses_a_side(self, state: str, then: str) -> bool:
        """Whether a side that holds all metadata now does not any more in the next state."""
        return bool(set(self._sides(state)) - set(self._sides(then))) and not self.is_over

    def compare(self, state: str) -> None:
        """End the changes, and take images of every side that can be seen until they agree, or time is up."""
        self.is_over = True
        self._run.metadata.stop()
        sides = self._run.metadata.visible(self._sides(state))
        if len(sides) > 1 and IMAGES not in self._run.without:
            self._run.metadata.settle(_LABEL, sides, _SETTLED_WITHIN_S)
            self.images.append([f"{_LABEL}-{side}" for side in sides])

    def alike(self, state: str) -> Sequence[Check]:
        """The sides hold the same, as the document has it for this state."""
        if self._watching is not None:
            return self._watching.checks(state, self.images) if state else ()
        return [checks.metadata_equivalent(*labels) for labels in self.images]

    def present(self) -> Iterator[Check]:
        """What was acknowledged is on both sides that hold it."""
        for label in {f"{_LABEL}-{LOG}", f"{_LABEL}-{ZOOKEEPER}"} & {each for labels in self.images for each in labels}:
            yield checks.acknowledged_metadata_changes_present(label)

    def _sides(self, state: str) -> Sequence[str]:
        return self._watching.sides.get(state, ()) if self._watching else _ALL_THE_TIME


class _Walk:
    """The places that the walk has come to, and the faults that begin and end there."""

    def __init__(self, schedule: Schedule, run: Run) -> None:
        self._schedule = schedule
        self._run = run
        self._reached = {state: threading.Event() for state in schedule.states}
        self._left: dict[int, threading.Event] = {each.id: threading.Event() for each in schedule.happenings}
        self._injections: dict[int, Injection] = {}
        self._armed: dict[int, threading.Event] = {each.id: threading.Event() for each in schedule.happenings}
        self._points = document(schedule.document).crash_points

    @contextmanager
    def happening(self) -> Iterator[None]:
        """All faults of the schedule are armed while the block runs."""
        with ExitStack() as stack:
            for each in self._schedule.happenings:
                assert not isinstance(each.fault, Act), "a document has acts or a walk"
                block = self._run.inject(each.fault, at=self._beginning(each), until=self._release(each))
                self._injections[each.id] = stack.enter_context(block)
            yield

    def come_to(self, state: str) -> None:
        """Walk to a state unless the run stands there, and stay until what begins there is over.

        What waits for a crash point begins on the way to the next state, and is left out if no node came to it.
        """
        if state != self._schedule.starts_at:
            self._run.driver.advance_to(state)
        for each in self._schedule.happenings:
            if each.release.across and self._injections[each.id].is_begun:
                self._left[each.id].set()
        self._leave_out_what_never_came()
        self._reached[state].set()
        self._dwell([each for each in self._schedule.happenings if each.begin.state == state])

    def end(self) -> None:
        """Stay until everything that has begun is over."""
        for each in self._schedule.happenings:
            self._left[each.id].set()
        self._dwell(list(self._schedule.happenings), to_the_end=True)

    def _leave_out_what_never_came(self) -> None:
        for each in self._schedule.happenings:
            injection = self._injections[each.id]
            if not each.begin.at or not self._armed[each.id].is_set() or injection.is_healed:
                continue
            if injection.is_begun:
                injection.await_healed()
            else:
                injection.heal()

    def _dwell(self, happenings: Sequence[Happening], *, to_the_end: bool = False) -> None:
        for each in happenings:
            injection = self._injections[each.id]
            if injection.is_healed:  # also one that was left out
                continue
            try:
                if each.begin.at and not to_the_end:
                    self._await_armed(each, injection)
                    continue
                injection.await_begun(_BEGUN_WITHIN_S + self._schedule.longest_s)
            except AwaitTimeoutError:
                injection.heal()
                continue
            if to_the_end or not each.release.across:
                injection.await_healed()

    def _await_armed(self, happening: Happening, injection: Injection) -> None:
        """Return when the rule of its crash point is in the nodes: before, one may come there and pass by."""
        awaited = f"crash point {happening.begin.at} armed"
        within_s = _BEGUN_WITHIN_S + self._schedule.longest_s
        until(self._armed[happening.id].is_set, awaited=awaited, within_s=within_s, abort=injection.reraise)

    def _beginning(self, happening: Happening) -> Trigger:
        begin = happening.begin
        triggers = [self._come_to(begin.state)] if begin.state is not None else []
        other = self._schedule.named(begin.of) if begin.of is not None else None
        if other is not None:
            triggers.append(when(f"{other} {begin.when}", partial(self._is, other.id, begin.when)))
        if begin.at is not None:
            triggers.append(self._at(happening.id, begin.at))
        if begin.after_operations:
            triggers.append(after_operations(begin.after_operations))
        chained = triggers[0] if triggers else now()
        for each in triggers[1:]:
            chained = in_turn(chained, each)
        return chained

    def _at(self, happening: int, name: str) -> Trigger:
        """A node has come to a crash point; that it can be held there is noted."""
        point = next(each for each in self._points if each.name == name)
        trigger, armed = at_crash_point(point, self._points[point]), self._armed[happening]

        @contextmanager
        def noted(scene: Scene) -> Iterator[Fired]:
            with trigger.armed(scene) as fired:
                armed.set()
                yield fired

        return replace(trigger, armed=noted)

    def _is(self, happening: int, moment: Moment) -> bool:
        injection = self._injections.get(happening)  # the first of them are armed before the last
        return injection is not None and bool(getattr(injection, f"is_{moment}"))

    def _come_to(self, state: str) -> Trigger:
        """The walk has come there; of a state that passes by itself, when the cluster is in it."""
        reached = self._reached.get(state)
        return when(f"come to {state}", reached.is_set) if reached else on_state(PHASE, state)

    def _release(self, happening: Happening) -> Trigger:
        release = happening.release
        # Writes are quick, and some faults bite late: a name is looked up for the next connection only.
        bites = when("seen to bite", partial(self._is, happening.id, "witnessed"))
        counted = first_of(in_turn(after_operations(release.operations), bites), after_s(release.at_most_s))
        if release.across:
            left = self._left[happening.id]
            counted = in_turn(when("come to the next state", left.is_set), counted)
        if Capability.START in happening.fault.needs:
            may_start = self._may_start(happening)
            counted = in_turn(counted, when("nothing in force that keeps a node from starting", may_start))
        return counted

    def _may_start(self, happening: Happening) -> Callable[[], bool]:
        """A node is started again when no fault is in force that it could fail by."""
        others = [each for each in self._schedule.happenings if each.id != happening.id]
        lasting = [each for each in others if Capability.START not in each.fault.needs]

        def may_start() -> bool:
            injections = [self._injections[each.id] for each in lasting if each.id in self._injections]
            return not any(each.is_begun and not each.is_healed for each in injections)

        return may_start
