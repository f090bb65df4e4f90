"""Every form of a secret is recognized, in texts and among words, and nothing else is."""

import json

import pytest

from pytest_kmigrate.judging.planning.plan import plan
from pytest_kmigrate.redaction import line_with_secret, redacted, redacted_id, redacted_values, shown
from tests.unit.redaction.forms import FORMS, traces, written


@pytest.mark.parametrize("form", FORMS)
def test_no_secret_survives(form: str) -> None:
    """Also within a line of a log, and redacting twice changes nothing."""
    for text in (written(form), f"ERROR it failed: {written(form)}"):
        assert any(trace in text for trace in traces())
        hidden = redacted(text)
        assert not any(trace in hidden for trace in traces())
        assert redacted(hidden) == hidden


@pytest.mark.parametrize("form", FORMS)
def test_no_secret_survives_in_values(form: str) -> None:
    """As a text of a list, of a mapping, and as JSON inside JSON."""
    values = {"texts": [written(form), {"deep": written(form)}], "json": json.dumps({"text": written(form)})}
    assert not any(trace in json.dumps(redacted_values(values)) for trace in traces())


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_that_was_recorded_is_found(form: str) -> None:
    """By the first of the two scans of what a certificate packs."""
    assert line_with_secret(written(form)) is not None or "\n" in written(form)
    assert line_with_secret(json.dumps({"line": written(form)}), is_json=True) == 1


def test_a_word_behind_an_option_is_hidden() -> None:
    """A command is a list of words: a password is a word of its own, without its name."""
    words = ["member", "--password", "open sesame", "--group", "g", "-storepass", "changeit", "--password-file", "f"]
    hidden = redacted_values({"command": words})["command"]
    assert hidden[:2] + hidden[3:6] + hidden[7:] == [each for each in words if each not in {"open sesame", "changeit"}]
    assert redacted_values({"command": hidden})["command"] == hidden


def test_a_value_beside_a_name_is_hidden() -> None:
    """Records of configs, and environments of containers, are written so."""
    hidden = redacted_values([{"name": "DB_PASSWORD", "value": "changeit"}, {"name": "a", "value": "changeit"}])
    assert [each["value"] == "changeit" for each in hidden] == [False, True]


def test_what_json_has_no_form_for_is_text() -> None:
    """A path, for example; numbers and what is absent stay as they are."""
    values = redacted_values({"password": None, "at": 1.5, "is": True, "error": ValueError("password=changeit")})
    assert (values["password"], values["at"], values["is"]) == (None, 1.5, True)
    assert str(values["error"]).startswith("password=hidden:")


@pytest.mark.parametrize(
    "text",
    [
        "RequestHeader(apiKey=BROKER_HEARTBEAT, apiVersion=2)",
        '{"requestApiKey":63,"requestApiVersion":0}',
        "PWD=/opt/main OLDPWD=/root",
        "delegation token expired (x.Y)",
        "docker run --user 1000:1000 image",
        "Basic authentication is off, Bearer tokens are not",
        "https://github.com/apache/kafka/pull/1 and a@b.example",
        "password.encoder.keyfactory.algorithm=PBKDF2WithHmacSHA512",
        "DB_PASSWORD=${DB_PASSWORD} password: *** secret=[hidden]",
        "--password-file /run/secrets/x --token-path /run/y",
        "kafka.server:type=app-info,id=0 partition orders-0 key=17",
        "ssl.keystore.location=/etc/keys/password.jks",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    """Evidence is read by checks and people; none of it is damaged for nothing."""
    assert redacted(text) == text


@pytest.mark.parametrize("document", ["kip-866", "kip-866-draft", "kip-500", "kip-778", "kip-125"])
def test_the_id_of_no_planned_test_changes(document: str) -> None:
    """A run is compared with its plan by its id."""
    tests = plan(document).tests
    assert tests
    assert [each for each in tests if redacted_id(each) != each] == []


def test_the_id_of_a_test_is_the_same_in_each_process() -> None:
    """The folder of a run, resuming and Allure's history go by it."""
    assert redacted_id("t.py::test_it[password=changeit]") == "t.py::test_it[password=[hidden]]"


def test_a_dictionary_opens_no_stand_in() -> None:
    """Equal secrets are equal in one process; in another they are something else."""
    import subprocess  # noqa: PLC0415 - of this test alone
    import sys  # noqa: PLC0415 - as above

    code = (
        "from pytest_kmigrate.redaction import shown, scram_digest as digest;"
        "print(shown('password', 'changeit'), digest('a', 'b', 'c'))"
    )
    command = [sys.executable, "-c", code]
    printed = {subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in "12"}
    assert len(printed) == 2
    assert shown("password", "changeit") == shown("password", "changeit") != shown("password", "changeit2")
