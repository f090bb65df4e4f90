"""The consistency mart: what one process finds in a run, Spark finds in many, however a run is cut."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from pytest_kmigrate.analysis import consistency
from pytest_kmigrate.analysis.consistency import dealing
from pytest_kmigrate.analysis.consistency.dealing import dealt, decoded
from pytest_kmigrate.analysis.consistency.judging import judged_group
from pytest_kmigrate.analysis.consistency.tables import MOST_BYTES
from pytest_kmigrate.analysis.schemas.consistency import CONSISTENCY
from pytest_kmigrate.checkers.kernels import Aspect, anomalies_of
from pytest_kmigrate.recording.operation_parts import read_operations, read_part
from pytest_kmigrate.reports.ingestion.operations import operation_parts
from tests.bench.operations import Shape, SyntheticRun, synthetic_run, write_parts
from tests.spark.run_folders import write_operations
from tests.unit.checkers.histories import FAILED, MS, consumed, read_back, sent, unsure

SHAPES = {
    "plain": Shape(),
    "transactional": Shape(is_transactional=True),
    "one producer": Shape(1, 1, 1),
    "skewed": Shape(skew=0.9),
}
Found = Counter[tuple[str, str, str | None, int | None]]
Place = tuple[str, str | None, int | None]


def planted(runs: dict[str, SyntheticRun]) -> Found:
    """What is wrong in some runs, as rows of the mart are compared."""
    return Counter(
        {(folder, key[0].value, *key[1:]): n for folder, run in runs.items() for key, n in run.planted.items()}
    )


def found(judged: DataFrame) -> Found:
    """What the mart says, without what Kafka allows."""
    rows = consistency.anomalies(judged).where("kind is not null").collect()
    return Counter({(row["folder"], row["class"], row["topic"], row["partition"]): row["count"] for row in rows})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, SyntheticRun]]:
    """A folder of one run of each shape, one of them below another folder."""
    root = tmp_path_factory.mktemp("runs with a space, and 100%")
    made = {f"night-1/{name}": synthetic_run(7, 12_000, shape) for name, shape in SHAPES.items()}
    for folder, run in made.items():
        write_parts(run, root / folder / "operations")
    return root, made


@pytest.fixture(scope="module", params=[MOST_BYTES, 20_000], ids=["whole", "in slices"])
def judged(
    request: pytest.FixtureRequest, spark: SparkSession, runs: tuple[Path, dict[str, SyntheticRun]]
) -> Iterator[DataFrame]:
    """What there is to say of these runs, judged once; the runs as they are, and cut."""
    root, made = runs
    parts = operation_parts(spark, f"file://{root}", dict.fromkeys(made, True), {})
    frame = consistency.judged(parts, request.param).cache()
    yield frame
    frame.unpersist()


def test_every_planted_anomaly_is_found_and_none_invented(
    judged: DataFrame, runs: tuple[Path, dict[str, SyntheticRun]]
) -> None:
    """Of every run, class, topic and partition the mart counts what was planted there, however the run is cut."""
    _, made = runs
    assert found(judged) == planted(made)


def test_every_operation_is_counted_once(judged: DataFrame, runs: tuple[Path, dict[str, SyntheticRun]]) -> None:
    """The mart's evidence is all there was, by kind and outcome, also of sends that never had a partition."""
    root, made = runs
    counts = consistency.operation_counts(judged)
    assert counts.schema.names == CONSISTENCY["operation_counts"].names
    for folder in made:
        operations = read_operations(root / folder / "operations")
        wanted = Counter(
            zip(operations.topic.tolist(), operations.partition.tolist(), operations.kind.tolist(), strict=True)
        )
        rows = counts.where(counts.folder == folder).collect()
        assert sum(row["operations"] for row in rows) == len(operations)
        by_place = Counter[tuple[str, int]]()
        for row in rows:
            by_place[row["topic"], row["partition"]] += row["operations"]
        of_places = Counter[tuple[str, int]]()
        for (topic, partition, _), count in wanted.items():
            of_places[topic, partition] += count
        assert by_place == of_places


