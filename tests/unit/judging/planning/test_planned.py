"""``kmigrate judge`` knows what a run of each test of this release has to show."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_kmigrate.judging.coherence.coherence import COHERENT
from pytest_kmigrate.judging.rejudge import judge_again
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.recording.run_folder import RunFolder
from tests.unit.certificates.vendors import PLANNED, change_events, header_of, plan_these
from tests.unit.judging.coherence.honest_runs import Line, change_header, honest_run, judged_anew, sealed_anew


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """An honest run of a planned test."""
    plan_these(monkeypatch, tmp_path / "plans", PLANNED)
    return honest_run(tmp_path / "runs", header_of(1))


def without_a_check(line: Line) -> Line:
    """The test asks for one check less."""
    return {**line, "data": {"checks": line["data"]["checks"][1:]}} if line["kind"] == "checks" else line


def without_the_fault(line: Line) -> Line | None:
    """Nothing was broken."""
    return None if line["kind"].startswith("fault-") or line["kind"] == "node-stopped" else line


def without_the_phase(line: Line) -> Line | None:
    """The migration went no further than its preparation."""
    return None if line["data"].get("state") == "HYBRID" else line


def test_a_run_of_its_plan_conforms(folder: RunFolder) -> None:
    """Checks, faults and phases are there."""
    assert judge_again(folder.path).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        (without_a_check, "the plan has the check no_acked_record_lost with {}, but the run did not ask for it"),
        (without_the_fault, "the plan has the fault kill(active-controller), but the run has no witness of it"),
        (without_the_phase, "the plan has the phase HYBRID, but the run never came to it"),
    ],
)
def test_a_run_of_less_conforms_in_nothing(
    folder: RunFolder, change: Callable[[Line], Line | None], reported: str
) -> None:
    """What is asked of the run is not what its test asks for."""
    change_events(folder, change)
    again = judge_again(sealed_anew(folder).path)
    assert again.outcome is Outcome.INCONCLUSIVE
    (found,) = [verdict for verdict in again.verdicts if verdict.check == COHERENT]
    assert reported in found.summary


def test_nothing_is_known_of_another_source(folder: RunFolder) -> None:
    """A run of an older test asked for what that one did."""
    change_events(folder, without_a_check)
    change_header(folder, extra={"source_digest": "0" * 64})
    assert judge_again(judged_anew(sealed_anew(folder)).path).outcome is Outcome.CONFORMS


def test_a_test_that_ended_early_is_no_contradiction(folder: RunFolder) -> None:
    """It asked for nothing, and is inconclusive for that reason alone."""
    change_events(folder, lambda line: None if line["kind"] == "checks" else line)
    again = judge_again(sealed_anew(folder).path)
    assert again.outcome is Outcome.INCONCLUSIVE
    assert COHERENT not in [verdict.check for verdict in again.verdicts]
