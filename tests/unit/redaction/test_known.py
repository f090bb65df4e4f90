"""Values that a run knows are hidden wherever they stand, in each encoding."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest

from pytest_kmigrate.redaction import redacted, redacted_values
from pytest_kmigrate.redaction.known import known_in, learn, learn_from, learn_named

pytestmark = pytest.mark.usefixtures("nothing_known")

SECRET = 'Tr0ub4dor "&3=\\é'
PLAIN = "Tr0ub4dor3"


WRITTEN = {
    "plain": lambda value: value,
    "json": lambda value: json.dumps(value)[1:-1],
    "json of unicode": lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
    "json in json": lambda value: json.dumps(json.dumps(value))[3:-3],
    "url": lambda value: quote(value, safe=""),
    "form": quote_plus,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 of a login": lambda value: base64.b64encode(f"alice:{value}".encode()).decode(),
    "base64 of another login": lambda value: base64.b64encode(f"bo:{value}".encode()).decode(),
    "hex": lambda value: value.encode().hex(),
    "bytes of Java": lambda value: ", ".join(str((each + 128) % 256 - 128) for each in value.encode()),
    "properties": lambda value: "".join(f"\\{each}" if each in "\\=:# !" else each for each in value),
}


@pytest.mark.parametrize("secret", [SECRET, PLAIN])
@pytest.mark.parametrize("way", WRITTEN)
def test_a_known_value_is_hidden_however_it_is_written(way: str, secret: str) -> None:
    """A login is seen in the base64 of a header, at whichever of its three places."""
    written = WRITTEN[way](secret)
    assert written in redacted(f"it said {written} there")
    learn([secret])
    assert written not in redacted(f"it said {written} there")
    assert known_in(f"\0\1it said {written} there".encode()) is not None


def test_equal_values_have_one_stand_in() -> None:
    """So that a login that was repeated is seen to be one."""
    learn([PLAIN])
    said = redacted(f"{PLAIN} {PLAIN.encode().hex()} password={PLAIN}").split()
    assert said[0] == said[1] == said[2].removeprefix("password=")


@pytest.mark.parametrize(
    "value", ["", "abc", "kafka", "password", "123456", "/run/secrets/x", "admin", "simple", "hidden:0123456789ab"]
)
def test_what_ordinary_text_has_is_left_to_its_forms(value: str) -> None:
    """A password that is a word of every evidence would take the evidence with it."""
    learn([value])
    assert redacted(f"so {value} it is") == f"so {value} it is"
    assert known_in(value.encode()) is None


def test_what_has_the_name_of_a_secret_is_known() -> None:
    """Variables of the environment, properties of a node, and what stands in a command line by its form."""
    learn_named({"MY_TOKEN": "t0k3n-one", "PATH_X": "word-of-a-path", "URL": "https://u:t0k3n-two@h/"})
    learn_from(["bin/member --password t0k3n-three --group consumers-1"])
    text = redacted("t0k3n-one word-of-a-path t0k3n-two t0k3n-three consumers-1")
    assert [each for each in text.split() if not each.startswith("hidden:")] == ["word-of-a-path", "consumers-1"]


def test_keys_of_mappings_are_looked_at(tmp_path: object) -> None:
    """A value that is known may stand as one."""
    learn([PLAIN])
    assert PLAIN not in str(redacted_values({PLAIN: {"a": PLAIN}}))


def test_passwords_of_clusters_that_are_gone_are_forgotten() -> None:
    """A night has many, and each text is searched for all; those of the user stay."""
    learn(["of-the-user-1"])
    for number in range(100):
        learn([f"of-cluster-{number}."], is_of_cluster=True)
    kept = [number for number in range(100) if known_in(f"of-cluster-{number}.".encode())]
    assert kept == list(range(68, 100))
    assert known_in(b"of-the-user-1")
