"""What the events of one run say of each other: numbers, times, states, faults and lives of nodes."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pytest_kmigrate.model.event import Event, EventKind, Recorded, only
from pytest_kmigrate.model.events.evidence import ExpectationEnded, SnapshotTaken
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan, FaultHealed, FaultWitnessed
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.events.steps import ActiveControllerChanged, StateChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.recording.disagreement import Disagreement


def numbered(history: History) -> Iterator[Disagreement]:
    """Events are numbered from 0 without a gap, begin with run-began, and nothing follows run-ended."""
    for place, event in enumerate(history.events):
        if event.seq != place:
            yield Disagreement(f"line {place + 1} of the history is event {event.seq}", f"event {place} belongs there")
            return
    kinds = [event.kind for event in history.events]
    if kinds and kinds[0] is not EventKind.RUN_BEGAN:
        yield Disagreement(f"the first event is {kinds[0]}", "every run begins with run-began")
    if EventKind.RUN_ENDED in kinds[:-1]:
        yield Disagreement(f"event {kinds.index(EventKind.RUN_ENDED)} is run-ended", f"{kinds[-1]} follows it")


def in_order(history: History) -> Iterator[Disagreement]:
    """No event is earlier than the one before it."""
    for before, after in pairwise(history.events):
        if after.at_ns < before.at_ns:
            yield Disagreement(f"{_at(before)} was recorded first", f"{_at(after)} is earlier")
            return


def states_follow(history: History) -> Iterator[Disagreement]:
    """Each change of a state, and of the active controller, begins with what the change before it ended with."""
    names = dict.fromkeys(event.what.of for event in history.of(StateChanged))
    for name in names:
        yield from _follow(f"state {name}", [(each, each.what.state) for each in history.states(name)])
    controllers = [(each, each.what.controller) for each in history.of(ActiveControllerChanged)]
    yield from _follow("the active controller", controllers)


def _follow(
    what: str, changes: Sequence[tuple[Recorded[StateChanged | ActiveControllerChanged], str | None]]
) -> Iterator[Disagreement]:
    for (before, value), (after, _) in pairwise(changes):
        if value != after.what.previous:
            yield Disagreement(
                f"{_at(before)} has {value} for {what}",
                f"event {after.seq}, the next one, has {after.what.previous} before it",
            )
            return


def faults_begin(history: History) -> Iterator[Disagreement]:
    """What happened to a fault follows its beginning."""
    began = {event.what.fault_id: event for event in history.of(FaultBegan)}
    for event in only(history.events, FaultApplied, FaultWitnessed, FaultHealed):
        first = began.get(event.what.fault_id)
        if first is None or first.seq > event.seq:
            yield Disagreement(f"{_at(event)} is about {event.what.fault_id}", "no fault-began precedes it")


def expectations_agree(history: History) -> Iterator[Disagreement]:
    """What came true was observed as it was expected."""
    for event in history.of(ExpectationEnded):
        expected, observed = event.what.expected, event.what.observed
        if event.what.met and expected != observed:
            yield Disagreement(
                f"{_at(event)} has met what was expected of {event.what.name!r}",
                f"it expected {expected!r} and observed {observed!r}",
            )
            return


def lives_follow(history: History) -> Iterator[Disagreement]:
    """Starts of a node are numbered without a gap, and it is neither stopped twice nor started twice in one life."""
    lives: dict[str, Recorded[NodeStarted]] = {}
    for event in history.of(NodeStarted):
        before = lives.get(str(event.node))
        number = event.what.incarnation
        if before is not None and before.what.incarnation != number - 1:
            yield Disagreement(
                f"event {before.seq} is start {before.what.incarnation} of {event.node}",
                f"event {event.seq}, its next start, is start {number}",
            )
        lives[str(event.node)] = event


def images_are_there(history: History) -> Iterator[Disagreement]:
    """Each stored image has its event, and each such event its image."""
    noted = {event.what.label for event in history.of(SnapshotTaken)}
    for label in sorted(noted - history.images.keys()):
        yield Disagreement(f"an event has the image {label}", "the folder has no such image")
    for label in sorted(history.images.keys() - noted):
        yield Disagreement(f"the folder has the image {label}", "no event has it")


def _at(event: Event) -> str:
    return f"event {event.seq} ({event.kind}, {event.at_ns / 1e9:.3f} s)"
