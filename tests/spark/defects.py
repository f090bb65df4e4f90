"""Defects of run folders, one per way in which a folder may be bad, and what the analysis has to say of each."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.bench.operations import synthetic_run, write_parts
from tests.spark.run_folders import Line, event, migration, verdict

BINARY = bytes(range(256)) * 4

Spoil = Callable[[Path], object]
Row = tuple[str, int | None, str]
"""What is reported: the path below the run folder, the line, and how the reason begins."""

NOT_JSON = " is not a JSON object of the expected shape; it begins: "
NO_END = "the run has no manifest.json: it was interrupted, or is being written; it is counted as at best inconclusive"
NO_RUN_ENDED = "run-ended is missing in the history of a run that has a manifest.json: its last events are lost; "
NO_MANIFEST = "not a manifest ("
NO_FILE = "expected a file, got a folder"


def header(**wrong: object) -> Spoil:
    """The header says something else."""

    def spoil(run: Path) -> None:
        known = json.loads((run / "run.json").read_text())
        (run / "run.json").write_text(json.dumps({**known, **wrong}))

    return spoil


def holds(file: str, content: bytes) -> Spoil:
    """A file is something else."""
    return lambda run: (run / file).write_bytes(content)


def cut(file: str, last_bytes: int) -> Spoil:
    """A file has lost its end."""
    return lambda run: (run / file).write_bytes((run / file).read_bytes()[:-last_bytes])


def is_folder(file: str) -> Spoil:
    """Where a file was there is a folder."""

    def spoil(run: Path) -> None:
        (run / file).unlink(missing_ok=True)
        (run / file).mkdir(parents=True)

    return spoil


def history(*events: Line) -> Spoil:
    """Another history."""
    lines = "".join(json.dumps({"seq": seq, **each}) + "\n" for seq, each in enumerate(events))
    return holds("history.jsonl", lines.encode())


def torn_first(file: str) -> Spoil:
    """Before all lines of a file there is one that cannot be read."""
    return lambda run: (run / file).write_bytes(b"{torn\n" + (run / file).read_bytes())


def both(one: Spoil, other: Spoil) -> Spoil:
    """Two things are wrong."""

    def spoil(run: Path) -> None:
        one(run)
        other(run)

    return spoil


def operations(then: Spoil = lambda _run: None) -> Spoil:
    """Client operations, and what befalls them."""

    def spoil(run: Path) -> None:
        write_parts(synthetic_run(7, 200, is_faulty=False), run / "operations")
        then(run)

    return spoil


def a_part(run: Path) -> str:
    """One of the parts of operations."""
    return str(min((run / "operations").iterdir()).relative_to(run))


def verdicts(**wrong: object) -> Spoil:
    """A verdict more, of which something is wrong."""
    line = json.dumps({**verdict(), **wrong})
    return lambda run: (run / "verdicts.jsonl").write_text((run / "verdicts.jsonl").read_text() + line + "\n")


@dataclass(frozen=True)
class Defect:
    """What is wrong with a run, the rows that are set aside for it, and what the run then is (None: not counted)."""

    spoil: Spoil
    reported: tuple[Row, ...]
    outcome: str | None = "CONFORMS"


BEGAN, *MIDDLE, ENDED = migration()
DEFECTS = {
    "newer-schema": Defect(
        both(header(schema=2), history(BEGAN)), (("run.json", None, "schema version 2 is newer than 1"),), None
    ),
    "never-a-schema": Defect(header(schema=0), (("run.json", None, "schema version 0 was never one of ours"),), None),
    "no-schema": Defect(header(schema=None), (("run.json", None, "run.json has no schema version"),), None),
    "empty-header": Defect(holds("run.json", b""), (("run.json", None, "run.json is missing, empty or too"),), None),
    "binary-header": Defect(holds("run.json", BINARY), (("run.json", None, "run.json" + NOT_JSON + "\ufffd"),), None),
    "folder-as-header": Defect(is_folder("run.json"), (("run.json", None, "run.json is missing"),), None),
    "blank-test": Defect(
        header(test_id=""),
        (("run.json", None, 'run.json: expected test_id to be a text that is not blank, got ""'),),
        None,
    ),
    "cut-header": Defect(cut("run.json", 9), (("run.json", None, "run.json" + NOT_JSON + '{ "schema": 1'),), None),
    "empty-manifest": Defect(holds("manifest.json", b""), (("manifest.json", None, NO_MANIFEST),)),
    "binary-manifest": Defect(holds("manifest.json", BINARY), (("manifest.json", None, NO_MANIFEST),)),
    "deep-manifest": Defect(holds("manifest.json", b"[" * 100_000), (("manifest.json", None, NO_MANIFEST),)),
    "list-as-manifest": Defect(holds("manifest.json", b"[1]"), (("manifest.json", None, NO_MANIFEST),)),
    "folder-as-manifest": Defect(
        is_folder("manifest.json"), (("manifest.json", None, NO_FILE), ("run.json", None, NO_END)), "INCONCLUSIVE"
    ),
    "no-end": Defect(
        both(history(BEGAN), lambda run: (run / "manifest.json").unlink()),
        (("run.json", None, NO_END),),
        "INCONCLUSIVE",
    ),
    "cut-history": Defect(cut("history.jsonl", 20), (("history.jsonl", 7, "the line" + NOT_JSON + '{"seq": 6'),)),
    "history-without-end": Defect(history(BEGAN, *MIDDLE), (("history.jsonl", None, NO_RUN_ENDED),)),
    "empty-history": Defect(holds("history.jsonl", b""), (("history.jsonl", None, NO_RUN_ENDED),)),
    "torn-line-and-no-end": Defect(
        both(history(BEGAN, *MIDDLE), torn_first("history.jsonl")),
        (("history.jsonl", 1, "the line" + NOT_JSON), ("history.jsonl", None, NO_RUN_ENDED)),
    ),
    "folder-as-history": Defect(is_folder("history.jsonl"), (("history.jsonl", None, NO_FILE),)),
    "start-without-a-day": Defect(
        header(started_at="T10:00"), (("run.json", None, "started_at is T10:00: that is no moment"),)
    ),
    "negative-clock": Defect(
        history({**BEGAN, "at_ns": -5}, *MIDDLE, ENDED), (("history.jsonl", 1, "the clock jumped: at_ns is -5, which"),)
    ),
    "far-clock": Defect(
        history(BEGAN, *MIDDLE[:1], {**ENDED, "at_ns": 2**62}, *MIDDLE[1:], ENDED),
        (("history.jsonl", 3, "the clock jumped: at_ns is 4611686018427387904, which is in no run"),),
    ),
    "clock-set-back": Defect(
        history(BEGAN, *MIDDLE, event(1, "note"), ENDED), (("history.jsonl", 7, "the clock ran backwards: at_ns is 1"),)
    ),
    "start-missing": Defect(header(started_at=None), (("run.json", None, "started_at is missing: that is no moment"),)),
    "start-in-words": Defect(header(started_at="noon"), (("run.json", None, "started_at is noon: that is no moment"),)),
    "cut-verdicts": Defect(
        cut("verdicts.jsonl", 20), (("verdicts.jsonl", 1, "the line" + NOT_JSON),), "INCONCLUSIVE"
    ),
    "folder-as-verdicts": Defect(is_folder("verdicts.jsonl"), (("verdicts.jsonl", None, NO_FILE),), "INCONCLUSIVE"),
    "unknown-outcome": Defect(
        verdicts(outcome="\x1b[31mRED"),
        (("verdicts.jsonl", 2, f"unknown outcome: expected one of {', '.join(Outcome.__members__)}; got \ufffd[31m"),),
        "INCONCLUSIVE",
    ),
    "unknown-kind": Defect(
        verdicts(outcome="VIOLATES", kind="safety"),
        (("verdicts.jsonl", 2, f"unknown kind: expected one of {', '.join(kind.value for kind in Kind)}; got safety"),),
        "INCONCLUSIVE",
    ),
    "blank-check": Defect(
        verdicts(check=" "),
        (("verdicts.jsonl", 2, "the line: expected check to be a text that is not blank"),),
        "INCONCLUSIVE",
    ),
    "count-in-words": Defect(
        verdicts(count="many"), (("verdicts.jsonl", 2, "the line" + NOT_JSON),), "INCONCLUSIVE"
    ),
    "cut-operations": Defect(
        operations(lambda run: cut(a_part(run), 100)(run)), (("operations", None, "operations/"),)
    ),
    "empty-operations": Defect(
        operations(holds("operations/more-000001.parquet", b"")),
        (("operations/more-000001.parquet", None, "expected a complete Parquet part, got an empty file"),),
    ),
    "folder-as-part": Defect(
        operations(is_folder("operations/more-000001.parquet")), (("operations/more-000001.parquet", None, NO_FILE),)
    ),
    "file-as-operations": Defect(
        holds("operations", b"x"), (("operations", None, "expected a folder, got a file"),)
    ),
    "link-to-itself": Defect(lambda run: (run / "loop").symlink_to(run / "loop"), ()),
    "link-back-up": Defect(lambda run: (run / "up").symlink_to(run.parent), ()),
    "pipe": Defect(lambda run: os.mkfifo(run / "logs"), ()),
    "nothing-wrong": Defect(lambda _run: None, ()),
}  # fmt: skip
