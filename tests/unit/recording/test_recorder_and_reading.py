"""Facts about run folders: what is written down comes back the same, and damage is named by file and line."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import EnvironmentLackError, RunFolderError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.evidence import ChecksRequested
from pytest_kmigrate.model.history import RunHeader, Sample, ZnodeChange
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Violation, violates
from pytest_kmigrate.recording import reading
from pytest_kmigrate.recording.log_digests import broken_logs
from pytest_kmigrate.recording.reading import read_header, read_history, verify_manifest
from pytest_kmigrate.recording.recorder import RunRecorder, write_manifest
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.still_folder import StillFolder
from pytest_kmigrate.recording.verdicts import write_verdicts
from tests.unit.typical_events import typical

HEADER = RunHeader("run-1", "test.py::test", 7, "3.9.1", "small", requirements=("K866-A", "K866-B"), extra={"a": [1]})
FAULT = typical(EventKind.FAULT_BEGAN, fault="kill(x)")


RECORDS = [{"offset": 3, "type": "TOPIC_RECORD", "data": {"name": "orders"}}, {"offset": 4, "type": "NO_OP_RECORD"}]
IMAGE = MetadataImage("log", ("topics",), topics={"orders": {"id": "x"}}, read_from=RECORDS)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A whole run folder with one of everything in it."""
    folder = RunFolder(tmp_path / "run-1")
    folder.path.mkdir()
    recorder = RunRecorder(folder, HEADER)
    recorder.record(typical(EventKind.NODE_STARTED, pid=4, kafka="3.9.1", incarnation=1), "broker-0")
    recorder.sample(Sample(5, "broker-0", {"ActiveControllerCount": 1.0, "ZkMigrationState": None}))
    recorder.znode(ZnodeChange(6, "/brokers", "{}", 3, 9, ("ids", "topics"), is_ephemeral=False))
    recorder.image("before-log", IMAGE, 7)
    recorder.close()
    write_manifest(folder)
    return folder


def test_what_an_image_was_read_from_is_read_when_it_is_looked_up(folder: RunFolder) -> None:
    """Few checks need records; a folder without them is read as well."""
    read_from = read_history(folder).images["before-log"].read_from
    assert (list(read_from), read_from[-1:], len(read_from)) == (RECORDS, RECORDS[1:], 2)
    folder.image_read_from("before-log").unlink()
    assert list(read_history(folder).images["before-log"].read_from) == []


def test_a_folder_that_is_still_is_read_once(folder: RunFolder) -> None:
    """Logs are kept, and each file is digested once; of one that has grown, also as far as it was known."""
    still, log = StillFolder(folder.path), folder.log("broker-0")
    log.parent.mkdir(parents=True)
    log.write_bytes(b"one\n")
    whole, begun = still.sha256(log), still.sha256(log, 2)
    assert (whole, begun) == (folder.sha256(log), folder.sha256(log, 2))
    assert (still.sha256(log, 4), still.sha256(log, 9), still.content(log)) == (whole, whole, b"one\n")
    log.write_bytes(b"two\n")
    assert (still.content(log), still.sha256(log)) == (b"one\n", whole)
    assert folder.sha256(log) != whole


@pytest.mark.parametrize(("long", "read"), [(6_000, 100), (6_001, 200)], ids=["long", "not long"])
def test_of_a_long_log_what_is_repeated_is_read_a_hundred_times(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch, long: int, read: int
) -> None:
    """A short one is read as it is."""
    monkeypatch.setattr(reading, "LONG_LOG", long)
    log = folder.log("broker-0")
    log.parent.mkdir(parents=True)
    log.write_text("2026-11-30 06:46:01,000 ERROR\n" * 200)
    assert read_history(folder).logs["broker-0"].count("ERROR") == read


def test_what_was_recorded_comes_back_the_same(folder: RunFolder) -> None:
    """Header, events, samples, znodes and images survive the way to disk and back, types included."""
    history = read_history(folder)
    assert history.header == HEADER
    assert [(event.seq, event.kind) for event in history.events] == [
        (0, EventKind.RUN_BEGAN),
        (1, EventKind.NODE_STARTED),
        (2, EventKind.SNAPSHOT),
        (3, EventKind.RUN_ENDED),
    ]
    started = {"role": "broker", "mode": None, "pid": 4, "kafka": "3.9.1", "incarnation": 1}
    assert (history.events[1].node, history.events[1].data) == ("broker-0", started)
    assert history.samples == (Sample(5, "broker-0", {"ActiveControllerCount": 1.0, "ZkMigrationState": None}),)
    assert history.znodes == (ZnodeChange(6, "/brokers", "{}", 3, 9, ("ids", "topics"), is_ephemeral=False),)
    assert dict(history.images["before-log"].topics) == {"orders": {"id": "x"}}
    assert history.events[2].data["file"] == "metadata/before-log.json"


