"""Departures from the document that are meant to be, or do no harm: metrics, and checks' own values."""

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence

from pytest_kmigrate.checkers.controllers.lives import processes
from pytest_kmigrate.checkers.controllers.raft_logs import high_watermark
from pytest_kmigrate.documents.kip_866.checks.copying.beginning import migration_begins_when_every_node_is_ready
from pytest_kmigrate.documents.kip_866.checks.metrics.active_only import only_the_active_controller_reports
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST
from pytest_kmigrate.documents.kip_866.checks.metrics.ready_brokers import only_live_brokers_count_as_ready
from pytest_kmigrate.documents.kip_866.checks.metrics.standbys import (
    former_controllers_report_no_lag,
    standbys_report_no_migration_metrics,
)
from pytest_kmigrate.documents.kip_866.checks.metrics.state_numbers import migration_state_has_its_documented_number
from pytest_kmigrate.documents.kip_866.checks.metrics.zookeeper_brokers import (
    zookeeper_brokers_report_no_migration_state,
)
from pytest_kmigrate.documents.kip_866.checks.states.recorded_numbers import (
    recorded_states_have_their_documented_numbers,
)
from pytest_kmigrate.documents.kip_866.phases import ZkMigrationState
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.events.nodes import NodeReady
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.verdict import Verdict, Violation

_AROUND_NS = 3_000_000_000
"""Samples of two controllers are not taken at one moment, nor does each replay the log at once."""
_NEARLY = 5
"""Records that are written while the metrics of one sample are read."""
_NO_IMAGE = -1
"""The ZkMigrationState of a controller that has not loaded the metadata log yet; no state has this number."""
_LAG = "ZkWriteBehindLag"
_NUMBERS = (migration_state_has_its_documented_number, recorded_states_have_their_documented_numbers)
_SWAPPED = {ZkMigrationState.PRE_MIGRATION.value: 2, ZkMigrationState.MIGRATION.value: 1}


@diagnosis("metrics-of-the-image")
def standbys_report_what_the_active_controller_does(history: History, verdict: Verdict) -> bool:
    """Each value of a standby is one that the active controller reported at the time: both show the same image."""
    metrics = verdict.listed("metrics") or [str(verdict.facts.get("metric"))]
    is_about = (
        verdict.is_of(only_the_active_controller_reports, standbys_report_no_migration_metrics) and _LAG not in metrics
    )
    return is_about and all(_is_of_the_image(history, metric) for metric in metrics)


def _is_of_the_image(history: History, metric: str) -> bool:
    compared = 0
    for sample, beside, around, reads in _compared(history):
        shown = sample.values.get(metric) or 0
        if shown <= 0:
            continue
        if beside:
            compared += 1
            others = itertools.chain(beside, around, *(_active_at(history, read) for read in reads))
            if not any(each.values.get(metric) == shown for each in others):
                return False
    return compared >= FEWEST


def _active_at(history: History, read: float) -> Iterator[Sample]:
    """What active controllers reported when so much of the log was committed."""
    by_log = _by_log(history)
    first = bisect_left(by_log, read - _NEARLY, key=high_watermark)
    return itertools.takewhile(lambda each: high_watermark(each) <= read + _NEARLY, by_log[first:])


@kept
def _by_log(history: History) -> list[Sample]:
    return sorted((each for each in _of_active(history) if high_watermark(each) >= 0), key=high_watermark)


@kept
def _compared(history: History) -> list[tuple[Sample, Sequence[Sample], Sequence[Sample], Sequence[float]]]:
    """Each sample of a standby, those of active controllers at the time, others whose values it may show, its logs.

    While none is active, after a crash, standbys report what the last one did before it died, or what the next one
    will; a standby replays the records of either a little later. One that was paused reports what it did before, until
    it has replayed what was written meanwhile. One that is cut off shows what is committed by the last high watermark
    that it knew, and one that has just learned another still what was by the one before.
    """
    active = sorted(_of_active(history), key=lambda each: each.at_ns)
    times = [each.at_ns for each in active]
    found: list[tuple[Sample, Sequence[Sample], Sequence[Sample], Sequence[float]]] = []
    for sample, before, reads in _of_standbys(history):
        first, end = bisect_left(times, sample.at_ns - _AROUND_NS), bisect_right(times, sample.at_ns + _AROUND_NS)
        beside = active[_last_of_the_former(active, times, first, end) : end]
        later = bisect_right(times, sample.at_ns)
        last_ns = times[first - 1] - (_AROUND_NS if later == first else 0) if first else 0
        around = [*active[bisect_left(times, last_ns) : first], *active[later : later + 1]]
        found.append((sample, beside, [*around, *([before] if before else [])], reads))
    return found


def _last_of_the_former(active: list[Sample], times: list[int], first: int, end: int) -> int:
    """Where samples that a standby may show begin, if another controller becomes active between ``first`` and ``end``.

    What the former one wrote last, standbys learn to be committed from its successor only.
    """
    successors = (number for number in range(max(first, 1), end) if active[number].node != active[number - 1].node)
    return min((bisect_left(times, times[number - 1] - _AROUND_NS) for number in successors), default=first)


