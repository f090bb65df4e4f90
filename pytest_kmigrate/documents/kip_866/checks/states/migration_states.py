"""Check of the migration states: they go in their order, and who leads reports the one that the log has come to."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.leaderships import leaderships
from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns, roles
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import when
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST, told_by
from pytest_kmigrate.documents.kip_866.phases import LEGAL_EDGES, MIGRATION_STATE, ZkMigrationState
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Event, Recorded
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.events.steps import StateChanged
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates

_STATES, _NONE = "K866-STATE-order", "K866-STATE-None-not-reachable"
_FAILOVER = "K866-METRIC-ZkMigrationState-failover"
_METRIC = "ZkMigrationState"
_ORDER = {
    ZkMigrationState.NONE.value: 0,
    ZkMigrationState.ZK.value: 0,
    ZkMigrationState.PRE_MIGRATION.value: 1,
    ZkMigrationState.MIGRATION.value: 2,
    ZkMigrationState.POST_MIGRATION.value: 3,
}
_CATCHES_UP_NS = 10_000_000_000
"""By then a new leader has read the log: at once from Kafka, within 3 s on a machine with too much to do."""
_CLOSE_NS = 1_000_000_000
"""Of looks so close together none misses a state: PRE_MIGRATION takes longer even if every broker is waiting."""

_Reported = tuple[Recorded[StateChanged], ZkMigrationState]


@dataclass(frozen=True)
class _Move:
    """A state that was reported after another one, and must not have been."""

    before: _Reported
    after: _Reported

    @property
    def skips(self) -> bool:
        """Whether it goes forward; back is wrong whatever lay between."""
        return _ORDER[self.after[1].value] > _ORDER[self.before[1].value]


@checker(
    _STATES,
    _NONE,
    _FAILOVER,
    in_every_run=lambda history: bool(history.states(MIGRATION_STATE)),
    anomaly="illegal migration state",
    needs=[Capability.METRICS],
)
def migration_state_moves_along_legal_edges(history: History) -> Verdict:
    """ZkMigrationState moves only NONE or ZK -> PRE_MIGRATION -> MIGRATION -> POST_MIGRATION, skipping none.

    Within one life of the metadata log. A controller that has just begun to lead may lag behind what another one
    already reported, for 10 s, but none goes back by itself, and the last word of a life is the furthest state. That a
    state was skipped is proved by looks close together; after a longer time without one it is left undecided. What
    brokers in ZooKeeper mode report is not the log's state and is left out.
    """
    by_role = roles(history)
    reported = [e for e in history.states(MIGRATION_STATE) if by_role.get(str(e.node)) != "broker"]
    seen = [(event, ZkMigrationState[event.what.state]) for event in reported]
    if not seen:
        return inconclusive(Kind.VACUOUS, "no migration state was ever seen")
    starts = life_starts_ns(history)
    lives = [[each for each in seen if life_at(starts, each[0].at_ns) == life] for life in range(len(starts) + 1)]
    moves = [move for of_life in lives for move in _illegal_moves(history, of_life)]
    skips = [move for move in moves if move.skips]
    unproved = [move for move in skips if _was_seen_between(history, move) or not _is_close(history, move)]
    unseen = [move for move in unproved if not _was_seen_between(history, move)]
    illegal = [move for move in moves if move not in unproved]
    behind = list(_left_behind(history, starts, lives))
    about = _by_requirement(history, lives, illegal, behind, is_order_known=not unseen).about
    found = [*(_illegal(history, move) for move in illegal), *behind]
    if found:
        text = f"{counted(len(found), 'illegal move')} of ZkMigrationState; {found[0].observed}"
        verdict = violates(Kind.SAFETY, found, text, sightings=len(seen), lives=len(lives))
        return verdict.about_each(about)
    text = f"ZkMigrationState went {' -> '.join(_way(state for _, state in seen))}"
    verdict = conforms("; ".join([text, *map(_told_unseen, unseen)]), sightings=len(seen), lives=len(lives))
    return verdict.about_each(about)


def _by_requirement(
    history: History,
    lives: list[list[_Reported]],
    illegal: list[_Move],
    behind: list[Violation],
    *,
    is_order_known: bool,
) -> Verdict:
    """What each of the requirements has to itself: moves, looks after the beginning, and leaders that came later."""
    rows = ByRequirement(_STATES, _NONE, _FAILOVER)
    if is_order_known:
        rows.looked_at(_STATES, sum(max(len(of_life) - 1, 0) for of_life in lives))
    rows.looked_at(_NONE, sum(_ORDER[state.value] > 0 for of_life in lives for _, state in of_life))
    rows.looked_at(_FAILOVER, _later_leaders(history, lives))
    for move in illegal:
        violation = _illegal(history, move)
        rows.violated(_NONE if move.after[1] is ZkMigrationState.NONE else _STATES, violation)
        if move.before[0].node != move.after[0].node and not move.skips:
            rows.violated(_FAILOVER, violation)
    for violation in behind:
        rows.violated(_FAILOVER, violation)
    return rows.verdict("", "")


def _later_leaders(history: History, lives: list[list[_Reported]]) -> int:
    """How many leaderships began when a state was known, of which enough was seen to know the state."""
    starts = life_starts_ns(history)
    later = 0
    for number, of_life in enumerate(lives):
        rows = [row for row in leaderships(history) if life_at(starts, row[0].at_ns) == number]
        first_ns = min((event.at_ns for event, _ in of_life), default=None)
        stated = [[each for each in row if _state(history, each) in _ORDER] for row in rows]
        later += sum(first_ns is not None and row[0].at_ns > first_ns and len(row) >= FEWEST for row in stated if row)
    return later


def _illegal_moves(history: History, of_life: list[_Reported]) -> list[_Move]:
    """Moves of one life: by what one process of a node reported, and by states seen for the first time."""
    found = []
    furthest: _Reported | None = None
    own: dict[tuple[str, int], _Reported] = {}
    known: list[ZkMigrationState] = []
    for each in of_life:
        event, state = each
        process = (str(event.node), _incarnation(history, event))
        before = own.get(process)
        is_new = state not in known
        if is_new and furthest is not None and (furthest[1], state) not in LEGAL_EDGES:
            found.append(_Move(furthest, each))
        elif not is_new and before is not None and known.index(state) < known.index(before[1]):
            found.append(_Move(before, each))
        own[process] = each
        if is_new:
            known.append(state)
            furthest = each
    if furthest is not None and of_life[-1][1] is not furthest[1] and all(move.skips for move in found):
        found.append(_Move(furthest, of_life[-1]))
    return found


def _is_close(history: History, move: _Move) -> bool:
    """Whether the later state was reported just after the former one, by two leaders or by the samples of one."""
    (former, before), (event, after) = move.before, move.after
    between = [each for row in leaderships(history) for each in row if each.node == event.node]
    between = [each for each in between if former.at_ns <= each.at_ns <= event.at_ns]
    last_ns = max((e.at_ns for e in between if _state(history, e) == before.value), default=former.at_ns)
    later_ns = (e.at_ns for e in between if e.at_ns > last_ns and _state(history, e) == after.value)
    return min(later_ns, default=event.at_ns) - last_ns <= _CLOSE_NS


def _was_seen_between(history: History, move: _Move) -> bool:
    """Whether a controller, leading or not, reported a state that was not observed while it counted."""
    (former, before), (event, after) = move.before, move.after
    stated = {_state(history, each) for each in history.samples if former.at_ns < each.at_ns < event.at_ns}
    missed = {state for state, place in _ORDER.items() if _ORDER[before.value] < place < _ORDER[after.value]}
    return missed <= stated


def _left_behind(history: History, starts: list[int], lives: list[list[_Reported]]) -> Iterator[Violation]:
    """Leaders that still report what was over before they began to lead."""
    for samples in leaderships(history):
        began_ns = samples[0].at_ns
        of_life = lives[life_at(starts, began_ns)]
        known = max((_ORDER[state.value] for event, state in of_life if event.at_ns <= began_ns), default=0)
        late = (each for each in samples if each.at_ns > began_ns + _CATCHES_UP_NS)
        behind = [each for each in late if _ORDER.get(_state(history, each), known) < known]
        if len(behind) >= FEWEST:
            at_ns, state = behind[0].at_ns, _state(history, behind[0])
            expected = f"within {span(_CATCHES_UP_NS)} a new leader reports the state that the log has come to"
            observed = f"{behind[0].node} was still in {state} {span(at_ns - began_ns)} after it began to lead"
            yield violation_at(history, expected, f"{observed}, {when(history, at_ns)}", at_ns, "metrics/metrics.jsonl")


def _state(history: History, sample: Sample) -> str:
    return told_by(history, sample, _METRIC)


def _illegal(history: History, move: _Move) -> Violation:
    (_, before), (event, after) = move.before, move.after
    legal = sorted(to.value for source, to in LEGAL_EDGES if source is before)
    expected = f"after {before.value} comes {' or '.join(legal) if legal else 'no other state'}"
    seen_at = f" on {event.node}" if event.node else ""
    observed = f"{before.value} was followed by {after.value}{seen_at} {when(history, event.at_ns)}"
    return violation_at(history, expected, observed, event.at_ns, f"event {event.seq}")


def _told_unseen(move: _Move) -> str:
    (former, before), (event, after) = move.before, move.after
    return f"what came between {before.value} and {after.value}, {span(event.at_ns - former.at_ns)} later, was not seen"


def _incarnation(history: History, event: Event) -> int:
    started = history.of(NodeStarted)
    return sum(1 for each in started if each.node == event.node and each.seq < event.seq)


def _way(states: Iterable[ZkMigrationState]) -> list[str]:
    way: list[str] = []
    for state in states:
        if not way or way[-1] != state.value:
            way.append(state.value)
    return way
