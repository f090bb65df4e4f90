"""Copies of run folders as a death of the harness leaves them: every stream ends at one seeded moment."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.recording.operation_parts import PARTS_PATTERN
from pytest_kmigrate.recording.run_folder import RunFolder

_LOST_LINES = 3
_CLOSED_NS, _ON_DISK_NS = 4 * 10**9, 30 * 10**9
"""How long a row may wait for its part to be closed, and a closed part for the disk."""


@dataclass(frozen=True)
class Death:
    """When a harness died, and whether the machine with it, which then loses the ends of files that were written."""

    last: int
    """``seq`` of the last event in the history."""
    at_ns: int
    is_of_machine: bool


def killed(run: RunFolder, to: Path, random: Random) -> Death:
    """Copy what a run would have left had its harness died; a file is what was flushed of it, or what a disk kept."""
    lines = run.history.read_bytes().splitlines(keepends=True)
    events = [json.loads(line) for line in lines]
    death = _death(events, random)
    before, copy = events[: death.last + 1], RunFolder(to)
    to.mkdir(parents=True)
    shutil.copyfile(run.header, copy.header)
    following = lines[death.last + 1] if death.is_of_machine and death.last + 1 < len(lines) else b""
    torn = following[: random.randrange(len(following))] if following else b""
    copy.history.write_bytes(b"".join(lines[: death.last + 1]) + torn)
    for stream in ("metrics", "znodes", "client_metadata"):
        _lines_of(getattr(run, stream), getattr(copy, stream), death, random)
    _operations(run, copy, death, random)
    _whole_files(run, copy, before)
    for node, size in before[-1]["log_bytes"].items():
        copy.log_folder(node).mkdir(parents=True)
        copy.log(node).write_bytes(run.log(node).read_bytes()[:size])
    return death


def _death(events: list[dict[str, Any]], random: Random) -> Death:
    """At any moment, as often in the last part, when the test has said what is to be judged."""
    late = next((number for number, each in enumerate(events) if each["kind"] == EventKind.CHECKS), len(events) - 2)
    last = random.choice([random.randrange(len(events)), random.randrange(max(late - 2, 0), len(events))])
    until_ns = events[min(last + 1, len(events) - 1)]["at_ns"]
    return Death(last, random.randint(events[last]["at_ns"], until_ns), random.random() < 0.5)


def _whole_files(run: RunFolder, copy: RunFolder, before: list[dict[str, Any]]) -> None:
    """The images that were noted, and what ZooKeeper logged, which is written when the checks were noted."""
    files = [run.path / each["data"]["file"] for each in before if each["kind"] == EventKind.SNAPSHOT]
    kinds = [each["kind"] for each in before]
    if run.transactions.exists() and kinds[-1] != EventKind.CHECKS and EventKind.CHECKS in kinds:
        files.append(run.transactions)
    for file in files:
        copied = copy.path / file.relative_to(run.path)
        copied.parent.mkdir(exist_ok=True)
        shutil.copyfile(file, copied)


def _lines_of(file: Path, copied: Path, death: Death, random: Random) -> None:
    """The lines of before the death; a machine that died with it has lost some, and the last is torn."""
    if not file.exists():
        return
    lines = [line for line in file.read_bytes().splitlines(keepends=True) if json.loads(line)["at_ns"] <= death.at_ns]
    if death.is_of_machine and lines:
        lost = random.randint(1, _LOST_LINES)
        torn = lines[-lost:][:1]
        lines = lines[:-lost] + [each[: random.randrange(len(each))] for each in torn]
    copied.parent.mkdir()
    copied.write_bytes(b"".join(lines))


def _operations(run: RunFolder, copy: RunFolder, death: Death, random: Random) -> None:
    """The parts that were closed; of each client the last may not have been, and may not have come to the disk."""
    copy.operations.mkdir()
    by_client: dict[str, list[tuple[Path, int]]] = {}
    for part in sorted(run.operations.glob(PARTS_PATTERN)):
        ended_ns = pc.max(pq.read_table(part, columns=["ended_ns"])["ended_ns"]).as_py()
        if ended_ns is not None and ended_ns <= death.at_ns:
            by_client.setdefault(part.stem.rpartition("-")[0], []).append((part, ended_ns))
    late_ns = death.at_ns - (_ON_DISK_NS if death.is_of_machine else _CLOSED_NS)
    for parts in by_client.values():
        last = random.randint(0, 1) if parts[-1][1] > late_ns else 0
        for part, _ in parts[: len(parts) - last]:
            shutil.copyfile(part, copy.operations / part.name)
