"""Check of the whole way: the documented steps end in FINALIZED, with one release of Kafka in every phase."""

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.documents.kip_866.procedure import STEPS
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import PHASE, Event
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.events.steps import StepBegan, StepEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict

_HAPPY, _BRIDGE = "K866-TEST-happy-path", "K866-PROC-bridge-release"


@checker(
    _HAPPY,
    _BRIDGE,
    in_every_run=lambda history: bool(history.of(StepBegan)),
    anomaly="procedure without its end",
)
def documented_steps_end_finalized(history: History) -> Verdict:
    """Where all steps of the procedure were done the migration is finalized by the last, whatever was broken before.

    The nodes of such a run were of one release throughout: ZooKeeper and KRaft are in it side by side. A step that
    fails before anything was broken violates.
    """
    rows = ByRequirement(_HAPPY, _BRIDGE)
    names = [step.name for step in STEPS]
    ended = [each for each in history.of(StepEnded) if each.what.step in names]
    done = {each.what.step for each in ended if each.what.outcome == "done"}
    finalized = [each for each in history.states(PHASE) if each.what.state == Phase.FINALIZED.name]
    for failed in (each for each in ended if each.what.outcome == "failed"):
        if not faults_during(history, 0, failed.at_ns):
            observed = f"it failed: {failed.what.reason}"
            _violated(history, rows, failed, f"{failed.what.step} is done", observed)
    if done == set(names) and finalized:
        rows.looked_at(_HAPPY)
        starts = history.of(NodeStarted)
        software = {(each.what.kafka, each.what.digest) for each in starts}
        rows.looked_at(_BRIDGE, len(software) == 1)
    elif done == set(names) and not faults_during(history, 0, ended[-1].at_ns):
        _violated(history, rows, ended[-1], "the migration is finalized when all steps are done", "it is not")
    return rows.verdict("all documented steps were done, and the migration is finalized", "not every step was done")


def _violated(history: History, rows: ByRequirement, event: Event, expected: str, observed: str) -> None:
    rows.violated(
        _HAPPY, timed_violation(history, expected, observed, event.at_ns, f"event {event.seq}"), Kind.LIVENESS
    )
