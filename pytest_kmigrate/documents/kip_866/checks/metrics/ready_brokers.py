"""Check of ``MigratingZkBrokerCount``: brokers that are away are not ready, and not counted."""

from collections import Counter, defaultdict

from pytest_kmigrate.checkers.controllers.lives import roles
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.broker_modes import BrokerAt, brokers_at
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST, LACKED_BY
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import always, checker
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, not_applicable, violates

_METRIC = "MigratingZkBrokerCount"
_NOTICED_NS = 15_000_000_000
"""By then the controllers have fenced a broker whose heartbeats ended: its session is 9 s."""


@checker("K866-METRIC-MigratingZkBrokerCount-offline", in_every_run=always, needs=[Capability.METRICS])
def only_live_brokers_count_as_ready(history: History) -> Verdict:
    """``MigratingZkBrokerCount`` of the active controller leaves out brokers in migration mode that have gone away.

    Judged from 15 s after a broker had stopped, died or been paused, until it was started or resumed.
    """
    if history.header.kafka.startswith(LACKED_BY[_METRIC]):
        return not_applicable(f"this release has no {_METRIC}")
    of_node, looked_at, are_registrations = defaultdict[str, list[tuple[Sample, int]]](list), Counter[str](), True
    for sample in _of_active(history):
        brokers = brokers_at(history, sample.at_ns)
        migrating = [each for each in brokers if each.is_migrating]
        gone = [each for each in migrating if _is_gone(each, sample)]
        if gone:
            looked_at[sample.node] += 1
            count, ready = sample.values[_METRIC] or 0, len(migrating) - len(gone)
            if count > ready:
                of_node[sample.node].append((sample, ready))
                # One that starts in another mode has its former registration until it has made the new one.
                are_registrations &= count <= sum(each.is_migrating or each.ready_ns is None for each in brokers)
    standing = [reported for reported in of_node.values() if len(reported) >= FEWEST]
    if standing:
        found = [_violation(history, *reported[0], reported[-1][0]) for reported in standing]
        # It misleads an operator; no metadata is at stake, which is what SAFETY says.
        return violates(Kind.LIVENESS, found, are_registrations=are_registrations)
    if max(looked_at.values(), default=0) < FEWEST:
        text = f"no controller reported {FEWEST} times while a broker was away for more than {span(_NOTICED_NS)}"
        return inconclusive(Kind.VACUOUS, text)
    return conforms(f"{counted(looked_at.total(), 'sample')} with a broker away, none of which counts it")


def _of_active(history: History) -> list[Sample]:
    by_role = roles(history)
    return [
        each
        for each in history.samples
        if by_role.get(each.node) == "controller"
        and each.values.get("ActiveControllerCount") == 1
        and each.values.get(_METRIC) is not None
    ]


def _is_gone(broker: BrokerAt, sample: Sample) -> bool:
    return broker.away_ns is not None and sample.at_ns - broker.away_ns >= _NOTICED_NS


def _violation(history: History, first: Sample, ready: int, last: Sample) -> Violation:
    observed = f"{first.node} reported {first.values[_METRIC]:g}, for {span(last.at_ns - first.at_ns)}"
    expected = f"{_METRIC} is {ready} at most: the others are away"
    return timed_violation(history, expected, observed, first.at_ns, "metrics/metrics.jsonl")
