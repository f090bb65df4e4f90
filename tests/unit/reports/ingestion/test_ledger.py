"""The ledger: what is read again, what is replaced, merged, and what stays."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.ingestion import ledger as ledgers
from pytest_kmigrate.reports.ingestion.discovery import FoundRun
from pytest_kmigrate.reports.ingestion.ledger import (
    Ingested,
    Ledger,
    Step,
    gone,
    make_room,
    no_longer_counted,
    read_ledger,
    steps,
    write_ledger,
)
from pytest_kmigrate.reports.ingestion.storage import Entry, LocalStorage

ROOT = "file:///runs"


def _run(folder: str) -> FoundRun:
    return FoundRun(folder, None, (Entry("run.json", is_folder=False),))


def _ledger(**batches: int) -> Ledger:
    return {
        folder: Ingested(folder, f"digest of {folder}", "", batch, is_complete=True, root=ROOT)
        for folder, batch in batches.items()
    }


def _steps(ledger: Ledger, free_batch: int = 9, **digests: str) -> list[Step]:
    return list(steps([_run(folder) for folder in digests], digests, ledger, ROOT, free_batch))


def _batches(ledger: Ledger) -> dict[str, int]:
    return {folder: row.batch for folder, row in ledger.items()}


def test_what_is_known_is_not_read_again() -> None:
    """The same digests: nothing to do, twice or as often as one likes."""
    assert _steps(_ledger(a=1, b=2), a="digest of a", b="digest of b") == []


def test_new_runs_make_a_batch_of_their_own() -> None:
    """What was there stays where it is, untouched."""
    (step,) = _steps(_ledger(a=1), a="digest of a", b="1", c="2")
    assert [run.folder for run in step.runs] == ["b", "c"]
    assert (step.batch, step.absorbed, step.stale) == (9, (), frozenset())
    assert _batches(step.ledger) == {"a": 1, "b": 9, "c": 9}


def test_a_changed_run_replaces_its_old_rows() -> None:
    """Its batch is absorbed: the neighbours' rows are taken over, its own are stale."""
    (step,) = _steps(_ledger(a=1, b=1, c=2), a="changed", b="digest of b", c="digest of c")
    assert ([run.folder for run in step.runs], step.absorbed, step.stale) == (["a"], (1,), {"a"})
    assert _batches(step.ledger) == {"a": 9, "b": 9, "c": 2}
    assert step.ledger["a"].digest == "changed"


def test_a_run_whose_folder_is_gone_stays_counted() -> None:
    """Runs are archived and removed; what they showed stays true, and which they are is reported."""
    ledger = _ledger(a=1, b=1)
    (step,) = _steps(ledger, b="changed")
    assert _batches(step.ledger) == {"a": 9, "b": 9}
    assert gone([_run("b")], ledger) == ["a"]


def test_a_run_that_was_moved_counts_from_where_it_is_now() -> None:
    """The same digest in another folder, and the old folder gone: one run, not two."""
    (step,) = _steps(_ledger(a=1, b=1), **{"archive/a": "digest of a", "b": "digest of b"})
    assert (step.absorbed, step.stale) == ((1,), {"a"})
    assert _batches(step.ledger) == {"b": 9, "archive/a": 9}


def test_many_small_batches_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """When there are too many, the smallest go into the new one; the large ones are left alone."""
    monkeypatch.setattr(ledgers, "MOST_BATCHES", 4)
    (step,) = _steps(_ledger(a=1, b=1, c=2, d=3, e=3, f=4), g="new")
    assert (step.absorbed, step.stale) == ((2, 4), frozenset())
    assert _batches(step.ledger) == {"a": 1, "b": 1, "c": 9, "d": 3, "e": 3, "f": 9, "g": 9}


