"""Judging: the anomalies of one group of dealt operations, as rows of JUDGED."""

from collections.abc import Iterator
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa

from pytest_kmigrate.analysis.consistency.columns import Columns
from pytest_kmigrate.analysis.consistency.dealing import decoded
from pytest_kmigrate.checkers.kernels import ALL_ASPECTS, WHOLE_TOPIC, Anomaly, Aspect, anomalies_in, surroundings
from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.recording.operation_parts import place_of_part, read_part

Row = dict[str, object]

SET_ASIDE, ANOMALY, OPERATIONS = "set aside", "anomaly", "operations"


def judged_group(group: pa.Table) -> Iterator[Row]:
    """What is wrong with the operations of one group (rows of DEALT), and how many there were."""
    folder, aspect = group["folder"][0].as_py(), group["aspect"][0].as_py()
    try:
        chunks = _in_order(group)
        tables = [_decoded(aspect, path, content) for path, content, _ in chunks]
    except RunFolderError as error:
        yield {"what": SET_ASIDE, "folder": folder, "text": str(error)}
        return
    columns = Columns(pa.concat_tables(tables))
    is_copy = np.repeat([is_copy for *_, is_copy in chunks], [len(table) for table in tables])
    yield from ({"what": OPERATIONS, "folder": folder, **row} for row in _counts(aspect, columns, ~is_copy))
    kind = columns["kind"]
    around = columns.rows(
        (kind == OperationKind.FINAL_READ) | ((kind == OperationKind.PRODUCE) & (columns["partition"] < 0))
    )
    settled = surroundings(around, is_settled=group["is_settled"][0].as_py())
    aspects = {Aspect(aspect)} if aspect else ALL_ASPECTS
    for anomaly in anomalies_in(columns.by_partition(), settled, aspects):
        yield {"what": ANOMALY, "folder": folder, **_row(anomaly)}


def _in_order(group: pa.Table) -> list[tuple[str, pa.Buffer, bool]]:
    """(path, content, is copy) of every file or slice, in the order in which the clients wrote them."""
    paths = group["path"].to_pylist()
    contents = [content.as_buffer() for content in group["content"]]
    chunks = zip(paths, contents, group["is_copy"].to_pylist(), strict=True)
    return sorted(chunks, key=lambda chunk: place_of_part(PurePosixPath(chunk[0])))


def _decoded(aspect: str, path: str, content: pa.Buffer) -> pa.Table:
    return decoded(content) if aspect else read_part(path, content)


def _counts(aspect: str, columns: Columns, is_counted: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> Iterator[Row]:
    """How many operations of each kind and outcome per partition; each is counted under one aspect only."""
    if aspect not in ("", Aspect.RECORD.value, Aspect.READER.value):
        return
    if aspect == Aspect.READER.value:
        is_counted = is_counted & (columns["kind"] == OperationKind.COMMIT)
    names = ("topic", "partition", "kind", "outcome")
    outcomes, kinds = len(OperationOutcome), len(OperationKind)
    width = int(columns["partition"].max(initial=0)) + 1 - WHOLE_TOPIC
    place = columns["topic"].astype(np.int64) * width + (columns["partition"] - WHOLE_TOPIC)
    code = ((place * kinds + columns["kind"]) * outcomes + columns["outcome"])[is_counted]
    for key, count in zip(*np.unique(code, return_counts=True), strict=True):
        rest, outcome = divmod(int(key), outcomes)
        rest, kind = divmod(rest, kinds)
        topic, partition = divmod(rest, width)
        values = (columns.text("topic", topic), partition + WHOLE_TOPIC)
        told = (*values, OperationKind(kind).name, OperationOutcome(outcome).name)
        yield {**dict(zip(names, told, strict=True)), "count": int(count)}


def _row(anomaly: Anomaly) -> Row:
    return {
        "name": anomaly.name.value,
        "kind": anomaly.name.kind.value if anomaly.name.kind else None,
        "topic": anomaly.topic,
        "partition": anomaly.partition,
        "count": anomaly.count,
        "text": anomaly.counterexample,
        "at_ns": anomaly.at_ns,
        "evidence": anomaly.evidence,
    }
