"""ducktape's report.json: of a session and of one test, with tests that were run again."""

import datetime as dt
import json

import pytest

from pytest_kmigrate.analysis.foreign.ducktape import read_ducktape
from pytest_kmigrate.analysis.foreign.results import Reading
from pytest_kmigrate.reports.pages.publication import report_json
from pytest_kmigrate.reports.summary.summary import summary_of
from tests.unit.reports.fabricated_tables import ABOUT, season

START_S = 1_772_359_200.5

FAILED_TWICE = """run 1 summary:
TimeoutError("not ready")
Traceback (most recent call last):
~~~~~~~~~~~~~~~~~~~~~~~~~~
run 2 summary:
AssertionError('lost 3')
~~~~~~~~~~~~~~~~~~~~~~~~~~
run 2: PASSED"""


def _result(status: str, **changed: object) -> dict[str, object]:
    return {
        "test_id": "kafkatest.tests.core.upgrade_test.TestUpgrade.test_upgrade.from=3.6.metadata_quorum=COMBINED_KRAFT",
        "test_status": status,
        "summary": "Test Passed",
        "start_time": START_S,
        "stop_time": START_S + 90,
        "run_time_seconds": 90.0,
        "injected_args": {"metadata_quorum": "COMBINED_KRAFT", "kafka_version": "3.9.1"},
        "nodes_used": 5,
        **changed,
    }


def _session(*results: object) -> str:
    return json.dumps({"ducktape_version": "0.12.0", "results": results, "num_passed": 1})


@pytest.mark.parametrize(
    ("status", "outcome", "kind"),
    [
        ("PASS", "CONFORMS", None),
        ("FAIL", "VIOLATES", "LIVENESS"),
        ("IGNORE", "NOT_APPLICABLE", None),
        ("OPASS", "CONFORMS", None),
        ("OFAIL", "VIOLATES", "LIVENESS"),
        ("pass", "CONFORMS", None),
    ],
)
def test_each_status_has_its_outcome(status: str, outcome: str, kind: str | None) -> None:
    """What a test came to, with its time and the arguments that name conditions of a cluster."""
    (result,) = read_ducktape(_session(_result(status))).results
    assert (result.outcome.name, result.kind.value if result.kind else None) == (outcome, kind)
    assert result.duration_ms == 90_000.0
    assert result.started_at == dt.datetime.fromtimestamp(START_S, dt.UTC)
    assert result.conditions == {"topology": "COMBINED_KRAFT", "kafka": "3.9.1"}


def test_a_failure_that_is_ok_is_known_as_such() -> None:
    """A fork lets tests fail: such a failure counts, and needs no human."""
    known = [read_ducktape(_session(_result(status))).results[0].known_as for status in ("OFAIL", "FAIL", "OPASS")]
    assert known == [("ok to fail",), (), ()]


@pytest.mark.parametrize(
    ("report", "is_doubt"),
    [({"schema": 1}, False), ({"results": [{"name": "t"}]}, False)],
)
def test_a_report_of_another_tool_is_named(report: object, is_doubt: bool) -> None:
    """The name is a common one: only what is known to hold results of tests leaves a verdict open."""
    (unread,) = read_ducktape(json.dumps(report)).unread
    assert unread.is_doubt == is_doubt


def test_a_flaky_test_failed_as_often_as_its_summary_tells() -> None:
    """Each failed run is an attempt with what it died of; the last one passed and has the times."""
    first, second, last = read_ducktape(_session(_result("FLAKY", summary=FAILED_TWICE))).results
    assert [each.outcome.name for each in (first, second, last)] == ["VIOLATES", "VIOLATES", "CONFORMS"]
    assert first.summary.startswith('TimeoutError("not ready")')
    assert "~" not in first.summary
    assert (second.summary, second.check) == ("AssertionError('lost 3')", "AssertionError")
    assert (first.duration_ms, last.duration_ms, last.summary) == (None, 90_000.0, "")


def test_equal_failures_of_several_runs_are_attempts_each() -> None:
    """A summary of three runs at once is three attempts, the last of which has the times."""
    results = read_ducktape(_session(_result("FAIL", summary="runs 1, 2, 3 summary:\nno leader"))).results
    assert [(each.outcome.name, each.summary) for each in results] == [("VIOLATES", "no leader")] * 3
    assert [each.duration_ms for each in results] == [None, None, 90_000.0]


def test_a_number_that_no_run_has_is_none_of_a_run() -> None:
    """Python refuses to read one of thousands of digits."""
    (result,) = read_ducktape(_session(_result("FAIL", summary=f"run {'7' * 5_000} summary:\nno leader"))).results
    assert result.outcome.name == "VIOLATES"


def test_a_flaky_test_without_a_summary_failed_once() -> None:
    """That it is flaky says that it failed before."""
    results = read_ducktape(_session(_result("FLAKY", summary=None))).results
    assert [each.outcome.name for each in results] == ["VIOLATES", "CONFORMS"]


def test_a_result_is_the_same_in_the_session_and_in_its_own_folder() -> None:
    """Both reports give the same id, so that it can be counted once."""
    result = _result("PASS")
    of_session, of_test = read_ducktape(_session(result)).results, read_ducktape(json.dumps(result)).results
    assert of_session == of_test


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not readable as JSON"),
        ("[]", "not a report of ducktape"),
        ('{"schema": 1, "about": {}}', "not a report of ducktape"),
        (_session(7), "result 1: expected an object"),
        (_session({"test_status": "PASS"}), "result 1: it has no test_id"),
        (
            _session(_result("MAYBE")),
            "result 1: unknown test_status: expected one of pass, fail, ignore, flaky, opass, ofail; got MAYBE",
        ),
    ],
)
def test_what_is_no_report_is_set_aside(text: str, reason: str) -> None:
    """Other JSON, and results without a test or a known status."""
    reading = read_ducktape(text)
    assert reading.results == ()
    assert reading.unread[0].reason.startswith(reason)


def test_a_report_of_our_own_is_nobodys_results() -> None:
    """It has the name that ducktape gives its own, and may lie among the runs."""
    assert read_ducktape(report_json(summary_of(season(runs=20), ABOUT))) == Reading()


def test_a_bad_result_does_not_cost_the_good_ones() -> None:
    """What stands around it is read; a test that never began has no times."""
    reading = read_ducktape(_session(_result("PASS"), {}, _result("FAIL", start_time=-1, run_time_seconds=-1)))
    assert [each.outcome.name for each in reading.results] == ["CONFORMS", "VIOLATES"]
    assert (reading.results[1].started_at, reading.results[1].duration_ms) == (None, None)
    assert [each.reason for each in reading.unread] == ["result 2: it has no test_id"]
