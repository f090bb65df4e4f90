"""Allure results of one run."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.catalogue import known_bug
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, inconclusive
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.reports.one_run.allure_results import categories
from pytest_kmigrate.reports.one_run.run_reports import write_run_reports
from tests.unit.reports.recorded_runs import GREEN, faulty_run, lost, with_header

BEGAN_MS = 1_772_359_200_000
"""2026-03-01T10:00:00 UTC."""


def _result(folder: RunFolder) -> dict[str, Any]:
    write_run_reports(folder)
    (file,) = folder.allure.glob("*-result.json")
    content: dict[str, Any] = json.loads(file.read_text())
    assert file.name == f"{content['uuid']}-result.json"
    return content


def _categories_of(message: str, status: str) -> list[str]:
    """As Allure sorts a result: status among the statuses, and the whole message matches."""
    return [
        str(each["name"])
        for each in categories()
        if status in str(each["matchedStatuses"]) and re.fullmatch(str(each.get("messageRegex", r"[\s\S]*")), message)
    ]


def test_a_red_run_tells_what_was_violated_when_and_why(tmp_path: Path) -> None:
    """Status failed; the message has expected, observed, when, evidence, the known bug and how to run it again."""
    result = _result(faulty_run(tmp_path).end(3000, GREEN, lost(1250, "event 5"), bugs=["KAFKA-17146"]))

    assert result["status"] == "failed"
    assert result["statusDetails"]["known"] is True
    assert result["statusDetails"]["message"].splitlines() == [
        "VIOLATES (SAFETY) no_acked_record_lost: 1 of 100 acknowledged records was lost",
        f"  {known_bug('KAFKA-17146').described}",
        "  expected: every acknowledged record is read",
        "  observed: orders-2 at 411 was <never> read",
        "  when: 1.25 s, in HYBRID, 0.25 s after kill(active-controller) began",
        "  evidence: event 5",
        "again: pytest suites/kip_866/test_faults.py --kmigrate-seed 7",
    ]


def test_kip_area_and_requirement_file_the_result(tmp_path: Path) -> None:
    """Epic, feature and story; the conditions are parameters; the name is the test's own."""
    result = _result(faulty_run(tmp_path).end(3000, GREEN))

    labels = {label["name"]: label["value"] for label in result["labels"]}
    assert labels["epic"] == "KIP-866"
    assert labels["feature"]
    assert labels["story"] == "K866-TEST-controller-failures"
    assert {"host", "thread"}.isdisjoint(labels)
    assert result["name"] == "test_takes_over[kill(active::controller)]"
    parameters = {each["name"]: each["value"] for each in result["parameters"]}
    assert parameters["requirements"] == "K866-TEST-controller-failures"
    assert (parameters["seed"], parameters["kafka"], parameters["topology"]) == (
        "7",
        "3.6.0",
        "zk1-broker3-controller3",
    )


def test_an_unknown_requirement_or_profile_is_reported_all_the_same(tmp_path: Path) -> None:
    """A run of another release has its results too."""
    header = with_header(requirements=("K999-unheard-of",), profile="kip-866-draft")
    result = _result(faulty_run(tmp_path, header).end(3000, GREEN))

    labels = {label["name"]: label["value"] for label in result["labels"]}
    assert labels["feature"] == "not in this catalogue"
    assert labels["epic"] == "KIP-866 (draft)"


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ([GREEN], "passed"),
        ([GREEN, lost(1250)], "failed"),
        ([GREEN, inconclusive(Kind.VACUOUS, "nothing was acknowledged").by("x")], "broken"),
        ([Verdict("x", Outcome.NOT_APPLICABLE, summary="needs links")], "skipped"),
        ([], "broken"),
    ],
)
def test_status_is_the_worst_verdict(tmp_path: Path, verdicts: list[Verdict], status: str) -> None:
    """INCONCLUSIVE and a run that was never judged are broken, never passed."""
    assert _result(faulty_run(tmp_path).end(3000, *verdicts))["status"] == status


def test_an_interrupted_run_says_so(tmp_path: Path) -> None:
    """The message of a run without verdicts is the reason, not silence."""
    result = _result(faulty_run(tmp_path).cut_off())

    assert result["status"] == "broken"
    assert "No verdicts: the run was interrupted" in result["statusDetails"]["message"]


