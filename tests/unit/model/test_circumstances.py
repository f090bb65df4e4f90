"""Circumstances of a run: the keys of a header's ``extra`` are read with their types."""

from dataclasses import replace

from pytest_kmigrate.model.circumstances import Circumstances
from pytest_kmigrate.model.history import RunHeader

HEADER = RunHeader("run-1", "test", 1, "3.9.1", "small")


def test_keys_are_read_with_their_types() -> None:
    """What the header holds, and defaults for what it lacks."""
    header = replace(HEADER, extra={"reproduce": "pytest x", "evidence": 4, "capabilities": ["kill"], "colour": "red"})
    assert header.circumstances == Circumstances(reproduce="pytest x", evidence=4, capabilities=["kill"])


def test_a_key_that_holds_something_else_has_its_default() -> None:
    """A header that was edited is no ground for a crash: what it says then is nothing."""
    edited = replace(HEADER, extra={"evidence": "4", "host": 7, "byteman": ["x"], "images": {"3.9.1": 1}})
    assert edited.circumstances == Circumstances()
