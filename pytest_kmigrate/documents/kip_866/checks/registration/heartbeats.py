"""Check of the heartbeats of brokers: one that runs is unfenced, whatever its mode, as long as nothing disturbs it."""

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during, phase_at
from pytest_kmigrate.checkers.evidence.wording import counted, listed, span
from pytest_kmigrate.documents.kip_866.checks.broker_modes import BrokerAt, brokers_at
from pytest_kmigrate.documents.kip_866.checks.leading import UNSEEN_NS, is_of_a_migration, leading
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST
from pytest_kmigrate.documents.kip_866.checks.settled import LOG
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import always, checker
from pytest_kmigrate.model.events.evidence import SnapshotTaken
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict

_ROW = "K866-REG-heartbeat"
_ACTIVE, _FENCED = "ActiveBrokerCount", "FencedBrokerCount"
_UNFENCED_NS = 60_000_000_000
"""By then a broker that is ready is unfenced: it sends a heartbeat every 2 s, and its session is 9 s."""
_PHASES = (Phase.PREPARING.name, Phase.COPYING.name, Phase.HYBRID.name, Phase.ALL_KRAFT.name)


@dataclass(frozen=True)
class _Moment:
    """When a controller had led, and these brokers had been ready, for so long, with nothing to disturb either."""

    at_ns: int
    brokers: tuple[BrokerAt, ...]


@checker(
    _ROW,
    in_every_run=always,
    anomaly="broker that runs stays fenced",
    needs=[Capability.METRICS],
)
def brokers_that_run_are_unfenced(history: History) -> Verdict:
    """Brokers send heartbeats, so that the controllers have unfenced each one of theirs that has been ready for 60 s.

    By what the active controller counts: fenced brokers, and fewer active ones than run. By an image of the metadata
    log, too, which names them. The same controller has led for 60 s then, no fault was in force, and the migration is
    enabled and not finalized. Brokers that are not registered are ``brokers_register_before_the_takeover``'s.
    """
    rows = ByRequirement(_ROW)
    reported = [(moment, sample) for sample, moment in _reported(history)]
    rows.looked_at(_ROW, len(reported) if len(reported) >= FEWEST else 0)
    lacking = [(moment, sample) for moment, sample in reported if _lacks(sample, moment)]
    if len(lacking) >= FEWEST:
        (first, sample), (_, last) = lacking[0], lacking[-1]
        active, fenced = sample.values[_ACTIVE] or 0, sample.values[_FENCED] or 0
        lasted = span(last.at_ns - first.at_ns)
        observed = f"{sample.node} counts {active:g} active and {fenced:g} fenced ones, for {lasted}"
        _violated(history, rows, first, last.at_ns, observed, "metrics/metrics.jsonl")
    named = set[str]()
    for moment, file, fenced_ids in _in_images(history):
        rows.looked_at(_ROW)
        if stay := [each.name for each in moment.brokers if each.node_id in fenced_ids]:
            named |= set(stay)
            observed = f"the metadata log has {listed(stay, 'broker')} fenced"
            _violated(history, rows, moment, moment.at_ns, observed, file)
    text = f"the brokers that ran were unfenced, {counted(len(reported), 'time')} that a controller counted them"
    uncounted = max((_lacks(sample, moment) for moment, sample in reported), default=0)
    lacking_all = f"no controller led for {span(_UNFENCED_NS)} while a broker of its ran undisturbed"
    return rows.verdict(text, lacking_all, fenced=sorted(named), uncounted=uncounted)


def _reported(history: History) -> Iterator[tuple[Sample, _Moment]]:
    """Samples of the active controller that count brokers, each of a moment at which there was one to count."""
    for sample, since_ns in leading(history):
        if sample.values.get(_ACTIVE) is not None and sample.values.get(_FENCED) is not None:
            moment = _moment(history, sample, since_ns, sample.at_ns)
            if moment is not None:
                yield sample, moment


def _in_images(history: History) -> Iterator[tuple[_Moment, str, set[str]]]:
    """Images of the metadata log at such moments: the file, and the ids of the brokers that it has fenced."""
    led = list(leading(history))
    for event in history.of(SnapshotTaken):
        image, at_ns = history.images.get(event.what.label), event.at_ns
        before = [each for each in led if 0 <= at_ns - each[0].at_ns <= UNSEEN_NS]
        if image is None or image.source != LOG or not before:
            continue
        # A broker that left while the image was read is none of this moment.
        moment = _moment(history, *before[-1], at_ns)
        if moment is not None:
            brokers = image.of_log.get("brokers", {})
            yield moment, event.what.file, {str(name) for name, each in brokers.items() if each.get("fenced")}


def _moment(history: History, led: Sample, since_ns: int, at_ns: int) -> _Moment | None:
    from_ns = at_ns - _UNFENCED_NS
    if since_ns > from_ns or phase_at(history, at_ns) not in _PHASES or not is_of_a_migration(history, led):
        return None
    brokers = tuple(
        each
        for each in brokers_at(history, at_ns)
        if each.is_controlled and each.away_ns is None and each.ready_ns is not None and each.ready_ns <= from_ns
    )
    return _Moment(at_ns, brokers) if brokers and not faults_during(history, from_ns, at_ns) else None


def _lacks(sample: Sample, moment: _Moment) -> int:
    """How many of the brokers that run it counts as fenced, at least."""
    return int(min(sample.values[_FENCED] or 0, max(0, len(moment.brokers) - (sample.values[_ACTIVE] or 0))))


def _violated(
    history: History, rows: ByRequirement, first: _Moment, last_ns: int, observed: str, evidence: str
) -> None:
    number = counted(len(first.brokers), "broker")
    expected = f"{number}, ready for {span(_UNFENCED_NS)}, send heartbeats and are unfenced"
    awaited = (first.at_ns - _UNFENCED_NS, last_ns)
    violation = timed_violation(history, expected, observed, first.at_ns, evidence, awaited=awaited)
    rows.violated(_ROW, violation, Kind.LIVENESS)
