"""Checks of the metrics of a migration: they say what the metadata log holds, and how far ZooKeeper is behind."""

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER
from pytest_kmigrate.checkers.controllers.lives import roles
from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation, violation_at
from pytest_kmigrate.checkers.evidence.moments import healed_ns, targets_of, when
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.leading import leading
from pytest_kmigrate.documents.kip_866.checks.log_images import LogImage, has_log_images, log_images
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import (
    MIGRATION,
    has_place,
    is_given_up_at,
    offset_in,
)
from pytest_kmigrate.documents.kip_866.phases import ZkMigrationState, zk_migration_state
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.events.faults import FaultApplied
from pytest_kmigrate.model.events.steps import ActiveControllerChanged
from pytest_kmigrate.model.history import History, Sample, ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, not_applicable, violates

LACKED_BY = {
    "ZkMigrationState": ("3.3.", "3.4.", "4."),
    "MigratingZkBrokerCount": ("3.3.", "3.4.", "3.5.", "4."),
    "ZkWriteBehindLag": ("3.3.", "3.4.", "3.5.", "4."),
}
"""Releases that do not have a metric yet, or not any more; any other that does not show it breaks a promise."""

_OF_LOGS = ("ZkMigrationState", "MigratingZkBrokerCount")
_NEAR_NS = 2_000_000_000
"""Samples so near to an image are of the same moment: a few, with one of before and one of after a change."""
FEWEST = 3
"""Samples that prove something: one may be of before and after a change, its values are not read at one moment."""
_NOTHING = "nothing"
_STANDS_NS = 20_000_000_000
"""For so long no release reports a former state: it reads the one that it has applied."""
_LONG_NS = 30_000_000_000  # by then a controller that goes on has caught up
_NONE_BEHIND = 1  # the gauge subtracts two readings, and a no-op may be written between them


@checker(
    *(f"K866-METRIC-{metric}" for metric in _OF_LOGS),
    in_every_run=lambda history: has_log_images(history) or bool(_unlike_what_is_written(history)),
    anomaly="metric unlike the log",
    needs=[Capability.METRICS, Capability.METADATA_LOG],
)
def migration_metrics_agree_with_the_log(history: History) -> Verdict:
    """The active controller reports the state, and the number of brokers in migration mode, that its log holds.

    Around each image of the log at least one sample must agree, by the state's name, whatever its number; what a
    standby reports counts for nothing. Brokers that are fenced are registered still, and counted. If a metric
    could not be compared (the release lacks it, or there are too few samples), its requirement stays undecided.
    Without an image a state is wrong, too, if it is another one than MIGRATION for 20 s while that controller writes
    to ZooKeeper how far it has come.
    Source: K866-METRIC-ZkMigrationState, K866-METRIC-MigratingZkBrokerCount.
    """
    rows = ByRequirement(*(_row(metric) for metric in _OF_LOGS))
    images, compared = log_images(history), Counter[str]()
    for log in images:
        near = _of_active(history, log.began_ns - _NEAR_NS, log.ended_ns + _NEAR_NS)
        for metric, held in _held(log).items():
            reported = [told_by(history, sample, metric) for sample in near]
            if len(reported) < FEWEST or history.header.kafka.startswith(LACKED_BY[metric]):
                continue
            compared[metric] += 1
            if held in reported:
                rows.looked_at(_row(metric))
            else:
                wrong = _disagreement(history, log, f"{metric} of the active controller is {held}", reported)
                rows.violated(_row(metric), wrong)
    written = _unlike_what_is_written(history)
    for wrong in written:
        rows.violated(_row("ZkMigrationState"), wrong)
    if images and not compared and not written:
        text = "no image of a metadata log has samples of an active controller around it"
        return not_applicable(text)
    text = f"{counted(compared.total(), 'metric')} compared with the metadata log, all as it holds them"
    return rows.verdict(text, "no image of a metadata log was taken")


