"""Check of the state that brokers in ZooKeeper mode report: their active controller reports 1, no other anything."""

from collections.abc import Iterator, Sequence

from pytest_kmigrate.catalogue import is_before
from pytest_kmigrate.checkers.controllers.lives import processes
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST
from pytest_kmigrate.documents.kip_866_draft.checks.states import has_phases
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict

_ROW, _METRIC = "K866D-METRIC-ZkMigrationState-from-zk-controller", "ZkMigrationState"
_INELIGIBLE = 1
_FIRST_TO_MIGRATE = "3.4.0"


@checker(_ROW, in_every_run=has_phases, needs=[Capability.METRICS])
def the_zookeeper_controller_reports_ineligible(history: History) -> Verdict:
    """While a broker in ZooKeeper mode is the active controller its ``ZkMigrationState`` is 1, and nothing otherwise.

    Judged by the samples that say whether the broker is the active controller; three of a process are needed.
    """
    rows = ByRequirement(_ROW)
    for active, others in _asked(history):
        if len(active) >= FEWEST:
            _judge(history, rows, active, "is the active controller", _INELIGIBLE)
        if len(others) >= FEWEST:
            _judge(history, rows, others, "is not the active controller", None)
    return rows.verdict(
        "the active ZooKeeper controller reports 1, and no other broker a state",
        "no broker in ZooKeeper mode was the active controller for long enough",
    )


def _asked(history: History) -> Iterator[tuple[list[Sample], list[Sample]]]:
    """Of each process in ZooKeeper mode: what it reported as the active controller, and otherwise.

    Releases that know nothing of a migration take no part in one.
    """
    for samples in processes(history, "broker"):
        asked = [each for each in samples if _METRIC in each.values and not _is_too_old(history, each)]
        yield (
            [each for each in asked if each.values.get("ActiveControllerCount") == 1],
            [each for each in asked if each.values.get("ActiveControllerCount") == 0],
        )


def _is_too_old(history: History, sample: Sample) -> bool:
    started = [e for e in history.of(NodeStarted) if e.node == sample.node and e.at_ns <= sample.at_ns]
    return bool(started) and is_before(started[-1].what.kafka, _FIRST_TO_MIGRATE)


def _judge(history: History, rows: ByRequirement, samples: Sequence[Sample], who: str, due: int | None) -> None:
    wrong = [each for each in samples if each.values[_METRIC] != due]
    if len(wrong) < FEWEST:
        # That a broker reports nothing is no sign that the active one reports 1.
        rows.looked_at(_ROW, len(samples) if due is not None else 0)
        return
    numbers = " or ".join(dict.fromkeys(_told(each) for each in wrong))
    observed = f"{wrong[0].node} reports {numbers} and {who}"
    expected = f"a broker that {who} reports {_METRIC} {due or 'not at all'}"
    violation = timed_violation(history, expected, observed, wrong[0].at_ns, "metrics/metrics.jsonl")
    rows.violated(_ROW, violation, Kind.LIVENESS)


def _told(sample: Sample) -> str:
    number = sample.values[_METRIC]
    return "nothing" if number is None else f"{number:g}"
