"""Check of the whole way."""

from pytest_kmigrate.documents.kip_866.checks.procedure.whole_way import documented_steps_end_finalized
from pytest_kmigrate.documents.kip_866.procedure import STEPS
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, fault, history, phase
from tests.unit.documents.kip_866.checks.nodes import broker
from tests.unit.documents.kip_866.checks.outcomes import looked_at

FINALIZED = phase(40_000, "FINALIZED")


def stepped(*events: Event, last: str = "done", steps: int = 4) -> History:
    """These steps of the procedure, all done but perhaps the last one."""
    taken = [step.name for step in STEPS[:steps]]
    outcomes = ["done"] * (steps - 1) + [last]
    ended = [
        event(EventKind.STEP_ENDED, 10_000 * at, step=name, outcome=outcome, reason="")
        for at, (name, outcome) in enumerate(zip(taken, outcomes, strict=True), 1)
    ]
    return history(events=[event(EventKind.STEP_BEGAN, 1, step=taken[0]), *broker(0), *ended, *events])


def test_all_steps_that_end_finalized_conform() -> None:
    """Conforming: also where something was broken on the way."""
    for events in ([FINALIZED], [FINALIZED, *fault(5_000)]):
        verdict = documented_steps_end_finalized.judge(stepped(*events))
        assert looked_at(verdict) == dict.fromkeys(("TEST-happy-path", "PROC-bridge-release"), "CONFORMS")


def test_another_end_violates() -> None:
    """Violating: a step failed, or the last one did not finalize."""
    for run in (stepped(last="failed"), stepped(last="failed", steps=2), stepped()):
        verdict = documented_steps_end_finalized.judge(run)
        assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
        assert looked_at(verdict) == {"TEST-happy-path": "VIOLATES"}


def test_a_part_of_the_way_or_a_fault_proves_nothing() -> None:
    """Vacuous: three steps, one that failed under a fault, one that did not finalize after a fault."""
    for run in (stepped(steps=3), stepped(*fault(5_000), last="failed"), stepped(*fault(5_000))):
        assert documented_steps_end_finalized.judge(run).outcome is Outcome.INCONCLUSIVE


def test_two_releases_say_nothing_of_one_that_has_both() -> None:
    """Vacuous: the bridge release is one, and a build of its version is another."""
    for kafka, digest in (("3.8.1", None), ("3.9.1", "0a1b2c3d")):
        node = {"role": "broker", "mode": "kraft", "kafka": kafka, "digest": digest}
        run = stepped(FINALIZED, event(EventKind.NODE_STARTED, 2, "broker-2", **node))
        assert looked_at(documented_steps_end_finalized.judge(run)) == {"TEST-happy-path": "CONFORMS"}