def test_what_an_image_was_read_from_lies_beside_it(folder: RunFolder) -> None:
    """Every record or znode on a line of its own, for readers; judging needs the image alone."""
    lines = folder.image_read_from("before-log").read_text().splitlines()
    assert [json.loads(line) for line in lines] == RECORDS
    assert "read_from" not in json.loads(folder.image("before-log").read_text())
    assert read_history(folder).images["before-log"].topics == IMAGE.topics


def test_events_are_on_disk_before_the_run_ends(tmp_path: Path) -> None:
    """A killed run keeps every event it recorded: nothing waits for ``close``."""
    folder = RunFolder(tmp_path)
    recorder = RunRecorder(folder, HEADER)
    recorder.record(FAULT)
    assert [event.kind for event in read_history(folder).events] == [EventKind.RUN_BEGAN, EventKind.FAULT_BEGAN]
    recorder.close()


def test_every_event_tells_how_long_each_log_was(tmp_path: Path) -> None:
    """So that a failure can show the slice of a log between two events; what earlier runs logged does not count."""
    folder, log = RunFolder(tmp_path / "run"), tmp_path / "server.log"
    folder.path.mkdir()
    recorder = RunRecorder(folder, HEADER)
    log.write_text("12345")
    recorder.log_files = lambda: {"broker-0": log, "broker-1": tmp_path / "none-yet"}
    recorder.record(FAULT)
    recorder.logged_before = {log: 3}
    recorder.record(FAULT)
    recorder.close()
    lines = [json.loads(line) for line in folder.history.read_text().splitlines()]
    assert [line["log_bytes"] for line in lines[:3]] == [{}, {"broker-0": 5}, {"broker-0": 2}]


def test_a_run_ends_by_the_slices_that_it_has_of_logs(tmp_path: Path) -> None:
    """The nodes of a cluster that several runs use log on; what the folder lacks is in no size and no digest."""
    folder, log = RunFolder(tmp_path / "run"), tmp_path / "server.log"
    recorder = RunRecorder(folder, HEADER)
    log.write_text("before12345")
    recorder.log_files, recorder.logged_before = lambda: {"broker-0": log}, {log: len("before")}
    recorder.record(ChecksRequested([]))
    folder.log_folder("broker-0").mkdir(parents=True)
    folder.log("broker-0").write_text("12345")
    recorder.goes_by_its_own_logs()
    log.write_text("before1234567890")
    recorder.close()
    events = read_history(folder).events
    assert [event.log_bytes for event in events[1:]] == [{"broker-0": 5}] * 2
    assert list(broken_logs(folder, events)) == []
    folder.log("broker-0").write_text("12X45")
    assert len(list(broken_logs(folder, events))) == 1


@pytest.mark.parametrize("is_hidden", [True, False])
def test_secrets_that_are_hidden_at_the_end_break_no_digest(tmp_path: Path, *, is_hidden: bool) -> None:
    """The blocks that had them are listed anew; other changes of a block are found all the same."""
    folder = RunFolder(tmp_path / "run")
    recorder = RunRecorder(folder, HEADER)
    folder.log_folder("broker-0").mkdir(parents=True)
    folder.log("broker-0").write_text("ssl.keystore.password=hunter2\n")
    recorder.log_files = lambda: {"broker-0": folder.log("broker-0")}
    recorder.record(ChecksRequested([]))
    assert list(broken_logs(folder, read_history(folder).events)) == [], "while the run goes on, its logs hold secrets"
    recorder.close()
    assert "hunter2" not in folder.log("broker-0").read_text()
    if not is_hidden:
        folder.log("broker-0").write_text("nothing of that kind was there")
    assert bool(list(broken_logs(folder, read_history(folder).events))) is not is_hidden


def test_closing_twice_ends_the_history_once(tmp_path: Path) -> None:
    """There is one run-ended."""
    recorder = RunRecorder(RunFolder(tmp_path), HEADER)
    recorder.close()
    recorder.close()
    assert [event.kind for event in recorder.events].count(EventKind.RUN_ENDED) == 1


