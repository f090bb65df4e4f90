"""Check of the time before the take-over: the quorum elects a leader, and brokers register with it."""

from collections.abc import Iterator, Sequence

from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during, phase_at
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.leading import UNSEEN_NS, is_of_a_migration, leading
from pytest_kmigrate.documents.kip_866.checks.log_images import log_images
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST, LACKED_BY
from pytest_kmigrate.documents.kip_866.checks.registration.records import (
    MIGRATING,
    REGISTER,
    REGISTRATION_CHANGE,
    LogRecords,
    records_of_logs,
)
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import always, checker
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates

_METRIC = "MigratingZkBrokerCount"
_REGISTERED_NS = 30_000_000_000
"""By then a broker in migration mode that is ready has registered with the controllers."""
_UNFENCED = -1
"""What a change of a registration has as ``fenced`` if the broker is unfenced by it."""


@checker("K866-PRE-allow-raft-reg-heartbeat", in_every_run=always, needs=[Capability.METRICS, Capability.METADATA_LOG])
def brokers_register_before_the_takeover(history: History) -> Verdict:
    """In PREPARING the controllers have a leader, register the brokers in migration mode, and hear their heartbeats.

    Conforming by the metadata log alone: a broker in migration mode is registered in it, and unfenced, which a
    heartbeat asks for, before anything is copied. Violated also by what the active controller counts, from 30 s after a
    broker was ready and that controller was first seen to lead, under no fault; as by an image of the log that was
    read then. Brokers know nothing of a quorum that has no migration enabled.
    """
    led = [each for each in leading(history) if phase_at(history, each[0].at_ns) == Phase.PREPARING.name]
    preparing = [each for each in led if is_of_a_migration(history, each[0])]
    found = [*_not_counted(history, preparing), *_not_recorded(history, preparing)]
    if found:
        return violates(Kind.LIVENESS, found)
    copied_from = {each.file: each.copied_from for each in log_images(history)}
    logs = [(each, copied_from.get(each.file)) for each in records_of_logs(history)]
    heard = {broker for log in logs for broker in _heard_until(*log)}
    if not heard:
        return inconclusive(Kind.VACUOUS, "no image of the metadata log has a broker before a copy")
    return conforms(f"{counted(len(heard), 'broker')} registered and unfenced before anything was copied")


def _not_counted(history: History, preparing: Sequence[tuple[Sample, int]]) -> list[Violation]:
    """What the leader's gauge leaves out, where the release has it."""
    if history.header.kafka.startswith(LACKED_BY[_METRIC]):
        return []
    unregistered = [each for each in preparing if _counted(each[0]) < _known(history, each[0].at_ns, each[1])]
    if len(unregistered) < FEWEST:
        return []
    sample, since_ns = unregistered[0]
    observed = f"{sample.node} counts {_counted(sample):g}"
    return [_violation(history, sample.at_ns, since_ns, observed, "metrics/metrics.jsonl")]


def _not_recorded(history: History, preparing: Sequence[tuple[Sample, int]]) -> Iterator[Violation]:
    """What images of the log leave out that were read soon after a leader was seen."""
    for log in log_images(history):
        if phase_at(history, log.began_ns) == Phase.PREPARING.name:
            before = [each for each in preparing if 0 <= log.began_ns - each[0].at_ns <= UNSEEN_NS]
            if before and log.migrating_brokers < _known(history, log.began_ns, before[-1][1]):
                observed = f"{log.migrating_brokers} are in the metadata log"
                yield _violation(history, log.began_ns, before[-1][1], observed, log.file)


def _heard_until(log: LogRecords, offset: int | None) -> set[int]:
    """The brokers that the controllers registered in migration mode and unfenced, both before this offset."""
    before = [each for each in log.records if offset is None or each["offset"] < offset]
    epochs = {
        each["data"]["brokerEpoch"] for each in before if each["type"] == REGISTER and each["data"].get(MIGRATING)
    }
    return {
        each["data"]["brokerId"]
        for each in before
        if each["type"] == REGISTRATION_CHANGE
        and each["data"].get("fenced") == _UNFENCED
        and each["data"]["brokerEpoch"] in epochs
    }


def _counted(sample: Sample) -> float:
    return sample.values.get(_METRIC) or 0


def _known(history: History, at_ns: int, leads_since_ns: int) -> int:
    """How many brokers in migration mode must have registered: they were ready, and there was a leader, long before."""
    brokers = [each for each in brokers_at(history, at_ns) if each.is_migrating and each.away_ns is None]
    since_ns = at_ns - _REGISTERED_NS
    if leads_since_ns > since_ns or faults_during(history, since_ns, at_ns):
        return 0
    return sum(each.ready_ns is not None and each.ready_ns <= since_ns for each in brokers)


def _violation(history: History, at_ns: int, leads_since_ns: int, observed: str, evidence: str) -> Violation:
    expected = f"{_known(history, at_ns, leads_since_ns)} brokers, ready for {span(_REGISTERED_NS)}, are registered"
    return timed_violation(history, expected, observed, at_ns, evidence)
