"""Real bugs brought back: which known bugs a broken release shows, by name, and that a fixed one is free of them.

Run as ``python -m pytest_kmigrate.reports.resurrection RUNS BROKEN FIXED``, where RUNS holds a folder of runs per
release. Exit status 0 when at least ``ENOUGH`` bugs were seen on BROKEN that FIXED has not, and everything conforms on
FIXED apart from what bugs explain that it still has.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pytest_kmigrate.catalogue import known_bug
from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.verdict import Outcome, merged

ENOUGH = 5


@dataclass(frozen=True)
class Seen:
    """What one test showed on one release."""

    outcome: Outcome
    """The worst verdict, of those that no lasting bug explains."""
    bugs: tuple[str, ...]
    """Bugs that the fixed release does not have."""
    lasting: tuple[str, ...] = ()
    """Bugs that the fixed release has, too: showing them proves nothing, on either release."""


def seen_in(runs: Path, fixed: str) -> dict[str, Seen]:
    """Test -> what its run in this folder showed; RunFolderError when there is no run."""
    found = dict(_seen(folder.parent, fixed) for folder in sorted(runs.glob("*/run.json")))
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
        after = _told(fixed[test]) if test in fixed else "not run"
        shown.add_row(test.rpartition("::")[2], _told(seen), ", ".join(seen.bugs) or "-", after)
    return shown


def _told(seen: Seen) -> str:
    return seen.outcome.name + (f" but for {', '.join(seen.lasting)}" if seen.lasting else "")


def _seen(folder: Path, fixed: str) -> tuple[str, Seen]:
    test = json.loads((folder / "run.json").read_text())["test_id"]
    file = folder / "verdicts.jsonl"
    verdicts = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    named = dict.fromkeys(str(bug) for verdict in verdicts for bug in verdict["known_bugs"])
    lasting = tuple(bug for bug in named if known_bug(bug).breaks(fixed))
    telling = [verdict for verdict in verdicts if not set(lasting) & set(verdict["known_bugs"])]
    outcome = merged(Outcome[str(verdict["outcome"])] for verdict in telling)
    return test, Seen(outcome, tuple(bug for bug in named if bug not in lasting), lasting)


def main(runs: str, broken: str, fixed: str) -> int:
    """Print the table; the exit status says whether it is proof."""
    on_broken, on_fixed = (seen_in(Path(runs) / release, fixed) for release in (broken, fixed))
    Console().print(table(on_broken, on_fixed, (broken, fixed)))
    return 0 if is_proof(on_broken, on_fixed) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
