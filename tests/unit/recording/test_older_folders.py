"""Facts about run folders of version 0.1: they are read as those of today."""

import json
from pathlib import Path

import pytest

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import RunHeader, ZnodeChange
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.recording.recorder import RunRecorder
from pytest_kmigrate.recording.run_folder import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """The folder of a run that has ended, with one change of a znode."""
    folder = RunFolder(tmp_path)
    recorder = RunRecorder(folder, RunHeader("run-1", "test.py::test", 7, "3.9.1", "small"))
    recorder.znode(ZnodeChange(6, "/brokers", "{}", 3, 9, ("ids", "topics"), is_ephemeral=False))
    recorder.close()
    return folder


def test_a_folder_of_before_does_not_say_what_is_ephemeral(folder: RunFolder) -> None:
    """Lines of ``znodes.jsonl`` that lack what is recorded today are read, as unknown."""
    line = json.loads(folder.znodes.read_text())
    del line["is_ephemeral"]
    folder.znodes.write_text(json.dumps(line) + "\n")
    assert [change.is_ephemeral for change in read_history(folder).znodes] == [None]


def test_states_of_a_folder_of_before_are_read_as_those_of_today(folder: RunFolder) -> None:
    """Version 0.1 had a kind for each of its two states; checkers see one form."""
    first, *rest = folder.history.read_text().splitlines()
    older = [("phase", None, {"phase": "HYBRID", "previous": "COPYING"})]
    older += [("migration-state", "controller-3000", {"state": "MIGRATION", "previous": None})]
    lines = [json.dumps({"seq": 1, "at_ns": 5, "kind": kind, "node": node, "data": data}) for kind, node, data in older]
    folder.history.write_text("\n".join([first, *lines, *rest, ""]))

    history = read_history(folder)

    assert [(each.node, each.data) for each in history.of(EventKind.STATE)] == [
        (None, {"of": "phase", "state": "HYBRID", "previous": "COPYING"}),
        ("controller-3000", {"of": "migration_state", "state": "MIGRATION", "previous": None}),
    ]
    assert [each.data["state"] for each in history.states("phase")] == ["HYBRID"]
