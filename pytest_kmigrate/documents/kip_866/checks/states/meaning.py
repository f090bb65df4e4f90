"""Check of what the recorded states mean: one before the copy, one in dual write, one after finalization."""

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.controllers.znode_changes import since_controllers, untampered
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation, violation_at
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.log_images import LogImage, has_log_images, log_images
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION, has_place
from pytest_kmigrate.documents.kip_866.phases import MIGRATION_STATE, Phase, ZkMigrationState
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import PHASE
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import Verdict, Violation

_PRE, _DURING, _POST = "K866-STATE-PreMigration", "K866-STATE-Migration", "K866-STATE-PostMigration"
_FINALIZED = "K866-PROC-finalize-record"
_ENDED_NS = 5_000_000_000
"""By then what a controller had begun to write to ZooKeeper as it left is written, and was seen."""


@checker(
    _PRE,
    _DURING,
    _POST,
    _FINALIZED,
    in_every_run=has_log_images,
    anomaly="state without its meaning",
    needs=[Capability.METADATA_LOG, Capability.ZNODES],
)
def recorded_states_mean_what_they_say(history: History) -> Verdict:
    """The states in the metadata log stand for what the controllers did, whatever their numbers.

    PRE_MIGRATION is recorded before any metadata. MIGRATION covers the copy: it is recorded before the first topic that
    is copied. It is the log's state once ``/migration`` holds a place, for as long as that is written. POST_MIGRATION
    is recorded when the migration is finalized, and then ZooKeeper is left alone.
    """
    rows = ByRequirement(_PRE, _DURING, _POST, _FINALIZED)
    images = [log for log in log_images(history) if not log.begins_with_snapshot]
    places = [each for each in since_controllers(history, untampered(history, MIGRATION)) if has_place(each)]
    for log in images:
        _judge_beginning(history, rows, log)
        _judge_copy(history, rows, log)
        _judge_dual_write(history, rows, log, places)
        _judge_finalization(history, rows, log)
    _judge_quiet(history, rows, places)
    text = f"{counted(len(images), 'image')} of the metadata log, each with the states that fit what was done"
    return rows.verdict(text, "no image of a metadata log holds a state of a migration")


def _judge_beginning(history: History, rows: ByRequirement, log: LogImage) -> None:
    # A cluster that was born in KRaft mode records NONE, and nothing else.
    states = [each for each in log.states if each.state is not ZkMigrationState.NONE]
    if not states or states[0].offset <= log.inherited_until:
        return
    first = states[0]
    if first.state is ZkMigrationState.PRE_MIGRATION and not first.outside:
        rows.looked_at(_PRE)
        return
    counts = ", ".join(f"{count} {kind}" for kind, count in first.outside.items())
    observed = f"{first} is the first state (offset {first.offset})" + (f", after {counts}" if counts else "")
    rows.violated(_PRE, _violation(history, log, "PRE_MIGRATION is recorded before any metadata", observed))


def _judge_copy(history: History, rows: ByRequirement, log: LogImage) -> None:
    """Whether the state of the copy was recorded before what was copied; of a log that the run began."""
    state = log.copied
    if state is None or state.offset <= log.inherited_until:
        return
    counts = ", ".join(f"{count} {kind}" for kind, count in state.outside.items())
    first = log.hidden[0] if log.hidden else None
    if first is None and not (counts and not log.has_transactions):
        return
    expected = "MIGRATION is recorded before what is copied, as it covers the copy"
    if first is None:
        rows.violated(_DURING, _violation(history, log, expected, f"MIGRATION is recorded after the copy of {counts}"))
    elif first < state.offset:
        observed = f"MIGRATION is recorded after the copy, at offset {state.offset}; topics are copied from {first} on"
        rows.violated(_DURING, _violation(history, log, expected, observed))
    else:
        rows.looked_at(_DURING)


def _judge_dual_write(history: History, rows: ByRequirement, log: LogImage, places: list[ZnodeChange]) -> None:
    """ZooKeeper had a place in this very log before the image was taken, so the copy had ended.

    POST_MIGRATION is the state of a log whose controllers have left dual write: where they write on, it is wrong.
    """
    starts = life_starts_ns(history)
    had_place = any(each.at_ns < log.began_ns and life_at(starts, each.at_ns) == log.life for each in places)
    if not had_place or not log.states:
        return
    state = log.states[-1]
    written_on = any(each.at_ns > log.ended_ns and life_at(starts, each.at_ns) == log.life for each in places)
    if state.state is ZkMigrationState.MIGRATION:
        rows.looked_at(_DURING)
    elif state.state is not ZkMigrationState.POST_MIGRATION or written_on:
        observed = f"the last state of the log is {state}"
        rows.violated(_DURING, _violation(history, log, "the state is MIGRATION while ZooKeeper is written", observed))


def _judge_finalization(history: History, rows: ByRequirement, log: LogImage) -> None:
    since_ns = _finalized_ns(history)
    recorded = [each for each in log.states if each.state is ZkMigrationState.POST_MIGRATION]
    if since_ns is not None and log.began_ns > since_ns:
        if recorded:
            rows.looked_at(_FINALIZED)
        else:
            observed = f"the last state of the log is {log.states[-1] if log.states else 'none'}"
            expected = "POST_MIGRATION is recorded when the migration is finalized"
            rows.violated(_FINALIZED, _violation(history, log, expected, observed))
    if recorded and not any(each.state is ZkMigrationState.MIGRATION for each in log.states):
        observed = f"{recorded[0]} (offset {recorded[0].offset}) in a log without MIGRATION"
        rows.violated(_POST, _violation(history, log, "only what was migrated is finalized", observed))


def _judge_quiet(history: History, rows: ByRequirement, places: list[ZnodeChange]) -> None:
    reported = [e for e in history.states(MIGRATION_STATE) if e.what.state == ZkMigrationState.POST_MIGRATION.name]
    if not reported:
        return
    ended_ns = reported[0].at_ns + _ENDED_NS
    rows.looked_at(_POST, history.end_ns > ended_ns)
    for each in places:
        if each.at_ns > ended_ns:
            observed = f"it was written {span(each.at_ns - reported[0].at_ns)} later: {each.data}"
            expected = f"{MIGRATION} is not written once the state is POST_MIGRATION"
            evidence = f"event {reported[0].seq}"
            rows.violated(_POST, violation_at(history, expected, observed, each.at_ns, evidence))


def _finalized_ns(history: History) -> int | None:
    edges = [each for each in history.states(PHASE) if each.what.state == Phase.FINALIZED.name]
    return edges[0].at_ns if edges else None


def _violation(history: History, log: LogImage, expected: str, observed: str) -> Violation:
    return timed_violation(history, expected, observed, log.ended_ns, log.file)
