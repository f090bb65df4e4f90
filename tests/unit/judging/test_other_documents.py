"""A run is judged by another document: what is the same is inherited, the rest is judged anew."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.documents import document
from pytest_kmigrate.judging.judge import judge_folder
from pytest_kmigrate.judging.other_documents import evidence_by, judged_as, judged_by, judging
from pytest_kmigrate.judging.rejudge import judge_again
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Outcome, Verdict
from pytest_kmigrate.recording.disagreement import Disagreement
from tests.unit.checkers.controllers.quorums import LEADER, QUORUM, reported, two_leaders
from tests.unit.checkers.histories import event, history
from tests.unit.reports.recorded_runs import faulty_run

DRAFT = document("kip-866-draft")
CHECKS = {"checks": [{"name": "expectations_met", "arguments": {}}]}


def run_of(*rows: str) -> History:
    """A run of the final document with an unmet expectation that speaks for these rows."""
    unmet = ExpectationEnded("brokers were rolled", "yes", "no", met=False, kind="SAFETY", within_s=1, took_ms=1000)
    expected = replace(unmet, requirements=rows).event(0, 1, None)
    return history(events=[expected, event(EventKind.CHECKS, 2, **CHECKS)])


def by_draft(*rows: str) -> Verdict:
    """What that expectation is to the draft."""
    verdicts = judged_as(DRAFT, run_of(*rows))
    return next(each for each in verdicts if each.check == "expectations_met")


def test_a_verdict_is_inherited_by_the_rows_that_are_the_same() -> None:
    """One row of the final document may be two of the draft."""
    verdict = by_draft("K866-TRIG-ibp", "K866-REC-state-values")
    assert verdict.outcome is Outcome.VIOLATES
    assert verdict.requirements == ("K866D-MV-all-brokers", "K866D-TRIG-1")


def test_a_violation_of_other_rows_is_none_of_the_document() -> None:
    """Nothing of it is left, if the document has no such row."""
    verdicts = judged_as(DRAFT, run_of("K866-REC-state-values"))
    assert not [each for each in verdicts if each.outcome is Outcome.VIOLATES]


def test_what_is_left_of_a_violation_of_other_rows_conforms() -> None:
    """One expectation of a row that is the same was met, another one of a row that is not was missed."""
    run = run_of("K866-REC-state-values")
    met = ExpectationEnded("the answer", "yes", "yes", met=True, kind="SAFETY", within_s=1, took_ms=1)
    events = [*run.events, replace(met, requirements=["K866-TRIG-ibp"]).event(9, 1, None)]
    verdicts = judged_as(DRAFT, replace(run, events=events))
    (verdict,) = (each for each in verdicts if each.check == "expectations_met")
    assert (verdict.outcome, verdict.violations, verdict.count) == (Outcome.CONFORMS, (), 0)


def test_only_a_document_that_says_so_judges_a_run_of_another_one() -> None:
    """The run's own, and one that says so; the error names them."""
    assert judging("kip-866", "kip-866").id == "kip-866"
    assert judging("kip-866-draft", "kip-866") is DRAFT
    with pytest.raises(
        WrongUseError, match=r"judges a run of kip-866 \(kip-866, kip-500, kip-866-draft\), got kip-125"
    ):
        judging("kip-125", "kip-866")


def test_verdicts_of_another_document_are_not_compared_with_the_stored_ones(tmp_path: Path) -> None:
    """They are of other requirements."""
    folder = faulty_run(tmp_path).end(3000)
    judge_folder(folder)
    again = judge_again(folder.path, "kip-866-draft")
    assert (again.profile, again.header.profile, again.differences) == ("kip-866-draft", "kip-866", ())


def test_a_quorum_is_judged_by_its_own_document_in_a_run_of_another_one() -> None:
    """Of what that other document says nothing is taken over: they have no row in common."""
    unmet = run_of("K866-REC-state-values")
    run = replace(unmet, events=[*QUORUM, *unmet.events], samples=two_leaders())
    assert run.header.profile == "kip-866"
    (red,) = (each for each in judged_as(document("kip-500"), run) if each.outcome is Outcome.VIOLATES)
    assert (red.check, red.requirements) == ("one_quorum_leader_per_epoch", ("K500-QRM-active-is-leader",))


def test_what_proves_nothing_in_a_run_of_another_document_is_not_held_against_a_row() -> None:
    """Where the harness had trouble, what holds is INCONCLUSIVE; a violation stands."""
    of, row = document("kip-500"), "K500-QRM-active-is-leader"
    trouble = event(EventKind.HARNESS_TROUBLE, 3, what="the disk", error="full")
    held = history(
        events=[*QUORUM, trouble, event(EventKind.CHECKS, 2000)],
        samples=reported("controller-3000", *[(7, LEADER)] * 3),
    )
    assert [each.outcome for verdict in judged_by(of, held) for each in verdict.about] == [Outcome.INCONCLUSIVE]
    assert not [each for verdict in evidence_by(of, held) for each in verdict.about]
    broken = replace(held, samples=two_leaders())
    assert [each.requirement for verdict in evidence_by(of, broken) for each in verdict.about] == [row]


def test_a_test_that_ended_early_proves_nothing_elsewhere() -> None:
    """What it shows of another document would conform if it had asked for its checks."""
    row, samples = "K500-QRM-active-is-leader", reported("controller-3000", *[(7, LEADER)] * 3)
    for asked, rows in (([event(EventKind.CHECKS, 2000)], [row]), ([], [])):
        found = evidence_by(document("kip-500"), history(events=[*QUORUM, *asked], samples=samples))
        assert [each.requirement for verdict in found for each in verdict.about] == rows


def test_evidence_that_does_not_fit_together_proves_nothing_elsewhere() -> None:
    """A violation in it stands."""
    of, doubtful = document("kip-500"), [Disagreement("one", "another")]
    held = history(
        events=[*QUORUM, event(EventKind.CHECKS, 2000)], samples=reported("controller-3000", *[(7, LEADER)] * 3)
    )
    assert not [each for verdict in evidence_by(of, held, doubtful) for each in verdict.about]
    broken = replace(held, samples=two_leaders())
    assert [each.outcome for verdict in evidence_by(of, broken, doubtful) for each in verdict.about] == [
        Outcome.VIOLATES
    ]
