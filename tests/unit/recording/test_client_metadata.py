"""Facts about recorded answers to clients: they come back the same, and only changed topics are written."""

import json
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.history import ClientMetadata, RunHeader
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.recording.recorder import RunRecorder
from pytest_kmigrate.recording.run_folder import RunFolder

ANSWERS = (
    ClientMetadata(5, "broker-0", 1, (0, 1), {"orders": "id; 0 leader=0", "billing": "id; 0 leader=1"}),
    ClientMetadata(6, "broker-1", 0, (0, 1), {}),
    ClientMetadata(7, "broker-0", 0, (0,), {"orders": "id; 0 leader=0", "new": "id"}),
    ClientMetadata(8, "broker-0", 0, (0,), {"orders": "id; 0 leader=0", "new": "id"}),
)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A folder with these answers."""
    folder = RunFolder(tmp_path)
    recorder = RunRecorder(folder, RunHeader("run-1", "test", 1, "3.9.1", "small"))
    for answer in ANSWERS:
        recorder.client_metadata(answer)
    recorder.close()
    return folder


def test_answers_come_back_the_same(folder: RunFolder) -> None:
    """Each with all of its topics."""
    assert read_history(folder).client_metadata == ANSWERS


def test_answers_to_clients_hold_only_topics_that_changed(folder: RunFolder) -> None:
    """Of hundreds of topics, asked for each second, few change."""
    lines = [json.loads(line) for line in folder.client_metadata.read_text().splitlines()]
    assert [line["topics"] for line in lines] == [ANSWERS[0].topics, {}, {"billing": None, "new": "id"}, {}]


def test_a_damaged_line_is_named(folder: RunFolder) -> None:
    """By file and line, with what was expected."""
    with folder.client_metadata.open("a") as lines:
        lines.write('{"at_ns": 9}\n')
    with pytest.raises(RunFolderError, match=r"metadata.jsonl: line 5: expected the keys of"):
        read_history(folder)
