"""The dump tool's output is read whatever it holds, and the right files are given to it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.probes.metadata_replay import image_from_records
from pytest_kmigrate.providers.metadata_log import decoded, parsed
from tests.unit.probes.real_data import FOLDER

SEGMENT = "00000000000000000000.log"


def node(folder: Path, *names: str) -> Path:
    """A log dir whose metadata partition has these files."""
    partition = folder / "__cluster_metadata-0"
    partition.mkdir()
    for name in names:
        (partition / name).write_bytes(b"")
    return folder


def given_files(folder: Path, log_dir: Path) -> list[str]:
    """The names of the files that the tool is asked to dump."""
    given: list[str] = []

    def dump(files: Sequence[Path]) -> str:
        given.extend(file.name for file in files if file.is_relative_to(folder))
        return ""

    decoded(log_dir, dump, folder)
    return given


def test_real_output_gives_offsets_types_and_payloads() -> None:
    """Batch headers and control records are skipped; every payload is a record."""
    text = (FOLDER / "dump-3.9.1.txt").read_text()
    found = list(parsed(text.splitlines()))
    assert len(found) == text.count("payload:")
    assert found[0]["offset"] == 1
    assert found[0]["type"] == "BEGIN_TRANSACTION_RECORD"
    assert found[1]["data"] == {"name": "metadata.version", "featureLevel": 21}
    assert not any(record["snapshot"] for record in found)


def test_after_a_snapshot_only_newer_records_of_the_log_count() -> None:
    """A real snapshot up to offset 2756 and a segment from 2752: the four records both have are taken once."""
    found = list(parsed((FOLDER / "dump-snapshot-3.9.1.txt").read_text().splitlines()))
    assert {record["offset"] for record in found if record["snapshot"]} == {2755}
    assert [record["offset"] for record in found if not record["snapshot"]] == [2756, 2757]
    assert set(image_from_records(found).topics) == {
        "compacted.log_x", "dual-conf", "dual-plain", "moving", "orders", "plain",
    }  # fmt: skip


def test_what_the_tool_cannot_decode_is_kept_as_unreadable() -> None:
    """A payload that is not a record's JSON is evidence of its own."""
    line = (
        "| offset: 7 CreateTime: 1 keySize: -1 valueSize: 3 sequence: -1 headerKeys: [] payload: Error at 7, skipping."
    )
    (record,) = parsed([line])
    assert (record["offset"], record["type"]) == (7, "UNREADABLE")
    assert image_from_records([record]).of_log["record_counts"] == {"UNREADABLE": 1}


def test_decoded_records_hold_no_secret(tmp_path: Path) -> None:
    """What leaves this module may be written to the run folder."""
    data = '{"resourceType":4,"resourceName":"1","name":"ssl.key.password","value":"hunter2"}'
    line = f'| offset: 1 CreateTime: 1 keySize: -1 payload: {{"type":"CONFIG_RECORD","version":0,"data":{data}}}'
    found = decoded(node(tmp_path, SEGMENT), lambda _: line, tmp_path)
    assert "hunter2" not in str(found)
    assert found[0]["data"]["value"].startswith("hidden:")


def test_a_name_may_hold_what_python_takes_for_the_end_of_a_line(tmp_path: Path) -> None:
    """The tool escapes no more than JSON has to; a record that is cut would be one that cannot be read."""
    payload = '{"type":"CONFIG_RECORD","version":0,"data":{"resourceName":"a\u2028b\x85c","name":"n","value":"1"}}'
    lines = [f"| offset: {offset} CreateTime: 1 keySize: -1 payload: {payload}" for offset in (1, 2)]
    found = decoded(node(tmp_path, SEGMENT), lambda _: "\n".join([*lines, ""]), tmp_path)
    assert [(each["offset"], each["type"], each["data"]["resourceName"]) for each in found] == [
        (1, "CONFIG_RECORD", "a\u2028b\x85c"),
        (2, "CONFIG_RECORD", "a\u2028b\x85c"),
    ]


def test_a_whole_log_needs_no_snapshot(tmp_path: Path) -> None:
    """From offset 0 on every record is there; snapshots, indexes and half-written files are not dumped."""
    second = "00000000000000000100.log"
    others = ("00000000000000000050-0000000001.checkpoint", "00000000000000000000.index", "x.checkpoint.part")
    assert given_files(tmp_path, node(tmp_path, second, SEGMENT, *others)) == [SEGMENT, second]


def test_a_trimmed_log_starts_with_the_oldest_snapshot_that_reaches_it(tmp_path: Path) -> None:
    """The oldest usable one keeps the most history; one that ends before the first segment leaves a gap."""
    checkpoints = [f"{offset:020d}-0000000001.checkpoint" for offset in (90, 120, 150)]
    assert given_files(tmp_path, node(tmp_path, "00000000000000000100.log", *checkpoints)) == [
        checkpoints[1],
        "00000000000000000100.log",
    ]


def test_each_lack_has_its_own_message(tmp_path: Path) -> None:
    """No log and a gap are distinguished."""
    with pytest.raises(ClusterError, match="expected the metadata log of a KRaft node"):
        decoded(tmp_path / "nowhere", lambda _: "", tmp_path)
    log_dir = node(tmp_path, "00000000000000000100.log")
    with pytest.raises(ClusterError, match="no snapshot of what was before"):
        decoded(log_dir, lambda _: "", tmp_path)
