"""Check of the time before the take-over: the quorum elects a leader, and brokers register with it."""

from collections.abc import Iterator

from pytest_kmigrate.checkers.controllers.lives import roles
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during, phase_at
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST, LACKED_BY
from pytest_kmigrate.documents.kip_866.checks.nodes.starts import start_at
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import always, checker
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, not_applicable, violates

_METRIC = "MigratingZkBrokerCount"
_REGISTERED_NS = 30_000_000_000
"""By then a broker in migration mode that is ready has registered with the controllers."""
_UNSEEN_NS = 3_000_000_000
"""A leader that was not seen for so long may have been restarted meanwhile, and brokers have to find it anew."""


@checker("K866-PRE-allow-raft-reg-heartbeat", in_every_run=always, needs=[Capability.METRICS])
def brokers_register_before_the_takeover(history: History) -> Verdict:
    """In PREPARING the controllers have a leader, and it counts the brokers in migration mode that came up.

    Judged by what the active controller reports, from 30 s after a broker was ready and that controller was first seen
    to lead, under no fault. Brokers know nothing of a quorum that has no migration enabled.
    """
    name = "brokers_register_before_the_takeover"
    if history.header.kafka.startswith(LACKED_BY[_METRIC]):
        return not_applicable(name, f"this release has no {_METRIC}")
    leading = [each for each in _leading(history) if phase_at(history, each[0].at_ns) == Phase.PREPARING.name]
    preparing = [each for each in leading if _migrates(history, each[0])]
    registered = [each for each, _ in preparing if _counted(each) > 0]
    unregistered = [each for each in preparing if _counted(each[0]) < _known(history, *each)]
    if len(unregistered) >= FEWEST:
        return violates(name, Kind.LIVENESS, [_violation(history, *unregistered[0])])
    if not registered:
        return inconclusive(name, Kind.VACUOUS, "no broker came up in migration mode before a take-over")
    return conforms(name, f"{counted(len(registered), 'sample')} of a leader that counts brokers before the take-over")


def _of_active(history: History) -> list[Sample]:
    by_role = roles(history)
    reported = [each for each in history.samples if by_role.get(each.node) == "controller"]
    return [each for each in reported if each.values.get("ActiveControllerCount") == 1]


def _leading(history: History) -> Iterator[tuple[Sample, int]]:
    """The samples of active controllers, each with the time since when that one has been seen to lead."""
    last: Sample | None = None
    since_ns = 0
    for each in _of_active(history):
        if last is None or each.node != last.node or each.at_ns - last.at_ns > _UNSEEN_NS:
            since_ns = each.at_ns
        last = each
        yield each, since_ns


def _counted(sample: Sample) -> float:
    return sample.values.get(_METRIC) or 0


def _migrates(history: History, sample: Sample) -> bool:
    start = start_at(history, sample.node, sample.at_ns)
    return start is None or start.is_migrating


def _known(history: History, sample: Sample, leads_since_ns: int) -> int:
    """How many brokers in migration mode must have registered: they were ready, and there was a leader, long before."""
    brokers = [each for each in brokers_at(history, sample.at_ns) if each.is_migrating and each.away_ns is None]
    since_ns = sample.at_ns - _REGISTERED_NS
    if leads_since_ns > since_ns or faults_during(history, since_ns, sample.at_ns):
        return 0
    return sum(each.ready_ns is not None and each.ready_ns <= since_ns for each in brokers)


def _violation(history: History, sample: Sample, leads_since_ns: int) -> Violation:
    observed = f"{sample.node} counts {_counted(sample):g}"
    expected = f"{_known(history, sample, leads_since_ns)} brokers, ready for {span(_REGISTERED_NS)}, are registered"
    return timed_violation(history, expected, observed, sample.at_ns, "metrics/metrics.jsonl")