def test_steps_and_faults_have_their_times(tmp_path: Path) -> None:
    """Migration steps and faults are steps, in the order they began, on the wall clock."""
    run = faulty_run(tmp_path)
    run.at(2100, EventKind.STEP_BEGAN, step="finalize")
    run.at(2200, EventKind.STEP_ENDED, step="finalize", outcome="failed", reason="never reached FINALIZED")
    result = _result(run.end(3000, GREEN))

    reported = [
        (step["name"], step["status"], step["start"] - BEGAN_MS, step["stop"] - BEGAN_MS) for step in result["steps"]
    ]
    assert reported == [
        ("roll-brokers-to-kraft", "passed", 300, 2000),
        ("fault: kill(active-controller) · controller-3000", "passed", 1020, 1600),
        ("finalize", "failed", 2100, 2200),
    ]
    assert (result["start"], result["stop"]) == (BEGAN_MS, BEGAN_MS + 3000)


def test_evidence_is_attached(tmp_path: Path) -> None:
    """Timeline, verdicts, history, metrics, header and a log per node; every file named is there and not empty."""
    run = faulty_run(tmp_path)
    run.log("controller-3000", "a line\n")
    run.sample(100, "controller-3000", ZkWriteBehindLag=0.0)
    folder = run.end(3000, GREEN)
    result = _result(folder)

    assert {each["name"] for each in result["attachments"]} == {
        "timeline.html",
        "verdicts.jsonl",
        "history.jsonl",
        "metrics.jsonl",
        "run.json",
        "controller-3000.log.txt",
    }
    assert all((folder.allure / each["source"]).stat().st_size for each in result["attachments"])


def test_history_follows_test_and_conditions(tmp_path: Path) -> None:
    """The same test under the same conditions has one history over all nights, each of which has another seed.

    Another release has its own.
    """
    changes: dict[str, dict[str, Any]] = {"a": {}, "b": {}, "seed": {"seed": 8}, "kafka": {"kafka": "3.9.1"}}
    ids = [
        _result(faulty_run(tmp_path / name, with_header(run_id=name, **changed)).end(3000, GREEN))
        for name, changed in changes.items()
    ]

    first, again, other_seed, other_release = [each["historyId"] for each in ids]
    assert first == again == other_seed
    assert other_release != first
    assert [each["name"] for each in ids[0]["parameters"] if each.get("excluded")] == ["seed"]
    assert len({each["uuid"] for each in ids}) == 4
    assert len({each["testCaseId"] for each in ids}) == 1


def test_a_second_report_replaces_the_first(tmp_path: Path) -> None:
    """A folder judged again has one result, with the new status."""
    folder = faulty_run(tmp_path).end(3000, lost(1250))
    before = _result(folder)
    folder.verdicts.unlink()
    after = _result(folder)

    assert (before["status"], after["status"]) == ("failed", "broken")
    assert before["uuid"] == after["uuid"]
    assert len(list(folder.allure.iterdir())) == len(after["attachments"]) + len(
        ("result", "environment", "categories")
    )


def test_categories_name_the_known_bug_and_only_that(tmp_path: Path) -> None:
    """A red run is filed under its bugs; without any, as unexplained; a bug's number is matched whole."""
    bugs = ["KAFKA-16121", "apache/kafka#14237"]
    message = _result(faulty_run(tmp_path).end(3000, lost(1250), bugs=bugs))["statusDetails"]["message"]

    assert bugs == [name.partition(": ")[0] for name in _categories_of(message, "failed")]
    assert _categories_of("VIOLATES x", "failed") == ["Violations that no known Kafka bug explains"]
    assert [name for name in _categories_of("  known as KAFKA-161210 (defect)\n", "failed") if "KAFKA" in name] == []
    assert _categories_of("", "broken") == ["Inconclusive: harness, environment or evidence"]


def test_a_bug_that_explains_half_does_not_excuse_the_rest(tmp_path: Path) -> None:
    """With one red check explained and one not, the failure is not a known one."""
    run = faulty_run(tmp_path)
    folder = run.end(3000, lost(1250), bugs=["KAFKA-16121"])
    plain = json.loads(folder.verdicts.read_text())
    folder.verdicts.write_text(
        "".join(json.dumps({**plain, "known_bugs": bugs}) + "\n" for bugs in (["KAFKA-16121"], []))
    )

    assert "known" not in _result(folder)["statusDetails"]


def test_the_environment_is_written_as_java_properties(tmp_path: Path) -> None:
    """What Allure shows beside the results; a backslash is doubled."""
    folder = faulty_run(tmp_path, with_header(kafka="C:\\kafka")).end(3000, GREEN)
    write_run_reports(folder)

    assert "Kafka=C:\\\\kafka\n" in (folder.allure / "environment.properties").read_text()
