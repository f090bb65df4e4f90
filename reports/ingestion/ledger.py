"""The ledger: which run folders are counted, by what digest each is known, and in which batch its facts lie.

It is a table of one Parquet file, ``ingested/part-<number>.parquet``, and the file with the highest number is in force.
A new one appears by a single rename, after everything it speaks of is on disk: an analysis that is interrupted leaves
the old one, and what was written meanwhile is in no ledger, so it is never read. An object store has no rename, but the
one object that is copied instead appears whole too, and under a name that nothing had: the rule holds there as well.

Rules:

- A run folder with the same digest as before is not read again. One that changed is read, and its new facts replace the
  old ones.
- A run whose folder is gone stays counted: runs are archived and removed, what they showed stays true. The report says
  so. If another folder holds the same run (the same digest), it has been moved, and counts from there.
- A release that computes facts differently (``FORMAT``) reads anew what is still there. If that is not all, the old
  tables are moved aside, into ``_format-<number>``: they count no longer, which is reported while they are there.
- The tables belong to one folder of runs. Those of another one are never mixed in, nor thrown away: that is reported as
  wrong use.
"""

import io
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema

from pytest_kmigrate.analysis.schemas import INGESTED, TABLES
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.ingestion.discovery import FoundRun
from pytest_kmigrate.reports.ingestion.storage import Storage

FORMAT = 15
"""Raise it when facts are computed differently: everything that is still there is then read anew."""

FOLDER = "ingested"

EARLIER = "_format-"
"""How folders begin that hold tables of earlier formats; Spark and others overlook what begins so."""

UNFINISHED = "_unfinished"
"""Tables that are computed anew lie here until all are complete; they are overlooked likewise."""

MOST_RUNS_PER_BATCH = 2_500
"""So many are read before the ledger is written: an interrupted analysis of many runs goes on from there."""

MOST_BATCHES = 12
"""More than that are merged, the smallest first: many small files are slow to read."""


@dataclass(frozen=True)
class Ingested:
    """One row of the ledger, in the order of its columns."""

    folder: str
    digest: str
    stamp: str
    batch: int
    is_complete: bool
    root: str
    format: int = FORMAT


Ledger = Mapping[str, Ingested]
"""Folder -> its row."""


@dataclass(frozen=True)
class Step:
    """One batch to write: these runs are read, and of ``absorbed`` batches the other rows are taken over."""

    batch: int
    runs: tuple[FoundRun, ...]
    absorbed: tuple[int, ...]
    ledger: Ledger
    """The ledger when the step is done."""

    stale: frozenset[str]
    """Folders whose rows in absorbed batches count no longer."""


def read_ledger(tables: Storage, root: str) -> Ledger:
    """What was ingested so far; nothing when facts were computed differently then."""
    rows = _rows(tables, FOLDER)
    other = next((row.root for row in rows if row.root != root), None)
    if other is not None:
        raise WrongUseError(
            f"{tables.uri}: expected tables of {root}, got those of {other}; "
            "choose another --out, or remove that folder to begin anew"
        )
    return {row.folder: row for row in rows if row.format == FORMAT}


def make_room(tables: Storage, runs: Sequence[FoundRun]) -> None:
    """Remove what an analysis without a ledger of this format finds; what is the last word on some run is kept aside.

    The ledger goes last: interrupted, this goes on where it was. Without any ledger there is what an interrupted
    analysis left, or a folder of somebody else's that happens to have this name: WrongUseError.
    """
    rows = _rows(tables, FOLDER)
    strange = None if rows else next((name for name in tables.names("") if not _may_be_ours(tables, name)), None)
    if strange is not None:
        raise WrongUseError(
            f"{tables.uri}: expected a folder of tables of an earlier analysis, or none, got {strange} in it; "
            "nothing in it was touched; choose another --out"
        )
    has_last_word = bool(gone(runs, {row.folder: row for row in rows}))
    names = [name for name in tables.names("") if not name.startswith(EARLIER)]
    for name in sorted(names, key=lambda name: (name == FOLDER, name)):
        if has_last_word:
            tables.move(name, f"{EARLIER}{rows[0].format}/{name}")
        else:
            tables.delete(name)


def _may_be_ours(tables: Storage, name: str) -> bool:
    """Whether something among the tables has the name, and what is in it names, that an analysis gives."""
    if name in (FOLDER, UNFINISHED) or name.startswith(EARLIER):
        return True
    return name in TABLES and all(each.startswith(("batch=", "part-", "_", ".")) for each in tables.names(name))