def test_a_full_disk_is_told_to_everybody_and_ends_orderly(tmp_path: Path) -> None:
    """Whoever records next learns of it too, wherever there is room again: a gap must not go unnoticed."""
    folder = RunFolder(tmp_path)
    recorder = RunRecorder(folder, HEADER)
    recorder._history.close()
    recorder._history._file = Path("/dev/full").open("a")  # noqa: SIM115 - the recorder closes it
    for write in (lambda: recorder.record(FAULT), lambda: recorder.sample(Sample(5, "broker-0", {}))):
        with pytest.raises(EnvironmentLackError, match="the run cannot be written down: No space left on device; make"):
            write()
    recorder.close()
    assert recorder._history.is_closed
    assert [event.kind for event in read_history(folder).events] == [EventKind.RUN_BEGAN]
    assert read_history(folder).samples == ()


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A manifest, verdicts or an image: in one sentence, with the path."""
    with pytest.raises(EnvironmentLackError, match=r"verdicts\.jsonl: it cannot be written: No such file or directory"):
        write_verdicts(RunFolder(tmp_path / "gone"), [])


def test_a_torn_last_line_is_left_out(folder: RunFolder) -> None:
    """A line without its newline was cut by the end of the run; all before it counts."""
    whole = len(read_history(folder).events)
    with folder.history.open("a") as history:
        history.write('{"seq": 4, "at_ns": 9, "ki')
    assert len(read_history(folder).events) == whole


def _overwrite_line(file: Path, number: int, text: str) -> None:
    lines = file.read_text().splitlines(keepends=True)
    lines[number - 1] = f"{text}\n"
    file.write_text("".join(lines))


@pytest.mark.parametrize("text", ["{not json", "[1, 2]", '"text"'])
@pytest.mark.parametrize(
    "damaged", [lambda folder: folder.history, lambda folder: folder.metrics, lambda folder: folder.znodes]
)
def test_a_damaged_line_is_named_by_file_and_line(
    folder: RunFolder, damaged: Callable[[RunFolder], Path], text: str
) -> None:
    """The error says which file and which line, and that JSON was expected."""
    file = damaged(folder)
    with file.open("a") as lines:
        lines.write("{}\n")
    number = len(file.read_text().splitlines())
    _overwrite_line(file, number, text)
    with pytest.raises(RunFolderError) as caught:
        read_history(folder)
    assert str(file) in str(caught.value)
    assert f"line {number}: expected" in str(caught.value) or "event" in str(caught.value)


def test_an_event_of_no_known_kind_is_named(folder: RunFolder) -> None:
    """An event that a later release wrote is not silently dropped."""
    with folder.history.open("a") as history:
        history.write(json.dumps({"seq": 4, "at_ns": 9, "kind": "teleported", "node": None, "data": {}}) + "\n")
    with pytest.raises(RunFolderError, match=r"line 5: .*unknown kind 'teleported'; was it written by a later"):
        read_history(folder)


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        (None, "there is none"),
        ("{", "expected JSON"),
        ('{"schema": 99}', "expected 1, got 99"),
        ('{"schema": "1"}', "expected 1, got '1'"),
        ('{"schema": 1}', "expected the keys of a run header; got no 'test_id'"),
        ('{"schema": 1, "run_id": "../../x"}', r"run\.json: run_id: expected the name of a folder, got '\.\./\.\./x'"),
        ('{"schema": 1, "seed": "one"}', r"run\.json: seed: expected a whole number, got 'one'; the folder is damaged"),
        ('{"schema": 1, "kafka": 3.9}', r"run\.json: kafka: expected text, got 3\.9; the folder is damaged"),
        ('{"schema": 1, "requirements": [[]]}', r"run\.json: requirements: expected texts, got \[\[\]\]"),
        ('{"schema": 1, "extra": []}', r"run\.json: extra: expected an object, got \[\]; the folder is damaged"),
    ],
)
def test_a_folder_that_is_no_run_says_why(folder: RunFolder, content: str | None, reported: str) -> None:
    """No run.json, one that is not JSON, of another schema, or without its keys: each its own sentence."""
    folder.header.unlink()
    if content is not None:
        folder.header.write_text(content)
    with pytest.raises(RunFolderError, match=reported):
        read_header(folder)


def test_the_manifest_holds_for_an_untouched_folder(folder: RunFolder) -> None:
    """Nothing changed, nothing raised."""
    verify_manifest(folder)


def test_the_manifest_finds_changed_and_missing_files(folder: RunFolder) -> None:
    """One changed byte or one missing file is named."""
    content = folder.history.read_bytes()
    folder.history.write_bytes(content.replace(b"broker-0", b"broker-1"))
    with pytest.raises(RunFolderError, match=r"1 file differs from manifest.json: history.jsonl"):
        verify_manifest(folder)
    folder.history.write_bytes(content)
    folder.image("before-log").unlink()
    with pytest.raises(RunFolderError, match=r"metadata/before-log.json"):
        verify_manifest(folder)


def test_the_logs_of_a_kept_cluster_may_grow_and_nothing_else(folder: RunFolder) -> None:
    """Its nodes go on logging: what was there must still be the beginning, and all the rest as it was."""
    log = folder.log_folder("broker-0") / "server.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("one\n")
    write_manifest(folder, is_kept=True)
    with log.open("a") as lines:
        lines.write("two\n")
    verify_manifest(folder)
    log.write_text("0ne\ntwo\n")
    with pytest.raises(RunFolderError, match=r"server\.log"):
        verify_manifest(folder)
    log.write_text("one\n")
    with folder.metrics.open("a") as lines:
        lines.write("{}\n")
    with pytest.raises(RunFolderError, match=r"metrics\.jsonl"):
        verify_manifest(folder)


def test_the_logs_of_a_cluster_that_was_ended_may_not_grow(folder: RunFolder) -> None:
    """Nobody writes there any more, so a longer log was tampered with."""
    log = folder.log_folder("broker-0") / "server.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("one\n")
    write_manifest(folder)
    log.write_text("one\ntwo\n")
    with pytest.raises(RunFolderError, match=r"server\.log"):
        verify_manifest(folder)


@pytest.mark.parametrize(
    "name", ["operations/clients-000001.parquet", "metadata/after-log.json", "metadata/after-log.jsonl"]
)
def test_evidence_that_the_manifest_does_not_name_is_told(folder: RunFolder, name: str) -> None:
    """A part of operations, or an image, that came after the run's end would turn its verdicts."""
    (folder.path / name).write_text("{}")
    with pytest.raises(RunFolderError, match=rf"1 files that manifest\.json does not name: {name}; .* take them away"):
        verify_manifest(folder)


