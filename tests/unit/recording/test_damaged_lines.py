"""Facts about lines of a run folder that were edited or cut: each is refused in words of its file."""

import json
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.recording.recorder import RunRecorder
from pytest_kmigrate.recording.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run folder of two events."""
    folder = RunFolder(tmp_path)
    RunRecorder(folder, RunHeader("run-1", "test.py::test", 7, "3.9.1", "small")).close()
    return folder


@pytest.mark.parametrize(
    ("kind", "data", "problem"),
    [
        ("checks", {}, "a list of objects as checks in the data of checks, not None"),
        ("checks", {"checks": ["it"]}, "a list of objects as checks"),
        ("not-offered", {"what": "a fault"}, "a list of texts as lacking in the data of not-offered, not None"),
        ("fault-applied", {"targets": "broker-0"}, "a list of texts as targets in the data of fault-applied, not"),
        ("fault-applied", {"targets": [0]}, "a list of texts as targets"),
        ("fault-began", {"fault_id": 1}, "a text as fault_id"),
        ("node-ready", {"took_ms": True}, "a whole number as took_ms"),
        ("node-stopped", {"exit_code": "0"}, "a whole number or null as exit_code"),
        ("run-ended", {"seals": {"znodes": 1}}, "an object of objects or null as seals"),
        ("expectation", {"met": 1}, "a boolean as met"),
    ],
)
def test_an_event_that_decides_how_to_judge_is_whole(
    folder: RunFolder, kind: str, data: dict[str, object], problem: str
) -> None:
    """A run whose list of checks is gone must not conform; a key of another type is not taken for what it should be."""
    with folder.history.open("a") as history:
        history.write(json.dumps({"seq": 2, "at_ns": 9, "kind": kind, "node": None, "data": data}) + "\n")
    with pytest.raises(RunFolderError, match=f"line 3: .*{problem}"):
        read_history(folder)


def test_a_line_without_a_key_is_described_without_names_of_functions(folder: RunFolder) -> None:
    """It says which key is not there, or is one too many."""
    folder.znodes.parent.mkdir(exist_ok=True)
    folder.znodes.write_text('{"at_ns": 5}\n')
    with pytest.raises(RunFolderError, match=r"line 1: expected the keys of znode_change; got no 'children'$"):
        read_history(folder)
    folder.znodes.write_text('{"at_ns": 5, "children": [], "colour": "red"}\n')
    with pytest.raises(RunFolderError, match=r"; got the unknown 'colour'"):
        read_history(folder)


@pytest.mark.parametrize(("seq", "at_ns"), [(True, 9), (2, False), (2, 10**320), (2, -1)])
def test_an_event_has_a_number_and_a_time(folder: RunFolder, seq: int, at_ns: int) -> None:
    """Later than any run, or truth as a number: nothing may be computed with it."""
    with folder.history.open("a") as history:
        event = {"seq": seq, "at_ns": at_ns, "kind": "step-began", "node": None, "data": {"step": "x"}}
        history.write(json.dumps(event) + "\n")
    with pytest.raises(RunFolderError, match=r"line 3: .*whole numbers as seq and at_ns"):
        read_history(folder)
