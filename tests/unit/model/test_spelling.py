"""Errors about unknown names offer the nearest one."""

from pytest_kmigrate.model.spelling import did_you_mean


def test_the_nearest_word_is_offered() -> None:
    """In its own case; where none is near, what the error says instead."""
    assert did_you_mean("sasl-ssl", ["SSL", "SASL_SSL"]) == '; did you mean "SASL_SSL"?'
    assert did_you_mean("zzz", ["SSL"]) == ""
    assert did_you_mean("zzz", ["SSL"], "; take one of these") == "; take one of these"