def no_longer_counted(tables: Storage, runs: Sequence[FoundRun], ledger: Ledger) -> dict[str, list[str]]:
    """Folder of tables of an earlier format -> run folders that are only there."""
    earlier = [name for name in tables.names("") if name.startswith(EARLIER)]
    only_there = {
        name: sorted(
            {row.folder for row in _rows(tables, f"{name}/{FOLDER}")} - {run.folder for run in runs} - {*ledger}
        )
        for name in earlier
    }
    return {name: folders for name, folders in only_there.items() if folders}


def write_ledger(tables: Storage, ledger: Ledger) -> None:
    """Put a new ledger in force."""
    parts = _parts(tables, FOLDER)
    rows = [dict(zip(INGESTED.names, astuple(row), strict=True)) for row in ledger.values()]
    written = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, to_arrow_schema(INGESTED)), written)
    number = 1 + max((int(part[len("part-") : -len(".parquet")]) for part in parts), default=0)
    tables.write(f"{FOLDER}/part-{number:06d}.parquet", written.getvalue())
    for part in parts:
        tables.delete(f"{FOLDER}/{part}")


def batches(ledger: Ledger) -> list[int]:
    """The batches that hold facts of it."""
    return sorted({row.batch for row in ledger.values()})


def steps(
    runs: Sequence[FoundRun], digests: Mapping[str, str], ledger: Ledger, root: str, free_batch: int
) -> Iterator[Step]:
    """What is to be done so that all runs are counted as they are now; ``free_batch`` and above are free numbers."""
    now = _without_moved(runs, digests, ledger)
    removed = {ledger[folder].batch for folder in ledger.keys() - now.keys()}
    changed = [run for run in runs if run.folder not in now or now[run.folder].digest != digests[run.folder]]
    # Changed folders first: the batches they lie in are then rewritten once.
    changed.sort(key=lambda run: (run.folder not in now, run.folder))
    chunks = [changed[at : at + MOST_RUNS_PER_BATCH] for at in range(0, len(changed), MOST_RUNS_PER_BATCH)]
    for batch, chunk in enumerate(chunks, free_batch):
        absorbed = {now[run.folder].batch for run in chunk if run.folder in now} | removed
        removed = set()
        if chunk is chunks[-1]:
            absorbed |= _small_ones(now, absorbed)
        read = {
            run.folder: Ingested(run.folder, digests[run.folder], run.stamp, batch, run.is_complete, root)
            for run in chunk
        }
        before = {folder for folder, row in ledger.items() if row.batch in absorbed} | {
            folder for folder, row in now.items() if row.batch in absorbed
        }
        taken_over = {folder: replace(now[folder], batch=batch) for folder in before & now.keys() - read.keys()}
        now = {**now, **taken_over, **read}
        yield Step(batch, tuple(chunk), tuple(sorted(absorbed)), now, frozenset(before - taken_over.keys()))


def gone(runs: Sequence[FoundRun], ledger: Ledger) -> list[str]:
    """Folders that are counted although they are no longer there."""
    return sorted(ledger.keys() - {run.folder for run in runs})


def _without_moved(runs: Sequence[FoundRun], digests: Mapping[str, str], ledger: Ledger) -> Ledger:
    there = {run.folder for run in runs}
    known = set(digests.values())
    return {folder: row for folder, row in ledger.items() if folder in there or row.digest not in known}


def _small_ones(ledger: Ledger, absorbed: Collection[int]) -> set[int]:
    """The batches to merge, so that no more than half of the most allowed stay; none while they are few."""
    sizes = Counter(row.batch for row in ledger.values() if row.batch not in absorbed)
    if len(sizes) < MOST_BATCHES:
        return set()
    return {batch for batch, _ in sorted(sizes.items(), key=lambda size: size[1])[: len(sizes) - MOST_BATCHES // 2]}


def _rows(tables: Storage, folder: str) -> list[Ingested]:
    """The rows of the ledger in a folder, of whatever format."""
    parts = _parts(tables, folder)
    if not parts:
        return []
    path = f"{folder}/{parts[-1]}"
    return [Ingested(**row) for row in pq.read_table(io.BytesIO(tables.contents([path])[path])).to_pylist()]


def _parts(tables: Storage, folder: str) -> list[str]:
    return [name for name in tables.names(folder) if name.startswith("part-") and name.endswith(".parquet")]