def test_what_a_run_would_have_shown_is_told_however_it_is_cut(
    judged: DataFrame, runs: tuple[Path, dict[str, SyntheticRun]]
) -> None:
    """Transactions only where there were some; what was found is among it."""
    _, made = runs
    reported = {row["folder"]: set(row["classes"]) for row in consistency.checked_classes(judged).collect()}
    assert {folder for folder in reported if "torn transaction" in reported[folder]} == {"night-1/transactional"}
    assert {(folder, key[0].value) for folder, run in made.items() for key in run.planted} <= {
        (folder, name) for folder, names in reported.items() for name in names
    }
    assert {"poll skip", "read below committed"} <= reported["night-1/plain"]


def test_a_run_with_a_damaged_part_is_set_aside_and_no_other(
    spark: SparkSession, runs: tuple[Path, dict[str, SyntheticRun]], tmp_path: Path
) -> None:
    """Half of a run's operations prove nothing: it shows no anomaly, nor counts as checked, but path and reason.

    The other run shows all.
    """
    _, made = runs
    pair = {"bad": made["night-1/plain"], "good": made["night-1/transactional"]}
    for folder, run in pair.items():
        write_parts(run, tmp_path / folder / "operations")
    part = tmp_path / "bad" / "operations" / "reader-000001.parquet"
    part.write_bytes(part.read_bytes()[:-9])
    for most_bytes in (MOST_BYTES, 20_000):
        parts = operation_parts(spark, f"file://{tmp_path}", dict.fromkeys(pair, True), {})
        judged = consistency.judged(parts, most_bytes).cache()
        (aside,) = consistency.set_aside(judged).collect()
        assert aside["path"] == "bad/operations"
        assert aside["reason"].startswith("operations/reader-000001.parquet: expected a complete Parquet part")
        assert found(judged) == planted({"good": pair["good"]})
        for counted in (consistency.operation_counts(judged), consistency.checked_classes(judged)):
            assert {row["folder"] for row in counted.collect()} == {"good"}
        judged.unpersist()


@pytest.mark.parametrize("most_bytes", [MOST_BYTES, 20_000], ids=["whole", "in slices"])
def test_a_part_that_is_not_what_its_manifest_names_costs_the_run_its_operations(
    spark: SparkSession, tmp_path: Path, most_bytes: int
) -> None:
    """A whole Parquet file, but another one: compared where its bytes pass, and reported; the others are right."""
    for folder in ("altered", "as it was"):
        write_parts(synthetic_run(7, 9_000), tmp_path / folder / "operations")
    sha256 = {
        folder.name: {f"operations/{part.name}": hashlib.sha256(part.read_bytes()).hexdigest() for part in parts}
        for folder in tmp_path.iterdir()
        if (parts := sorted((folder / "operations").iterdir()))
    }
    changed = tmp_path / "altered" / "operations" / "reader-000001.parquet"
    write_operations(changed, read_back(0))

    parts = operation_parts(spark, f"file://{tmp_path}", dict.fromkeys(sha256, True), sha256)
    judged = consistency.judged(parts, most_bytes).cache()

    (aside,) = consistency.set_aside(judged).collect()
    assert aside["path"] == "altered/operations"
    assert aside["reason"].startswith("operations/reader-000001.parquet: it differs from the digest in manifest.json")
    assert {row["folder"] for row in consistency.anomalies(judged).collect()} == {"as it was"}
    judged.unpersist()


def test_a_run_that_did_not_end_has_no_phantoms(
    spark: SparkSession, runs: tuple[Path, dict[str, SyntheticRun]]
) -> None:
    """Its sends in flight have no row, nor have its last reads: what lacks one proves nothing, all else still does."""
    root, made = runs
    one = {"night-1/plain": made["night-1/plain"]}
    wanted = Counter({key: count for key, count in planted(one).items() if key[1] not in ("phantom", "poll skip")})
    assert wanted != planted(one)
    parts = operation_parts(spark, f"file://{root}", dict.fromkeys(one, False), {})
    assert found(consistency.judged(parts)) == wanted


