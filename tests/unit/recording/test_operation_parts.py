"""Client operations in Parquet parts."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.operations import COLUMNS, OPTIONAL_COLUMNS, Operations, no_operations
from pytest_kmigrate.recording.operation_parts import PartWriter, Row, read_operations

AT_ONCE = 0.0
NEVER = 1e9


def _row(client: int, sequence: int, topic: str = "orders", error: str = "") -> Row:
    return (0, 0, client, topic, 1, sequence, client, sequence, sequence, sequence + 1, "", True, error)


def test_rows_come_back_as_they_went_in(tmp_path: Path) -> None:
    """Every column of every row survives the way through a part, with the types that the model names."""
    writer = PartWriter(tmp_path, "clients", NEVER)
    rows = [_row(1, 0), _row(1, 1, "pay-ments", "_MSG_TIMED_OUT"), (3, 2, 9, "x", -1, -1, -1, -1, 5, 6, "g", False, "")]
    writer.extend(rows)
    writer.close()
    operations = read_operations(tmp_path)
    assert list(zip(*(getattr(operations, name) for name in COLUMNS), strict=True)) == rows
    empty = no_operations()
    assert all(getattr(operations, name).dtype == getattr(empty, name).dtype for name in COLUMNS)


def test_the_file_has_the_columns_of_the_model_compressed_and_dictionary_encoded(tmp_path: Path) -> None:
    """Columns, their order and Arrow types are those of COLUMNS; text columns are dictionaries; zstd throughout."""
    writer = PartWriter(tmp_path, "clients", NEVER)
    writer.append(_row(1, 0))
    writer.close()
    part = pq.ParquetFile(tmp_path / "clients-000001.parquet")
    assert {field.name: str(field.type) for field in part.schema_arrow} == COLUMNS
    columns = [part.metadata.row_group(0).column(number) for number in range(len(COLUMNS))]
    assert {column.compression for column in columns} == {"ZSTD"}
    of_topic = columns[list(COLUMNS).index("topic")]
    assert "RLE_DICTIONARY" in of_topic.encodings


def test_parts_are_closed_while_the_client_still_works(tmp_path: Path) -> None:
    """What was written before a kill can be read, because a part is complete as soon as it is due."""
    writer = PartWriter(tmp_path, "clients", AT_ONCE)
    writer.append(_row(1, 0))
    writer.append(_row(1, 1))
    assert sorted(part.name for part in tmp_path.iterdir()) == ["clients-000001.parquet", "clients-000002.parquet"]
    assert len(read_operations(tmp_path)) == 2


def test_a_silent_client_s_rows_are_closed_too(tmp_path: Path) -> None:
    """Rows do not wait in memory for the next row."""
    writer = PartWriter(tmp_path, "clients", NEVER)
    writer.append(_row(1, 0))
    writer.close_part_if_due()
    assert len(read_operations(tmp_path)) == 0
    writer._due = 0.0
    writer.close_part_if_due()
    assert len(read_operations(tmp_path)) == 1


def test_rows_are_in_the_order_of_the_parts_of_each_client(tmp_path: Path) -> None:
    """The millionth part comes after the one before it, whatever a sorting of names would say."""
    for client, name in ((2, "b"), (1, "a-x")):
        writer = PartWriter(tmp_path, name, AT_ONCE)
        for sequence in range(11):
            writer.append(_row(client, sequence))
    (tmp_path / "b-000010.parquet").rename(tmp_path / "b-999999.parquet")
    (tmp_path / "b-000011.parquet").rename(tmp_path / "b-1000000.parquet")
    operations = read_operations(tmp_path)
    assert operations.sequence.tolist() == [*range(11), *range(11)]
    assert operations.client.tolist() == [1] * 11 + [2] * 11


def test_a_second_process_of_the_same_name_continues_the_parts(tmp_path: Path) -> None:
    """Nothing that was written is ever overwritten."""
    for sequence in range(2):
        writer = PartWriter(tmp_path, "clients", NEVER)
        writer.append(_row(1, sequence))
        writer.close()
    assert read_operations(tmp_path).sequence.tolist() == [0, 1]


def test_whole_rows_appear_all_together_or_not_at_all(tmp_path: Path) -> None:
    """Half a final read never looks like a final read that found records missing."""
    finished, broken = (PartWriter(tmp_path, name, AT_ONCE, whole=True) for name in ("done", "broken"))
    for sequence in range(3):
        finished.append(_row(1, sequence))
        broken.append(_row(2, sequence))
    assert len(read_operations(tmp_path)) == 0
    finished.close()
    broken.abandon()
    broken.close()
    assert set(read_operations(tmp_path).client.tolist()) == {1}
    assert not list(tmp_path.glob(".*"))


def test_parts_without_transactions_are_read_beside_parts_with_them(tmp_path: Path) -> None:
    """A part of an older run, and of any client without transactions, has no such columns: it was in none."""
    plain, transactional = PartWriter(tmp_path, "a", NEVER), PartWriter(tmp_path, "b", NEVER)
    plain.append(_row(1, 0))
    transactional.append((*_row(2, 0), 7, 1))
    plain.close()
    transactional.close()
    old, new = (pq.read_schema(tmp_path / f"{name}-000001.parquet") for name in "ab")
    assert old.names == list(COLUMNS)
    assert new.names == [*COLUMNS, *OPTIONAL_COLUMNS]
    operations = read_operations(tmp_path)
    assert operations.client.tolist() == [1, 2]
    assert operations.transaction.tolist() == [-1, 7]
    assert operations.transaction_outcome.tolist() == [0, 1]
    assert operations.transaction.dtype == np.int64
    assert operations.transaction_outcome.dtype == np.int8


def test_operations_without_transactions_are_in_none() -> None:
    """Columns made by older code have no transactions either, and can be cut and chosen from like any others."""
    empty = no_operations()
    one = Operations(**{name: np.zeros(3, getattr(empty, name).dtype) for name in COLUMNS})
    assert one.transaction.tolist() == [-1, -1, -1]
    assert one.where(np.array([True, False, True])).transaction.tolist() == [-1, -1]


def test_chosen_rows_are_rows_like_any_others() -> None:
    """Rows chosen by mask or position, some of these, and a copy with another column have the same in every column."""
    columns = {name: np.arange(5).astype(getattr(no_operations(), name).dtype) for name in COLUMNS}
    every = Operations(**columns, transaction=np.arange(5), transaction_outcome=np.zeros(5, np.int8))
    chosen = every.where(np.array([True, False, True, True, True])).where(np.array([3, 0, 2])).between(1, 3)
    assert len(chosen) == 2
    assert {name: getattr(chosen, name).tolist() for name in ("offset", "sequence", "transaction")} == {
        "offset": [0, 3],
        "sequence": [0, 3],
        "transaction": [0, 3],
    }
    assert replace(chosen, offset=np.array([7, 8])).ended_ns.tolist() == [0, 3]
    assert len(every.where(np.zeros(5, np.bool_))) == 0
    with pytest.raises(AttributeError, match="no attribute 'offsets'"):
        _ = chosen.offsets


@pytest.mark.parametrize("damage", ["cut off", "emptied", "other columns", "bits turned"])
def test_a_damaged_part_is_named(tmp_path: Path, damage: str) -> None:
    """A judge must not go on with half of the operations: the error says which file is wrong."""
    writer = PartWriter(tmp_path, "clients", AT_ONCE)
    writer.extend(_row(1, sequence) for sequence in range(1000))
    part = tmp_path / "clients-000001.parquet"
    content = part.read_bytes()
    if damage == "cut off":
        part.write_bytes(content[: len(content) // 2])
    elif damage == "emptied":
        part.write_bytes(b"")
    elif damage == "bits turned":
        part.write_bytes(content[:4] + bytes(255 - byte for byte in content[4:-200]) + content[-200:])
    else:
        pq.write_table(pq.read_table(part).drop(["offset"]), part)
    with pytest.raises(RunFolderError, match=r"clients-000001\.parquet: expected"):
        read_operations(tmp_path)


def test_a_part_with_rows_that_lack_a_value_is_named(tmp_path: Path) -> None:
    """No recorder writes them, and a check would take them for something."""
    PartWriter(tmp_path, "clients", AT_ONCE).append(_row(1, 1))
    part = tmp_path / "clients-000001.parquet"
    table = pq.read_table(part)
    pq.write_table(table.set_column(3, "topic", pa.array([None] * len(table), pa.string())), part)
    with pytest.raises(
        RunFolderError, match=r"clients-000001.parquet: expected a value in every row, .* without topic"
    ):
        read_operations(tmp_path)


def test_a_file_that_is_no_part_is_named(tmp_path: Path) -> None:
    """A stray file is an error, not an unknown order."""
    (tmp_path / "clients-last.parquet").write_bytes(b"")
    with pytest.raises(RunFolderError, match=r"clients-last\.parquet"):
        read_operations(tmp_path)


def test_an_empty_folder_holds_no_operations(tmp_path: Path) -> None:
    """No parts are zero rows, not an error: a workload may never have begun."""
    assert len(read_operations(tmp_path)) == 0


def test_texts_of_different_parts_share_one_dictionary(tmp_path: Path) -> None:
    """A topic that only later parts mention keeps its name, and equal names are one object."""
    writer = PartWriter(tmp_path, "clients", AT_ONCE)
    for sequence, topic in enumerate(["a", "b", "a", "c"]):
        writer.append(_row(1, sequence, topic))
    topics = read_operations(tmp_path).topic
    assert topics.tolist() == ["a", "b", "a", "c"]
    assert topics[0] is topics[2]
    assert np.count_nonzero(topics == "a") == 2
