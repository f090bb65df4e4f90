"""JSON of run folders: what readers would take for different values is refused."""

import pytest

from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.recording.json_objects import json_object


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"kind": "fault-began", "kind": "fault-witnessed"}', "the key 'kind' is there twice"),
        ('{"data": [{"a": 1, "b": 2, "a": 1}]}', "the key 'a' is there twice"),
        ('{"value": NaN}', "NaN is no number"),
        ('{"value": -Infinity}', "-Infinity is no number"),
    ],
)
def test_what_no_recorder_writes_is_refused(text: str, named: str) -> None:
    """At any depth; the error names the place."""
    with pytest.raises(RunFolderError, match=f"x: line 1: expected JSON; {named}"):
        json_object(text.encode(), "x: line 1")


def test_an_object_is_read() -> None:
    """With nested ones, and keys that are the same in different objects."""
    assert json_object(b'{"a": {"a": 1.5}, "b": [{"a": null}]}', "x") == {"a": {"a": 1.5}, "b": [{"a": None}]}
