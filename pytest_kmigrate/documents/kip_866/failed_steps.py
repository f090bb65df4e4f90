"""Steps of the procedure that failed, as the checks of a run judge them; diagnoses ask what these waited for."""

import re
from collections.abc import Collection

from pytest_kmigrate.checkers.evidence.moments import failed_steps
from pytest_kmigrate.checkers.run.steps import steps_completed
from pytest_kmigrate.documents.kip_866.checks.phases_reached import phase_reached
from pytest_kmigrate.documents.kip_866.checks.procedure.whole_way import documented_steps_end_finalized
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.steps import StepEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict
from pytest_kmigrate.procedures.moves import BACK_IN_SYNC

_FAILED = "it failed: "
_RESTARTED = re.compile(rf"the replicas of (\S+) {BACK_IN_SYNC}")
_LACKING = "UnderReplicatedPartitions"


def blamed_steps(history: History, verdict: Verdict) -> list[Recorded[StepEnded]]:
    """The failed steps that a verdict is about; none if it is about something else, or about more than these."""
    steps = failed_steps(history)[0]
    if verdict.is_of(documented_steps_end_finalized) and all(
        each.observed.startswith(_FAILED) for each in verdict.violations
    ):
        return steps if verdict.count <= len(steps) else []
    return steps if verdict.is_of(steps_completed, phase_reached) else []


def waits_for_leaders(history: History, step: Recorded[StepEnded], leaders: Collection[str]) -> bool:
    """Whether a step waited for the replicas of a restarted broker, and none but these leaders lacked one at its end.

    The broker that was restarted is not waited for as a leader.
    """
    restarted = _RESTARTED.search(step.what.reason)
    if restarted is None or not set(leaders) - {restarted[1]}:
        return False
    last = {each.node: each.values.get(_LACKING) for each in history.samples if each.at_ns <= step.at_ns}
    return {node for node, lacking in last.items() if lacking} <= {*leaders, restarted[1]}