def test_many_runs_are_read_in_several_steps_changed_ones_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step ends with a ledger that can be put in force, so that an interrupted analysis goes on from there."""
    monkeypatch.setattr(ledgers, "MOST_RUNS_PER_BATCH", 2)
    first, second = _steps(_ledger(c=1, d=1), a="1", b="2", c="3", d="digest of d")
    assert ([run.folder for run in first.runs], [run.folder for run in second.runs]) == (["c", "a"], ["b"])
    assert _batches(first.ledger) == {"c": 9, "d": 9, "a": 9}
    assert (second.absorbed, _batches(second.ledger)) == ((), {"c": 9, "d": 9, "a": 9, "b": 10})


def test_a_ledger_is_read_back_and_the_latest_counts(tmp_path: Path) -> None:
    """A new one takes the place of the old one; what an interrupted write left is not looked at."""
    storage = LocalStorage(tmp_path)
    assert read_ledger(storage, ROOT) == {}
    write_ledger(storage, _ledger(a=1))
    write_ledger(storage, _ledger(a=2, b=2))
    (tmp_path / "ingested" / ".part-000009.parquet.partial").write_text("half")

    assert read_ledger(storage, ROOT) == _ledger(a=2, b=2)
    assert [name for name in storage.names("ingested") if name[0] != "."] == ["part-000002.parquet"]


def test_an_old_ledger_that_was_not_removed_yet_does_not_count(tmp_path: Path) -> None:
    """Interrupted between the new one's appearance and the old one's removal, the new one is in force."""
    storage = LocalStorage(tmp_path)
    write_ledger(storage, _ledger(a=1))
    old = storage.contents(["ingested/part-000001.parquet"])["ingested/part-000001.parquet"]
    write_ledger(storage, _ledger(b=2))
    storage.write("ingested/part-000001.parquet", old)

    assert read_ledger(storage, ROOT) == _ledger(b=2)


def test_tables_of_another_folder_are_neither_mixed_in_nor_thrown_away(tmp_path: Path) -> None:
    """It is wrong use, reported with both folders and what to do."""
    write_ledger(LocalStorage(tmp_path), _ledger(a=1))
    with pytest.raises(WrongUseError, match="expected tables of file:///others, got those of file:///runs; choose"):
        read_ledger(LocalStorage(tmp_path), "file:///others")


def test_facts_that_were_computed_otherwise_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a release that computes facts differently every run that is still there is read anew."""
    write_ledger(LocalStorage(tmp_path), _ledger(a=1))
    monkeypatch.setattr(ledgers, "FORMAT", ledgers.FORMAT + 1)
    assert read_ledger(LocalStorage(tmp_path), ROOT) == {}


def test_what_an_interrupted_analysis_left_is_removed(tmp_path: Path) -> None:
    """One that never came to write a ledger."""
    storage = LocalStorage(tmp_path)
    for path in (
        "verdicts/batch=1/part-0.parquet",
        "cells/part-0.parquet",
        "cells/_SUCCESS",
        "_unfinished/tests/part-0",
    ):
        storage.write(path, b"facts")

    make_room(storage, [_run("a")])

    assert storage.names("") == []


@pytest.mark.parametrize("theirs", ["prices.csv", "tests/test_prices.py", "old/part-0.parquet"])
def test_tables_of_somebody_else_are_not_touched(tmp_path: Path, theirs: str) -> None:
    """A project may have a folder of that name, and in it one that is called as a table of ours is."""
    storage = LocalStorage(tmp_path / "tables")
    for path in ("cells/part-0.parquet", theirs):
        storage.write(path, b"theirs")
    with pytest.raises(WrongUseError, match=f"got {theirs.partition('/')[0]} in it; .* choose another --out"):
        make_room(storage, [_run("a")])
    assert {*storage.contents(["cells/part-0.parquet", theirs]).values()} == {b"theirs"}


def _of_an_earlier_format(tables: Path, monkeypatch: pytest.MonkeyPatch) -> LocalStorage:
    """Tables of runs a and b, as the release before this one left them."""
    storage = LocalStorage(tables)
    write_ledger(storage, _ledger(a=1, b=1))
    storage.write("verdicts/batch=1/part.parquet", b"facts")
    monkeypatch.setattr(ledgers, "FORMAT", ledgers.FORMAT + 1)
    return storage


def test_tables_of_an_earlier_format_are_removed_if_all_their_runs_can_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is lost by it, and nothing is reported."""
    storage = _of_an_earlier_format(tmp_path, monkeypatch)

    make_room(storage, [_run("a"), _run("b"), _run("new")])

    assert storage.names("") == []
    assert no_longer_counted(storage, [], {}) == {}


def test_tables_that_are_the_last_word_on_a_run_are_moved_aside_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run was archived and removed: its facts stay, beside those that count, until somebody removes them.

    An analysis that is interrupted before it has a ledger of its own, and so makes room again, leaves them.
    """
    storage = _of_an_earlier_format(tmp_path, monkeypatch)
    aside = f"_format-{ledgers.FORMAT - 1}"

    make_room(storage, [_run("b")])
    storage.write("verdicts/batch=1/part.parquet", b"of the interrupted one")
    make_room(storage, [_run("b")])

    assert storage.names("") == [aside]
    path = f"{aside}/verdicts/batch=1/part.parquet"
    assert storage.contents([path]) == {path: b"facts"}
    assert no_longer_counted(storage, [_run("b")], {}) == {aside: ["a"]}
    assert no_longer_counted(storage, [_run("b"), _run("a")], {}) == {}
    assert read_ledger(storage, ROOT) == {}