@diagnosis("numbers-of-the-states")
def two_numbers_are_swapped(_: History, verdict: Verdict) -> bool:
    """Of the numbers that differ from KIP-866's, that of PRE_MIGRATION is 2 and that of MIGRATION is 1."""
    numbers = verdict.facts.get("numbers")
    stated = numbers if verdict.is_of(*_NUMBERS) and isinstance(numbers, Mapping) else {}
    return bool(stated) and all(_SWAPPED.get(state) == number for state, number in stated.items())


@diagnosis("KAFKA-15532")
def standbys_count_from_a_write_of_their_own(history: History, verdict: Verdict) -> bool:
    """The lag of each standby grows with the log: it counts from what this controller wrote itself, long ago."""
    if (
        not verdict.is_of(only_the_active_controller_reports, former_controllers_report_no_lag)
        or verdict.facts.get("metric") != _LAG
    ):
        return False
    grown = [
        (_grown(row, _LAG), _grown(row, "RaftHighWatermark"))
        for row in processes(history, "controller")
        for row in [[each for each in row if _is_standby(each) and (each.values.get(_LAG) or 0) > 0]]
        if len(row) >= FEWEST
    ]
    return bool(grown) and all(lag > 0 and abs(lag - log) <= _NEARLY for lag, log in grown)


def _of_standbys(history: History) -> Iterator[tuple[Sample, Sample | None, Sequence[float]]]:
    """The samples of controllers that are not active, and their log; soon after a pause, the last one before it.

    The log is the highest high watermark by now, and by the sample before, as far as they are known: the image follows.
    """
    for samples in processes(history, "controller"):
        answered: Sample | None = None
        before, again_ns, read = answered, 0, -1.0
        for each in samples:
            former, read = read, max(read, high_watermark(each))
            is_answer = any(value is not None for value in each.values.values())
            if is_answer and answered is not None and answered.at_ns < each.at_ns - _AROUND_NS:
                before, again_ns = answered, each.at_ns
            answered = each if is_answer else answered
            if _is_standby(each):
                known = [watermark for watermark in (former, read) if watermark >= 0]
                yield each, before if each.at_ns <= again_ns + _AROUND_NS else None, known


def _of_active(history: History) -> Iterator[Sample]:
    """The samples of controllers that said that they are active, from their first image on: until then nothing shows.

    A controller elected right after its start may load it seconds later than a standby does.
    """
    for samples in processes(history, "controller"):
        is_active = (each for each in samples if each.values.get("ActiveControllerCount") == 1)
        yield from (each for each in is_active if each.values.get("ZkMigrationState") != _NO_IMAGE)


def _is_standby(sample: Sample) -> bool:
    return sample.values.get("ActiveControllerCount") == 0


def _grown(row: list[Sample], metric: str) -> float:
    return (row[-1].values.get(metric) or 0) - (row[0].values.get(metric) or 0)


_OF_ZOOKEEPER = 4.0
"""The number that Kafka has for the side of ZooKeeper, which is no state of a migration."""


@diagnosis("zookeeper-brokers-report-a-state")
def brokers_report_the_number_of_zookeeper(_: History, verdict: Verdict) -> bool:
    """All that brokers in ZooKeeper mode report as the state is 4."""
    is_about = verdict.is_of(zookeeper_brokers_report_no_migration_state)
    return is_about and verdict.facts.get("numbers") == [_OF_ZOOKEEPER]


@diagnosis("fenced-brokers-counted-as-ready")
def registrations_are_counted(_: History, verdict: Verdict) -> bool:
    """The count is never above that of the brokers which registered: those that are away are counted, and no others."""
    return verdict.is_of(only_live_brokers_count_as_ready) and verdict.facts.get("are_registrations") is True


@diagnosis("takeover-without-a-controller")
def controllers_were_down(history: History, verdict: Verdict) -> bool:
    """All that was not ready at the take-over is controllers, of which a majority was up: they elected the leader.

    Each of them had been ready before it went down. That nothing begins, in another log, is no take-over.
    """
    is_about = verdict.is_of(migration_begins_when_every_node_is_ready)
    not_ready = verdict.listed("not_ready") if is_about else []
    are_controllers = bool(not_ready) and all(each.startswith("controller-") for each in not_ready)
    return are_controllers and all(_was_ready_before(history, not_ready, each) for each in verdict.violations)


def _was_ready_before(history: History, not_ready: Sequence[str], violation: Violation) -> bool:
    """Whether a violation is about a controller that had been ready, and was down by then."""
    name, at_ns = violation.observed.partition(" ")[0], violation.at_ns
    ready = [each for each in history.of(NodeReady) if each.node == name and at_ns is not None and each.at_ns < at_ns]
    return name in not_ready and bool(ready)
