"""Judging: the anomalies of one group of dealt operations, as rows of JUDGED."""

import hashlib
from collections.abc import Iterator
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa

from pytest_kmigrate.analysis.consistency.columns import Columns
from pytest_kmigrate.analysis.consistency.dealing import decoded
from pytest_kmigrate.checkers.kernels import (
    ALL_ASPECTS,
    WHOLE_TOPIC,
    Anomaly,
    Aspect,
    anomalies_in,
    could_show,
    surroundings,
)
from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.model.refusals import GIVEN_UP
from pytest_kmigrate.recording.operation_parts import place_of_part, read_part

Row = dict[str, object]

SET_ASIDE, ANOMALY, OPERATIONS, CHECKED = "set aside", "anomaly", "operations", "checked"


def judged_group(group: pa.Table) -> Iterator[Row]:
    """What is wrong with the operations of one group (rows of DEALT), what might have been, and how many there were."""
    folder, aspect = group["folder"][0].as_py(), group["aspect"][0].as_py()
    try:
        chunks = _in_order(group)
        tables = [
            decoded(content) if aspect else whole_part(path, content, sha256) for path, content, sha256, _ in chunks
        ]
    except RunFolderError as error:
        yield {"what": SET_ASIDE, "folder": folder, "text": str(error)}
        return
    columns = Columns(pa.concat_tables(tables))
    is_copy = np.repeat([is_copy for *_, is_copy in chunks], [len(table) for table in tables])
    yield from ({"what": OPERATIONS, "folder": folder, **row} for row in _counts(aspect, columns, ~is_copy))
    kind = columns["kind"]
    is_without = (columns["partition"] < 0) | columns.says("error", GIVEN_UP)
    around = columns.rows((kind == OperationKind.FINAL_READ) | ((kind == OperationKind.PRODUCE) & is_without))
    settled = surroundings(around, is_settled=group["is_settled"][0].as_py())
    aspects = {Aspect(aspect)} if aspect else ALL_ASPECTS
    looked_at = {name: columns[name] for name in ("outcome", "idempotent", "transaction")}
    looked_at |= {"kind": kind, "in_group": columns.is_told("group")}
    for name in could_show(looked_at, aspects, settled):
        yield {"what": CHECKED, "folder": folder, "name": name.value}
    for anomaly in anomalies_in(columns.by_partition(), settled, aspects):
        yield {"what": ANOMALY, "folder": folder, **_row(anomaly)}


def whole_part(path: str, content: pa.Buffer, sha256: str | None) -> pa.Table:
    """The rows of a file as it was written; RunFolderError when it is not that."""
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise RunFolderError(f"{path}: it differs from the digest in manifest.json: it was changed after the run ended")
    return read_part(path, content)


def _in_order(group: pa.Table) -> list[tuple[str, pa.Buffer, str | None, bool]]:
    """(path, content, SHA-256, is copy) of every file or slice, in the order in which the clients wrote them."""
    paths, sha256, is_copy = (group[name].to_pylist() for name in ("path", "sha256", "is_copy"))
    contents = [content.as_buffer() for content in group["content"]]
    chunks = zip(paths, contents, sha256, is_copy, strict=True)
    return sorted(chunks, key=lambda chunk: place_of_part(PurePosixPath(chunk[0])))


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
        reported = (*values, OperationKind(kind).name, OperationOutcome(outcome).name)
        yield {**dict(zip(names, reported, strict=True)), "count": int(count)}


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