def _unlike_what_is_written(history: History) -> list[Violation]:
    """Leaders that reported another state for long than the one in which they wrote, one violation each."""
    found, dual_write = [], ZkMigrationState.MIGRATION.value
    if history.header.kafka.startswith(LACKED_BY["ZkMigrationState"]):
        return []
    reported = (
        (sample, since_ns, told_by(history, sample, "ZkMigrationState")) for sample, since_ns in leading(history)
    )
    for (node, _, state), row in itertools.groupby(reported, lambda each: (each[0].node, each[1], each[2])):
        samples = [sample for sample, _, _ in row]
        from_ns, to_ns = samples[0].at_ns + _NEAR_NS, samples[-1].at_ns
        if to_ns - from_ns < _STANDS_NS or state in (dual_write, _NOTHING):
            continue
        places = {offset_in(each) for each in _written_by(history, node) if from_ns <= each.at_ns <= to_ns}
        if len(places) >= FEWEST:
            expected = f"ZkMigrationState is {dual_write} while {node} writes to ZooKeeper"
            observed = f"it was {state} for {span(to_ns - from_ns)}, in which {MIGRATION} got {len(places)} offsets"
            found.append(timed_violation(history, expected, observed, to_ns, "metrics/metrics.jsonl"))
    return found


def _written_by(history: History, node: str) -> list[ZnodeChange]:
    """What a controller wrote to ``/migration`` after a copy."""
    changes = (each for each in history.znodes if each.path == MIGRATION and has_place(each))
    return [each for each in changes if node.endswith(f"-{held_in(each).get('kraft_controller_id')}")]


def _row(metric: str) -> str:
    return f"K866-METRIC-{metric}"


@checker("K866-METRIC-ZkWriteBehindLag-outage", needs=[Capability.METRICS])
def zookeeper_lag_grows_and_falls_back(history: History) -> Verdict:
    """While ZooKeeper cannot be written ZkWriteBehindLag shows a backlog, and soon afterwards there is none.

    Of the active controller, in dual write; ZooKeeper cannot be written while a fault takes all of it away and
    ``/migration`` is not seen to change. A controller that took over meanwhile reports no lag before its own first
    write, which is known. That there is none while the same controller does not write any more is not true.
    Source: K866-METRIC-ZkWriteBehindLag-outage.
    """
    if history.header.kafka.startswith(LACKED_BY["ZkWriteBehindLag"]):
        return not_applicable("this release has no ZkWriteBehindLag")
    outages = [(outage, _lags(history, outage.began_ns, outage.ended_ns, outage.nodes)) for outage in _outages(history)]
    seen = [(outage, lags) for outage, lags in outages if len(lags) >= FEWEST]
    if not seen:
        return inconclusive(Kind.VACUOUS, "ZooKeeper was never seen to be out of reach of a controller that reports")
    flat = [_never_grew(history, outage, lags) for outage, lags in seen if max(lags.values()) <= 0]
    if flat:
        return violates(Kind.SAFETY, flat)
    healed_ns = seen[-1][0].ended_ns
    after = _lags(history, healed_ns, history.end_ns, frozenset())
    caught_up_ns = min((at_ns for at_ns, lag in after.items() if lag <= _NONE_BEHIND), default=None)
    last_ns = max(after, default=healed_ns)
    if caught_up_ns is not None and not is_given_up_at(history, last_ns):
        most = counted(int(max(max(lags.values()) for _, lags in seen)), "record")
        return conforms(f"ZooKeeper was {most} behind, and had caught up {span(caught_up_ns - healed_ns)} later")
    if last_ns < healed_ns + _LONG_NS:
        return inconclusive(Kind.VACUOUS, "the run ended before ZooKeeper had to have caught up")
    found = (
        _never_fell(history, last_ns - healed_ns, after) if caught_up_ns is None else _never_caught_up(history, last_ns)
    )
    return violates(Kind.LIVENESS, [found])


@dataclass(frozen=True)
class _Outage:
    """A time in which these controllers (none: all of them) could not write to ZooKeeper."""

    began_ns: int
    ended_ns: int
    nodes: frozenset[str]