@pytest.fixture(scope="module", params=SHAPES.values(), ids=list(SHAPES))
def wholes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Counter[Place]]:
    """Operations of four runs of one shape, and how often they show what where when they are not cut."""
    root = tmp_path_factory.mktemp("wholes")
    for seed in range(4):
        write_parts(synthetic_run(seed, 9_000, request.param), root / f"{seed}")
    shown = {folder: anomalies_of(read_operations(folder)) for folder in root.iterdir()}
    return {
        folder: Counter({(each.name.value, each.topic, each.partition): each.count for each in anomalies})
        for folder, anomalies in shown.items()
    }


@pytest.mark.parametrize(("slices", "run_bits"), [(2, 12), (7, 12), (3, 2)])
def test_slices_show_what_the_whole_shows(
    wholes: dict[Path, Counter[Place]], monkeypatch: pytest.MonkeyPatch, slices: int, run_bits: int
) -> None:
    """Cutting loses and invents nothing, whatever goes into which slice, be it every four offsets into another."""
    monkeypatch.setattr(dealing, "_RUN_BITS", run_bits)
    for folder, whole in wholes.items():
        by_class: Counter[Place] = Counter()
        for group in _groups(folder, slices).values():
            for row in judged_group(pa.Table.from_pylist(group)):
                if row["what"] == "anomaly":
                    by_class[row["name"], row["topic"], row["partition"]] += row["count"]  # type: ignore[index, operator]
        assert by_class == whole


def test_a_slice_holds_no_more_columns_than_its_aspect_looks_at(tmp_path: Path) -> None:
    """What is dealt is pruned: who reads needs no errors, what lies at an offset not when it began."""
    write_parts(synthetic_run(1, 9_000), tmp_path)
    part = next(tmp_path.glob("consumers-*"))
    columns = {each.aspect: set(decoded(each.content).column_names) for each in dealt(read_part("part", part), 3)}
    assert "error" not in columns[Aspect.READER]
    assert "began_ns" not in columns[Aspect.OFFSET]


def test_reads_are_dealt_as_the_few_that_tell_something(tmp_path: Path) -> None:
    """Between a first and a last read without a step back, none can show an anomaly of its reader."""
    write_parts(synthetic_run(1, 9_000), tmp_path)
    part = next(tmp_path.glob("consumers-*"))
    table = read_part("part", part)
    reads = sum(len(decoded(each.content)) for each in dealt(table, 3) if each.aspect is Aspect.READER)
    assert reads < pq.ParquetFile(part).metadata.num_rows / 10


@pytest.mark.parametrize("files", [1, 2])
def test_a_skip_over_whole_slices_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int) -> None:
    """A client, assigned anew, leaps over slices in which it read nothing, within a file or from one to the next."""
    monkeypatch.setattr(dealing, "_RUN_BITS", 2)
    log = [row for at in range(40) for row in (sent(at, ended_ns=at), read_back(at))]
    reads = [consumed(at, 100 + at) for at in (20, 21, 22, *range(7), *range(25, 40))]
    written = {"clients-1.parquet": log, "consumers-1.parquet": reads[: 10 if files == 2 else None]}
    written |= {"consumers-2.parquet": reads[10:]} if files == 2 else {}
    for name, rows in written.items():
        write_operations(tmp_path / name, *rows)

    assert _in_slices(tmp_path, 5) == {"poll skip": 15}


