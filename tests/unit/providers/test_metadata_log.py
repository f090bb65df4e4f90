"""The dump tool's output is read whatever it holds, and the right files are given to it."""

import zipfile
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import ClusterError, DistributionError
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


def jar(folder: Path, main_class: str = "kafka/tools/DumpLogSegments") -> str:
    """A class path whose one jar has the dump tool under this name."""
    path = folder / "kafka_2.13-0.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{main_class}.class", b"")
    return str(path)


def java(folder: Path, script: str) -> Path:
    """A program in Java's place."""
    path = folder / "java"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def given_files(folder: Path, log_dir: Path) -> list[str]:
    """The names of the files that the tool is asked to dump."""
    decoded(log_dir, java(folder, f'for word; do last=$word; done; echo "$last" > {folder}/given'), jar(folder))
    return [Path(path).name for path in (folder / "given").read_text().strip().split(",")]


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
    assert image_from_records([record]).extra["record_counts"] == {"UNREADABLE": 1}


def test_decoded_records_hold_no_secret(tmp_path: Path) -> None:
    """What leaves this module may be written to the run folder."""
    data = '{"resourceType":4,"resourceName":"1","name":"ssl.key.password","value":"hunter2"}'
    line = f'| offset: 1 CreateTime: 1 keySize: -1 payload: {{"type":"CONFIG_RECORD","version":0,"data":{data}}}'
    (tmp_path / "out").write_text(line + "\n")
    found = decoded(node(tmp_path, SEGMENT), java(tmp_path, f"cat {tmp_path}/out"), jar(tmp_path))
    assert "hunter2" not in str(found)
    assert found[0]["data"]["value"].startswith("sha256:")


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


@pytest.mark.parametrize(
    "main_class", ["kafka/tools/DumpLogSegments", "org/apache/kafka/tools/DumpLogSegments"], ids=["to-4.0", "later-4.x"]
)
def test_the_tools_class_is_found_in_the_jars(tmp_path: Path, main_class: str) -> None:
    """It moved within 4.x; the jars show where it is, also through a class path with a star."""
    jar(tmp_path, main_class)
    program = java(tmp_path, f'echo "$@" > {tmp_path}/words')
    decoded(node(tmp_path, SEGMENT), program, f"{tmp_path}/*")
    assert f" {main_class.replace('/', '.')} --cluster-metadata-decoder" in (tmp_path / "words").read_text()


def test_each_lack_has_its_own_message(tmp_path: Path) -> None:
    """No log, a gap, no tool, no Java, a failing and a hanging tool are distinguished."""
    working, classpath = java(tmp_path, "true"), jar(tmp_path)
    with pytest.raises(ClusterError, match="expected the metadata log of a KRaft node"):
        decoded(tmp_path / "nowhere", working, classpath)
    log_dir = node(tmp_path, "00000000000000000100.log")
    with pytest.raises(ClusterError, match="no snapshot of what was before"):
        decoded(log_dir, working, classpath)
    (log_dir / "__cluster_metadata-0" / SEGMENT).write_bytes(b"")
    with pytest.raises(DistributionError, match="DumpLogSegments in the Kafka jars"):
        decoded(log_dir, working, str(tmp_path / "no.jar"))
    with pytest.raises(DistributionError, match="expected a Java program"):
        decoded(log_dir, tmp_path / "absent", classpath)
    with pytest.raises(ClusterError, match=r"got 3(.|\n)*password=sha256:"):
        decoded(log_dir, java(tmp_path, "echo password=hunter2 >&2; exit 3"), classpath)
    with pytest.raises(ClusterError, match="did not end within"):
        decoded(log_dir, java(tmp_path, "exec tail -f /dev/null"), classpath, within_s=0.1)
