"""Checks of the controllers: one per epoch, epochs that only rise, migration states in their order."""

from collections.abc import Iterable

from pytest_kmigrate.checkers.claims import Claim, Epoch, claims, epochs
from pytest_kmigrate.checkers.findings import violation_at
from pytest_kmigrate.checkers.lives import life_at, life_starts_ns, roles
from pytest_kmigrate.checkers.moments import when
from pytest_kmigrate.checkers.wording import counted
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.phase import LEGAL_EDGES, ZkMigrationState
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates


def one_active_controller_per_epoch(history: History) -> Verdict:
    """No epoch has two active controllers.

    Judged in the controller znodes, which are written together: by ``/controller_epoch``, and by KRaft's own epoch
    within each life of the metadata log. Source: K866-FAIL-crash-in-migration, K866-ZNODE-controller-every-election.
    """
    name = "one_active_controller_per_epoch"
    seen = claims(history)
    if not seen:
        return inconclusive(name, Kind.VACUOUS, "no controller was ever seen to hold the controller znodes")
    holders: dict[tuple[str, int], list[Claim]] = {}
    for claim in seen:
        of_epoch = holders.setdefault((claim.series, claim.epoch), [])
        if all(claim.controller != other.controller for other in of_epoch):
            of_epoch.append(claim)
    found = [_two_holders(history, of[0], other) for of in holders.values() for other in of[1:]]
    if found:
        text = f"{counted(len(found), 'epoch')} with a second active controller; {found[0].observed}"
        return violates(name, Kind.SAFETY, found, text, epochs=len(holders))
    text = f"{counted(len(holders), 'epoch')} seen, each with one active controller"
    return conforms(name, text, epochs=len(holders), sightings=len(seen))


def controller_epoch_never_falls(history: History) -> Verdict:
    """The controller epoch, in each place that shows it, never goes down.

    A revert begins a new life of the metadata log, whose epochs start again; ``/controller_epoch`` goes on unless it
    was deleted for the revert. Source: K866-ZNODE-controller-epoch-monotonic.
    """
    name = "controller_epoch_never_falls"
    seen = epochs(history)
    if not seen:
        return inconclusive(name, Kind.VACUOUS, "no controller epoch was ever seen")
    highest: dict[str, Epoch] = {}
    found = []
    for each in seen:
        before = highest.get(each.series)
        if before is not None and each.epoch < before.epoch:
            found.append(_fallen(history, before, each))
        if before is None or each.epoch > before.epoch:
            highest[each.series] = each
    if found:
        text = f"the controller epoch fell {counted(len(found), 'time')}; {found[0].observed}"
        return violates(name, Kind.SAFETY, found, text, sightings=len(seen))
    top = "; ".join(f"{series} up to {epoch.epoch}" for series, epoch in sorted(highest.items()))
    return conforms(name, f"{counted(len(seen), 'sighting')} of epochs, none below one before ({top})")


def migration_state_moves_along_legal_edges(history: History) -> Verdict:
    """ZkMigrationState moves only NONE or ZK -> PRE_MIGRATION -> MIGRATION -> POST_MIGRATION, skipping none.

    Within one life of the metadata log. A controller that has just started may lag behind what another one already
    reported, but none goes back by itself, and the last word of a life is the furthest state. What brokers in
    ZooKeeper mode report is not the log's state and is left out. Source: K866-STATE-order,
    K866-STATE-None-not-reachable, K866-METRIC-ZkMigrationState-failover.
    """
    name = "migration_state_moves_along_legal_edges"
    by_role = roles(history)
    reported = [e for e in history.of(EventKind.MIGRATION_STATE) if by_role.get(str(e.node)) != "broker"]
    seen = [(event, ZkMigrationState[str(event.data["state"])]) for event in reported]
    if not seen:
        return inconclusive(name, Kind.VACUOUS, "no migration state was ever seen")
    starts = life_starts_ns(history)
    found = []
    for life in range(len(starts) + 1):
        of_life = [(event, state) for event, state in seen if life_at(starts, event.at_ns) == life]
        found += _illegal_moves(history, of_life)
    if found:
        text = f"{counted(len(found), 'illegal move')} of ZkMigrationState; {found[0].observed}"
        return violates(name, Kind.SAFETY, found, text, sightings=len(seen), lives=len(starts) + 1)
    way = " -> ".join(_way(state for _, state in seen))
    return conforms(name, f"ZkMigrationState went {way}", sightings=len(seen), lives=len(starts) + 1)


def _two_holders(history: History, first: Claim, second: Claim) -> Violation:
    expected = f"epoch {first.epoch} ({first.series}) has one active controller"
    observed = (
        f"epoch {first.epoch} had controller {first.controller} ({when(history, first.at_ns)}) "
        f"and controller {second.controller} ({when(history, second.at_ns)})"
    )
    return violation_at(history, expected, observed, second.at_ns, first.evidence, second.evidence)


def _fallen(history: History, before: Epoch, after: Epoch) -> Violation:
    expected = f"the epoch ({after.series}) stays at {before.epoch} or above"
    observed = f"{after.series} fell from {before.epoch} to {after.epoch} {when(history, after.at_ns)}"
    return violation_at(history, expected, observed, after.at_ns, before.evidence, after.evidence)


def _illegal_moves(history: History, of_life: list[tuple[Event, ZkMigrationState]]) -> list[Violation]:
    """Moves of one life: by what one process of a node reported, and by states seen for the first time."""
    found = []
    furthest: tuple[Event, ZkMigrationState] | None = None
    own: dict[tuple[str, int], ZkMigrationState] = {}
    known: list[ZkMigrationState] = []
    for event, state in of_life:
        process = (str(event.node), _incarnation(history, event))
        before = own.get(process)
        is_new = state not in known
        if is_new and furthest is not None and (furthest[1], state) not in LEGAL_EDGES:
            found.append(_illegal(history, furthest[1], event, state))
        elif not is_new and before is not None and known.index(state) < known.index(before):
            found.append(_illegal(history, before, event, state))
        own[process] = state
        if is_new:
            known.append(state)
            furthest = (event, state)
    if furthest is not None and of_life[-1][1] is not furthest[1] and not found:
        found.append(_illegal(history, furthest[1], *of_life[-1]))
    return found


def _illegal(history: History, before: ZkMigrationState, event: Event, after: ZkMigrationState) -> Violation:
    legal = sorted(to.value for source, to in LEGAL_EDGES if source is before)
    expected = f"after {before.value} comes {' or '.join(legal) if legal else 'no other state'}"
    seen_at = f" on {event.node}" if event.node else ""
    observed = f"{before.value} was followed by {after.value}{seen_at} {when(history, event.at_ns)}"
    return violation_at(history, expected, observed, event.at_ns, f"event {event.seq}")


def _incarnation(history: History, event: Event) -> int:
    started = history.of(EventKind.NODE_STARTED)
    return sum(1 for each in started if each.node == event.node and each.seq < event.seq)


def _way(states: Iterable[ZkMigrationState]) -> list[str]:
    way: list[str] = []
    for state in states:
        if not way or way[-1] != state.value:
            way.append(state.value)
    return way
