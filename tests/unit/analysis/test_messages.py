"""Normal forms: what differs from run to run goes, what distinguishes failures stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_kmigrate.analysis.messages import MOST_CHARACTERS, normal_form
from tests.unit.analysis.message_examples import EXAMPLES


@pytest.mark.parametrize(("text", "normal"), EXAMPLES)
def test_varying_parts_are_named_by_what_they_are(text: str, normal: str) -> None:
    """Times, addresses, ids, paths, quantities and numbers are replaced, and nothing else is."""
    assert normal_form(text) == normal


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("leader is -1", "leader is 2"),
        ("/brokers/ids/1 is missing", "/admin/delete_topics/1 is missing"),
        ("explained by KAFKA-16121", "explained by KAFKA-16171"),
        ("org.apache.kafka.common.errors.TimeoutException", "org.apache.kafka.common.errors.DisconnectException"),
    ],
)
def test_what_tells_failures_apart_stays(one: str, other: str) -> None:
    """No leader is not some leader, znodes are no files, issues and classes are names."""
    assert normal_form(one) != normal_form(other)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=300))
def test_any_text_has_a_normal_form(text: str) -> None:
    """Whatever the text, its normal form has no run of spaces and no line end."""
    normal = normal_form(text)
    assert "  " not in normal
    assert "\n" not in normal


@pytest.mark.parametrize("piece", ["1,", "/a", "a1", "-", "1 ", "0x", "a:", "[", "A-1"])
def test_no_text_takes_long(piece: str) -> None:
    """Texts made to be tried again and again are done at once, and only their beginning counts."""
    assert len(normal_form(piece * 50_000)) <= MOST_CHARACTERS * len("<duration>")
