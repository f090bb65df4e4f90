"""Facts about the checks of steps and expectations: conforming, violating, inconclusive."""

from typing import Any

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.run.steps import expectations_met, steps_completed
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome, Violation
from tests.unit.checkers.histories import MS, event, fault, history


def step(at_ms: int, outcome: str | None = "done", reason: str = "") -> list[Event]:
    """A step that began, and how it ended a second later; None: it never did."""
    began = event(EventKind.STEP_BEGAN, at_ms, step="finalize")
    ended = event(EventKind.STEP_ENDED, at_ms + 1000, step="finalize", outcome=outcome, reason=reason)
    return [began, ended] if outcome else [began]


def expectation(at_ms: int = 0, **more: Any) -> Event:
    """An expectation that came true, by default."""
    data: dict[str, Any] = {"expected": [], "observed": [], "met": True, "kind": "SAFETY"}
    data |= {"name": "topics that live on", "within_s": 30, **more}
    return Event(0, at_ms * MS, EventKind.EXPECTATION, None, data)


def test_completed_steps_conform() -> None:
    """Steps done, or stopped on purpose, conform; the summary counts them."""
    verdict = steps_completed.judge(history(events=[*step(0), *step(2000, "stopped")]))
    assert (verdict.outcome, verdict.summary) == (Outcome.CONFORMS, "2 migration steps completed")


def test_a_failed_step_violates() -> None:
    """The violation is one of liveness, and names step, reason and event."""
    verdict = steps_completed.judge(history(events=[*step(0), *step(2000, "failed", "phase HYBRID: not within 120 s")]))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    (violation,) = verdict.violations
    assert violation.expected == "step finalize completes"
    assert "phase HYBRID: not within 120 s" in violation.observed
    assert "event 3" in violation.evidence


def test_a_failed_step_violates_the_requirements_that_it_names() -> None:
    """Once; a step that was completed speaks for none."""
    failed = event(EventKind.STEP_ENDED, 2000, step="finalize", outcome="failed", reason="late", requirements=["ROW"])
    (about,) = steps_completed.judge(history(events=[*step(0), step(1000)[0], failed])).about
    assert (about.requirement, about.outcome, about.kind, about.seen) == ("ROW", Outcome.VIOLATES, Kind.LIVENESS, 1)
    assert steps_completed.judge(history(events=step(0))).about == ()


def test_a_step_that_failed_under_a_fault_is_inconclusive() -> None:
    """Progress is demanded only while no fault is in force."""
    verdict = steps_completed.judge(history(events=[*fault(500), *step(1000, "failed")]))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_a_step_that_never_ended_is_no_pass() -> None:
    """A run that was killed in mid-step, or whose step raised something else, completed nothing."""
    assert steps_completed.judge(history(events=step(0, outcome=None))).outcome is Outcome.INCONCLUSIVE


def test_a_healed_fault_excuses_nothing() -> None:
    """Once healed, a fault no longer excuses a step that fails later."""
    healed = event(EventKind.FAULT_HEALED, 900, fault_id="kill(active-controller)")
    verdict = steps_completed.judge(history(events=[*fault(500), healed, *step(1000, "failed")]))
    assert verdict.outcome is Outcome.VIOLATES


def test_without_steps_there_is_nothing_to_judge() -> None:
    """A run that migrates nothing is not applicable."""
    assert steps_completed.judge(history()).outcome is Outcome.NOT_APPLICABLE


def test_expectations_that_came_true_conform() -> None:
    """The summary names them."""
    verdict = expectations_met.judge(history(events=[expectation()]))
    assert (verdict.outcome, verdict.summary) == (Outcome.CONFORMS, "1 expectation met: topics that live on")


def test_an_unmet_expectation_violates_with_its_own_kind() -> None:
    """The violation has what was expected and what was observed."""
    unmet = expectation(5, met=False, observed=["doomed-1"], kind="LIVENESS")
    verdict = expectations_met.judge(history(events=[expectation(), unmet]))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    (violation,) = verdict.violations
    assert violation.expected == "topics that live on: []"
    assert violation.observed.startswith("['doomed-1'] after 30 s")


def test_of_several_kinds_safety_wins() -> None:
    """One safety violation among liveness ones makes the verdict one of safety."""
    events = [expectation(1, met=False, kind="LIVENESS"), expectation(2, met=False, kind="SAFETY")]
    assert expectations_met.judge(history(events=events)).kind is Kind.SAFETY


def test_of_several_kinds_of_one_requirement_safety_wins() -> None:
    """What did not come in time may be excused; what was wrong beside it is not."""
    late, wrong = (expectation(5, met=False, kind=each, requirements=["ROW"]) for each in ("LIVENESS", "SAFETY"))
    for both in ([late, wrong], [wrong, late]):
        (about,) = expectations_met.judge(history(events=both)).about
        assert (about.kind, len(about.observed)) == (Kind.SAFETY, 2)
    rows = ByRequirement("ROW")
    for kind in (Kind.LIVENESS, Kind.SAFETY):
        rows.violated("ROW", Violation("a", kind.name), kind)
    assert [each.kind for each in rows.verdict("", "").about] == [Kind.SAFETY]


def test_no_expectation_is_inconclusive() -> None:
    """A test that expected nothing proves nothing."""
    verdict = expectations_met.judge(history())
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_what_a_test_only_asked_is_not_judged() -> None:
    """Vacuous alone; beside a claim it changes nothing."""
    asked = expectation(met=False, kind=None)
    assert expectations_met.judge(history(events=[asked])).outcome is Outcome.INCONCLUSIVE
    both = expectations_met.judge(history(events=[asked, expectation(1)]))
    assert (both.outcome, both.summary) == (Outcome.CONFORMS, "1 expectation met: topics that live on")
