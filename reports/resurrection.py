"""Real bugs brought back: which known bugs a broken release shows, by name, and that a fixed one is free of them.

Run as ``python -m pytest_kmigrate.reports.resurrection RUNS BROKEN FIXED``, where RUNS holds a folder of runs per
release. Exit status 0 when at least ``ENOUGH`` bugs were seen on BROKEN and everything conforms on FIXED.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.verdict import Outcome, merged

ENOUGH = 5


@dataclass(frozen=True)
class Seen:
    """What one test showed on one release."""

    outcome: Outcome
    bugs: tuple[str, ...]


def seen_in(runs: Path) -> dict[str, Seen]:
    """Test -> what its run in this folder showed; RunFolderError when there is no run."""
    found = dict(_seen(folder.parent) for folder in sorted(runs.glob("*/run.json")))
    if not found:
        raise RunFolderError(f"{runs}: expected folders of runs; there is none")
    return found


def is_proof(broken: Mapping[str, Seen], fixed: Mapping[str, Seen]) -> bool:
    """Whether enough bugs were named on the broken release, and the same tests conform on the fixed one."""
    bugs = {bug for seen in broken.values() for bug in seen.bugs}
    same = broken.keys() <= fixed.keys()
    return same and len(bugs) >= ENOUGH and all(seen.outcome is Outcome.CONFORMS for seen in fixed.values())


def table(broken: Mapping[str, Seen], fixed: Mapping[str, Seen], names: tuple[str, str]) -> Table:
    """A row per test: outcome and bugs on the broken release, outcome on the fixed one."""
    shown = Table("test", f"Kafka {names[0]}", "known as", f"Kafka {names[1]}", title="Real bugs, brought back")
    for test, seen in broken.items():
        after = fixed[test].outcome.name if test in fixed else "not run"
        shown.add_row(test.rpartition("::")[2], seen.outcome.name, ", ".join(seen.bugs) or "-", after)
    return shown


def _seen(folder: Path) -> tuple[str, Seen]:
    test = json.loads((folder / "run.json").read_text())["test_id"]
    verdicts = list(_verdicts(folder / "verdicts.jsonl"))
    bugs = dict.fromkeys(str(bug) for verdict in verdicts for bug in verdict["known_bugs"])
    return test, Seen(merged(Outcome[str(verdict["outcome"])] for verdict in verdicts), tuple(bugs))


def _verdicts(file: Path) -> Iterator[dict[str, list[str] | str]]:
    if file.exists():
        yield from (json.loads(line) for line in file.read_text().splitlines())


def main(runs: str, broken: str, fixed: str) -> int:
    """Print the table; the exit status says whether it is proof."""
    on_broken, on_fixed = seen_in(Path(runs) / broken), seen_in(Path(runs) / fixed)
    Console().print(table(on_broken, on_fixed, (broken, fixed)))
    return 0 if is_proof(on_broken, on_fixed) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
