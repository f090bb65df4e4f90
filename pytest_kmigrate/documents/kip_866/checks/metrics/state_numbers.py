"""Check of the numbers by which ``ZkMigrationState`` reports the state of a migration to its observers."""

from pytest_kmigrate.checkers.controllers.lives import processes
from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import when
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import LACKED_BY, told_by
from pytest_kmigrate.documents.kip_866.phases import DOCUMENTED_NUMBERS, ZkMigrationState
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import always, checker
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, not_applicable, violates

_METRIC = "ZkMigrationState"
_DOCUMENTED = {state.value: number for state, number in DOCUMENTED_NUMBERS.items()}


@checker("K866-METRIC-ZkMigrationState", in_every_run=always, needs=[Capability.METRICS])
def migration_state_has_its_documented_number(history: History) -> Verdict:
    """An active controller reports each state of the migration by the number that KIP-866 gives it.

    The name is the one that the release means by its number; one that has published no image yet reports -1, which is
    no state. That any state but NONE was seen is what makes it more than a default.
    Source: K866-METRIC-ZkMigrationState.
    """
    if history.header.kafka.startswith(LACKED_BY[_METRIC]):
        return not_applicable(f"this release has no {_METRIC}")
    by_state = {told_by(history, sample, _METRIC): sample for sample in reversed(_told(history))}
    wrong = [each for state, each in by_state.items() if _number(each) != _DOCUMENTED.get(state)]
    if wrong:
        found = [_undocumented(history, sample) for sample in wrong]
        # It misleads observers; no record and no metadata is at stake, which is what SAFETY says.
        numbers = {told_by(history, each, _METRIC): _number(each) for each in wrong}
        return violates(Kind.LIVENESS, found, numbers=numbers)
    if not by_state.keys() - {ZkMigrationState.NONE.value}:
        return inconclusive(Kind.VACUOUS, "no active controller reported a migration")
    return conforms(f"{counted(len(by_state), 'state')} reported by the documented numbers")


def _told(history: History) -> list[Sample]:
    """What controllers reported of the state that said they were active."""
    return [
        each
        for samples in processes(history, "controller")
        for each in samples
        if each.values.get("ActiveControllerCount") == 1 and _number(each) >= 0
    ]


def _number(sample: Sample) -> float:
    number = sample.values.get(_METRIC)
    return -1 if number is None else number


def _undocumented(history: History, sample: Sample) -> Violation:
    state = told_by(history, sample, _METRIC)
    number = _DOCUMENTED.get(state)
    expected = f"{_METRIC} is {number} in {state}" if number is not None else f"{_METRIC} is one of 0 to 3"
    observed = f"{sample.node} reported {_number(sample):g} for {state}, {when(history, sample.at_ns)}"
    return violation_at(history, expected, observed, sample.at_ns, "metrics/metrics.jsonl")