def test_what_others_lay_beside_the_evidence_is_none_of_our_business(folder: RunFolder) -> None:
    """A note, or a report of Allure's, is not judged."""
    (folder.path / "note.txt").write_text("look at the second take-over")
    verify_manifest(folder)


@pytest.mark.parametrize(
    "text", ["{}", '{"sha256": []}', '{"sha256": {}}', '{"sha256": {"run.json": "x"}, "growing": 1}']
)
def test_a_manifest_without_digests_is_told(folder: RunFolder, text: str) -> None:
    """In one sentence that names it."""
    folder.manifest.write_text(text)
    with pytest.raises(RunFolderError, match=r"manifest\.json: expected the digests of the run's files"):
        verify_manifest(folder)


@pytest.mark.parametrize(("key", "value"), [("seq", "x"), ("at_ns", "x"), ("data", "x")])
def test_an_event_of_another_shape_is_told_with_its_line(folder: RunFolder, key: str, value: object) -> None:
    """Whoever judges it may take what it holds for granted."""
    lines = [json.loads(line) for line in folder.history.read_text().splitlines()]
    lines[1][key] = value
    folder.history.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(RunFolderError, match=r"history\.jsonl: line 2: .*'x'"):
        read_history(folder)


def test_an_interrupted_run_has_no_manifest(folder: RunFolder) -> None:
    """A folder without manifest says that the run was interrupted."""
    folder.manifest.unlink()
    with pytest.raises(RunFolderError, match="interrupted"):
        verify_manifest(folder)


def test_verdicts_are_plain_lines(folder: RunFolder) -> None:
    """One line per verdict: outcome and kind by name, violations whole, known bugs by id."""
    found = Violation("a", "b", 3, ("event 1",))
    write_verdicts(folder, [replace(violates(Kind.SAFETY, [found]).by("check"), known_bugs=("KAFKA-1",))])
    (line,) = folder.verdicts.read_text().splitlines()
    verdict = json.loads(line)
    assert (verdict["check"], verdict["outcome"], verdict["kind"]) == ("check", "VIOLATES", "SAFETY")
    assert verdict["violations"] == [{"expected": "a", "observed": "b", "at_ns": 3, "evidence": ["event 1"]}]
    assert verdict["known_bugs"] == ["KAFKA-1"]


@pytest.mark.parametrize(
    "line", [b'{"at_ns": 1, "node": "\xff\xfe"}\n', b'{"at_ns": 1}\n', b'{"at_ns": 1, "colour": "red"}\n']
)
@pytest.mark.parametrize("name", ["metrics", "znodes"])
def test_every_damage_is_a_run_folder_error(folder: RunFolder, name: str, line: bytes) -> None:
    """Whatever is wrong with a line, the error names the file and the line."""
    file: Path = getattr(folder, name)
    with file.open("ab") as lines:
        lines.write(line)
    with pytest.raises(RunFolderError, match=rf"{file.name}: line 2"):
        read_history(folder)
