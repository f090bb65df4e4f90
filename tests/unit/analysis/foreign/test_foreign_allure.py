"""Allure's result files: what counts, and what is set aside."""

import datetime as dt
import json

import pytest

from pytest_kmigrate.analysis.foreign.allure import read_allure, read_container
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
        ("broken", "VIOLATES", "LIVENESS"),
        ("skipped", "NOT_APPLICABLE", None),
        ("unknown", "INCONCLUSIVE", "HARNESS"),
        (None, "INCONCLUSIVE", "HARNESS"),
    ],
)
def test_each_status_has_its_outcome(status: str | None, outcome: str, kind: str | None) -> None:
    """A test that failed or is broken, by an assertion or by another error, is a violation, but never of SAFETY."""
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
    assert again.run != _read().run


def test_a_result_without_a_start_is_known_by_its_place_only() -> None:
    """Equal content proves nothing: a quick test passes alike every night."""
    assert _read(start=None, stop=None).run == ""


def test_a_masked_value_is_dots_and_a_hidden_one_is_not_there() -> None:
    """In the name, message and trace, wherever quoted; a digest keeps tests apart that differ in nothing else."""
    secrets = [
        {"name": "user", "value": "'ada'"},
        {"name": "password", "value": "'correct horse'", "mode": "masked"},
        {"name": "session", "value": "battery-77", "mode": "hidden"},
        {"name": "pin", "value": "12", "mode": "hidden"},
    ]
    said = {"message": "AssertionError: 401 for correct horse", "trace": "logs_in('correct horse', \"battery-77\", 12)"}

    result = _read(fullName="test_login[correct horse]", parameters=secrets, statusDetails=said, labels=[])

    assert result.test_id.startswith("test_login[••••••][password=••••••, user='ada', #")
    shown = f"{result.test_id} {result.summary} {result.check} {result.conditions} {result.properties}"
    assert not any(secret in shown for secret in ("horse", "battery", "session", "12)"))
    others = [{**each, "value": "another"} if each["name"] == "session" else each for each in secrets]
    assert _read(fullName="test_login[correct horse]", parameters=others).test_id != result.test_id


def test_a_container_names_the_tests_whose_setup_failed() -> None:
    """Those did not run; a failed teardown, and a setup that passed, take no answer from any test."""
    container = {"children": ["a", "b", 7], "befores": [{"status": "passed"}, {"status": "broken"}]}
    assert read_container(json.dumps(container)).broken == ("a", "b")
    assert read_container(json.dumps({**container, "befores": [{"status": "passed"}]})).broken == ()
    assert read_container(json.dumps({**container, "befores": None, "afters": [{"status": "broken"}]})).broken == ()
    assert read_container("[]").broken == ()
    assert read_container("{").unread[0].reason.startswith("not readable as JSON")


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
            "unknown status, got green; expected one of passed, failed, broken, skipped, unknown",
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


def test_a_file_of_another_tool_is_no_doubt() -> None:
    """The name is a common one, and nothing in it is Allure's."""
    (unread,) = read_allure('{"errors": []}').unread
    assert (unread.reason.partition(":")[0], unread.is_doubt) == ("not a result of Allure", False)


@pytest.mark.parametrize(("start", "stop"), [("soon", None), (True, 5), (10**400, 10**401), (5_000, 4_000)])
def test_impossible_times_are_no_times(start: object, stop: object) -> None:
    """Texts, truth values, numbers past the calendar and ends before the start give no duration."""
    assert _read(start=start, stop=stop).duration_ms is None