def _outages(history: History) -> Iterator[_Outage]:
    by_role = roles(history)
    ensemble = {node for node, role in by_role.items() if role == "zookeeper"}
    healed = healed_ns(history)
    for event in history.of(FaultApplied):
        targets, ended_ns = targets_of(event), healed.get(event.what.fault_id)
        if not ensemble or not ensemble <= targets or ended_ns is None:
            continue
        began_ns = event.at_ns + _NEAR_NS  # what was under way has ended, and was seen
        written_ns, claimed_ns = (_last_change_ns(history, path, ended_ns) for path in (MIGRATION, CONTROLLER))
        # Without ZooKeeper no node can claim /controller; the observer reports such a take-over.
        is_taken_over = any(event.at_ns <= each.at_ns < ended_ns for each in history.of(ActiveControllerChanged))
        # Who has not written to ZooKeeper yet since it took over reports no lag, whatever there is.
        if claimed_ns < written_ns <= began_ns and not is_taken_over:
            yield _Outage(began_ns, ended_ns, frozenset(targets - ensemble))


def _last_change_ns(history: History, path: str, until_ns: int) -> int:
    return max((each.at_ns for each in history.znodes if each.path == path and each.at_ns < until_ns), default=-1)


def _lags(history: History, from_ns: int, to_ns: int, nodes: frozenset[str]) -> dict[int, float]:
    """How far behind the active controller said it was in dual write, by the time of the sample."""
    dual_write = ZkMigrationState.MIGRATION.value
    found = {}
    for sample in _of_active(history, from_ns, to_ns):
        lag = sample.values.get("ZkWriteBehindLag")
        is_of_outage = not nodes or sample.node in nodes
        if is_of_outage and lag is not None and told_by(history, sample, "ZkMigrationState") == dual_write:
            found[sample.at_ns] = lag
    return found


def _of_active(history: History, from_ns: int, to_ns: int) -> list[Sample]:
    """What controllers reported that said they were active."""
    by_role = roles(history)
    return [
        sample
        for sample in history.samples
        if from_ns <= sample.at_ns <= to_ns
        and by_role.get(sample.node) == "controller"
        and sample.values.get("ActiveControllerCount") == 1
    ]


def _held(log: LogImage) -> dict[str, str]:
    """Each metric, and what the log holds of it."""
    state, brokers = _OF_LOGS
    held = {brokers: str(log.migrating_brokers)}
    return {state: str(log.states[-1]), **held} if log.states else held


def told_by(history: History, sample: Sample, metric: str) -> str:
    """What a sample reports: a state by its name, any other metric as its number; "nothing" where it has none."""
    number = sample.values.get(metric)
    if number is None:
        return _NOTHING
    if metric == "ZkMigrationState":
        state = zk_migration_state(int(number), history.header.kafka)
        return state.value if state else f"the number {number:g}"
    return f"{number:g}"


def _disagreement(history: History, log: LogImage, expected: str, reported: list[str]) -> Violation:
    observed = f"it was {', then '.join(dict.fromkeys(reported))}, {when(history, log.ended_ns)}"
    return violation_at(history, expected, observed, log.ended_ns, log.file)


def _never_grew(history: History, outage: _Outage, lags: dict[int, float]) -> Violation:
    observed = f"it was {max(lags.values()):g} at most in {counted(len(lags), 'sample')}, up to {span(outage.ended_ns)}"
    return violation_at(history, "ZkWriteBehindLag grows while ZooKeeper cannot be written", observed, outage.ended_ns)


def _never_fell(history: History, took_ns: int, after: dict[int, float]) -> Violation:
    last_ns = max(after)
    observed = f"it was {min(after.values()):g} at least, and {after[last_ns]:g} {span(took_ns)} later"
    return violation_at(history, "ZkWriteBehindLag falls back once ZooKeeper can be written", observed, last_ns)


def _never_caught_up(history: History, last_ns: int) -> Violation:
    observed = f"it is {_NONE_BEHIND} at most, and {MIGRATION} was not written any more up to {span(last_ns)}"
    return violation_at(history, "ZkWriteBehindLag falls back when ZooKeeper is written again", observed, last_ns)