def test_an_offset_in_dispute_counts_in_its_own_slice_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two clients leap to one offset and see different records: the leap is known to all slices, its record is not."""
    monkeypatch.setattr(dealing, "_RUN_BITS", 2)
    seen = ((60, 25), (61, 26))
    reads = [consumed(at, 9, client=who, sequence=record, group="") for who, record in seen for at in (0, 25)]
    log = [sent(at) for at in (0, 25, 26)]
    for name, rows in {"clients-1.parquet": log, "consumers-1.parquet": reads}.items():
        write_operations(tmp_path / name, *rows)

    whole = Counter({each.name.value: each.count for each in anomalies_of(read_operations(tmp_path))})

    assert whole["inconsistent offset"] > 0
    assert _in_slices(tmp_path, 5) == whole


def test_slices_know_when_the_final_read_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It begins with the earliest of its rows, wherever that lies: one record was read before it, one meanwhile."""
    monkeypatch.setattr(dealing, "_RUN_BITS", 2)
    log = [sent(at) for at in range(20)] + [unsure(at) for at in (20, 25)]
    final = [read_back(at, began_ns=(900 - at) * MS) for at in range(20)]
    reads = [consumed(20, 870), consumed(25, 890)]
    for name, rows in {"clients-1.parquet": log, "consumers-1.parquet": reads, "reader-1.parquet": final}.items():
        write_operations(tmp_path / name, *rows)

    assert _in_slices(tmp_path, 5) == {"lost write": 1}
    (whole,) = anomalies_of(read_operations(tmp_path))
    assert (whole.name.value, whole.count) == ("lost write", 1)


@pytest.mark.parametrize(("producer", "duplicates"), [(1, 0), (2, 1)], ids=["its producer", "another one"])
def test_slices_know_when_a_producer_gave_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, producer: int, duplicates: int
) -> None:
    """It gave up on a record of another slice and partition, while what is twice in the log waited for its answer."""
    monkeypatch.setattr(dealing, "_RUN_BITS", 2)
    beside = {"partition": 1, "producer": producer}
    log = [sent(1, 0, **beside), unsure(0, **beside, ended_ns=80), sent(24, 31, began_ns=10, ended_ns=90)]
    final = [read_back(24, at, began_ns=900, ended_ns=900) for at in (30, 31)]
    for name, rows in {"clients-1.parquet": log, "reader-1.parquet": final}.items():
        write_operations(tmp_path / name, *rows)

    whole = Counter({each.name.value: each.count for each in anomalies_of(read_operations(tmp_path))})

    assert whole["duplicate"] == duplicates
    assert _in_slices(tmp_path, 5) == whole


def test_slices_know_of_a_topic_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was finally read at all, since there was nothing left to read."""
    monkeypatch.setattr(dealing, "_RUN_BITS", 2)
    gone = read_back(-1, producer=-1, partition=-1, outcome=FAILED, error="UNKNOWN_TOPIC_OR_PARTITION")
    for name, rows in {"clients-1.parquet": [sent(at) for at in range(20)], "reader-1.parquet": [gone]}.items():
        write_operations(tmp_path / name, *rows)

    assert _in_slices(tmp_path, 5) == {"lost write": 20}
    shown = [row for group in _groups(tmp_path, 5).values() for row in judged_group(pa.Table.from_pylist(group))]
    assert "lost write" in {row["name"] for row in shown if row["what"] == "checked"}


def _in_slices(folder: Path, slices: int) -> Counter[str]:
    """What the slices of a run show together."""
    found: Counter[str] = Counter()
    for group in _groups(folder, slices).values():
        for row in judged_group(pa.Table.from_pylist(group)):
            if row["what"] == "anomaly":
                found[str(row["name"])] += int(str(row["count"]))
    return found


def _groups(folder: Path, slices: int) -> dict[tuple[str, int], list[dict[str, object]]]:
    """What Spark would put into each group."""
    groups: dict[tuple[str, int], list[dict[str, object]]] = {}
    for part in sorted(folder.iterdir()):
        for each in dealt(read_part(part.name, part), slices):
            row = {"folder": "r", "aspect": each.aspect.value, "path": part.name, "is_settled": True}
            row |= {"is_copy": each.is_copy, "content": each.content.to_pybytes(), "sha256": None}
            groups.setdefault((each.aspect.value, each.number), []).append(row)
    return groups
