"""Allure's result files: what counts, and what is set aside."""

import datetime as dt
import json

import pytest

from pytest_kmigrate.analysis.foreign.allure import read_allure
from pytest_kmigrate.analysis.foreign.results import Result

START_MS = 1_772_359_200_000

RESULT: dict[str, object] = {
    "uuid": "5f2b1c9e-1234-4abc-8def-0123456789ab",
    "historyId": "2b35e31882061875031701ba05a3cd67",
    "fullName": "tests.test_log.TestLog#test_rolls",
    "name": "test_rolls",
    "status": "failed",
    "statusDetails": {"message": "AssertionError: was 4", "trace": "def test_rolls():\n> assert 4 == 3"},
    "start": START_MS,
    "stop": START_MS + 1_500,
    "labels": [{"name": "topology", "value": "small"}, {"name": "host", "value": "ci-7"}],
    "parameters": [
        {"name": "kafka", "value": "'3.9.1'"},
        {"name": "run", "value": "17", "excluded": True},
    ],
}


def _read(**changed: object) -> Result:
    (result,) = read_allure(json.dumps({**RESULT, **changed})).results
    return result


@pytest.mark.parametrize(
    ("status", "outcome", "kind"),
    [
        ("passed", "CONFORMS", None),
        ("failed", "VIOLATES", "LIVENESS"),
        ("broken", "INCONCLUSIVE", "HARNESS"),
        ("skipped", "NOT_APPLICABLE", None),
        ("unknown", "INCONCLUSIVE", "HARNESS"),
        (None, "INCONCLUSIVE", "HARNESS"),
    ],
)
def test_each_status_has_its_outcome(status: str | None, outcome: str, kind: str | None) -> None:
    """Failed is a violation, but never of SAFETY; broken and unknown say nothing about what was tested."""
    result = _read(status=status)
    assert (result.outcome.name, result.kind.value if result.kind else None) == (outcome, kind)


def test_times_texts_and_conditions_are_kept() -> None:
    """Start, duration, message and trace; labels and parameters that name conditions of a cluster."""
    result = _read()
    assert result.started_at == dt.datetime.fromtimestamp(START_MS / 1_000, dt.UTC)
    assert result.duration_ms == 1_500.0
    assert (result.check, result.summary) == (
        "AssertionError",
        "AssertionError: was 4\ndef test_rolls():\n> assert 4 == 3",
    )
    assert result.conditions == {"topology": "small", "kafka": "3.9.1"}


def test_retries_are_attempts_of_one_test() -> None:
    """Equal history ids come of equal names and parameters, but for excluded ones: so does the test."""
    again = _read(uuid="other", parameters=[{"name": "run", "value": "18", "excluded": True}, RESULT["parameters"][0]])
    assert again.test_id == _read().test_id == "tests.test_log.TestLog#test_rolls[kafka='3.9.1']"
    assert again.run_id != _read().run_id


def test_a_nameless_result_is_known_by_its_history() -> None:
    """Without a full name the name counts, without any the history id."""
    assert _read(fullName=None, parameters=None).test_id == "test_rolls"
    assert _read(fullName=None, name=None).test_id == RESULT["historyId"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"uuid": "cut', "not readable as JSON: Unterminated string"),
        ("[1]", "not a result of Allure: expected an object"),
        (
            '{"name": "t", "status": "green"}',
            "unknown status: expected one of passed, failed, broken, skipped, unknown",
        ),
        ('{"status": "passed"}', "it has neither fullName, name nor historyId"),
        ("[" * 100_000, "not readable as JSON"),
        ("", "not readable as JSON: Expecting value"),
    ],
)
def test_what_is_no_result_is_set_aside(text: str, reason: str) -> None:
    """Each with its own reason, however deep it is nested."""
    reading = read_allure(text)
    assert reading.results == ()
    assert reading.unread[0].reason.startswith(reason)


@pytest.mark.parametrize(("start", "stop"), [("soon", None), (True, 5), (10**400, 10**401), (5_000, 4_000)])
def test_impossible_times_are_no_times(start: object, stop: object) -> None:
    """Texts, truth values, numbers past the calendar and ends before the start give no duration."""
    assert _read(start=start, stop=stop).duration_ms is None
