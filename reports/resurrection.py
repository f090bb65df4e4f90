"""Real bugs brought back: seen by name on the last release that has them, and gone on the first that has not.

Run as ``python -m pytest_kmigrate.reports.resurrection PROFILE RUNS [ID ...]``. Each bug has its folder in RUNS, with
the runs of a test on both releases; what became of all of them is printed and written to ``resurrections.md`` there.
A run that is there already is not made again. Exit status 0 when every bug was brought back; 2 when one cannot be.
"""

import enum
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pytest_kmigrate.catalogue import KNOWN_BUGS, all_known_bugs, place_of
from pytest_kmigrate.model.errors import KmigrateError
from pytest_kmigrate.reports.suite_tests import OUTPUT, chosen, command_of, ended_by_mistake, run_test, tested

RESURRECTIONS = "resurrections.toml"
"""A file that a document's folder may have."""
SUMMARY = "resurrections.md"


@dataclass(frozen=True)
class Resurrection:
    """How one bug of released Kafka is met; ``id`` is that of the bug."""

    id: str
    test: str
    """``module::name``, in the suite of the document."""
    broken: str
    """The last release that has the bug."""
    fixed: str
    """The first after it that has not."""
    topology: str | None = None
    """Instead of the test's own."""


class Fate(enum.StrEnum):
    """What the two runs show."""

    BACK = "brought back"
    UNSEEN = "not seen on the broken release"
    STILL_THERE = "still there on the fixed release"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Result:
    """What became of one bug, and which checks it turned red, or are not green without it."""

    resurrection: Resurrection
    fate: Fate
    seen: str


def resurrections_of(profile: str) -> tuple[Resurrection, ...]:
    """Those of a profile's document; WrongUseError when there are none, or one is wrong."""
    return tested(
        Resurrection, place_of(profile), RESURRECTIONS, "resurrection", profile, problems=_problems_of_releases
    )


def result_of(resurrection: Resurrection, runs: Path) -> Result:
    """What the runs in a bug's folder show: its name on the broken release, and the same checks on the fixed one."""
    broken, fixed = (_verdicts(runs / release) for release in (resurrection.broken, resurrection.fixed))
    if not broken or not fixed:
        lacking = resurrection.fixed if broken else resurrection.broken
        return Result(resurrection, Fate.NOT_JUDGED, f"no verdict in {runs / lacking}; see {OUTPUT} there")
    red = sorted(check for check, each in broken.items() if resurrection.id in each["known_bugs"])
    if not red:
        others = sorted(check for check, each in broken.items() if each["outcome"] == "VIOLATES")
        return Result(resurrection, Fate.UNSEEN, ", ".join(others) or "-")
    left = [check for check in red if _is_still_red(fixed.get(check), resurrection)]
    if left:
        return Result(resurrection, Fate.STILL_THERE, ", ".join(left))
    # What a check looks at may come after the place where the bug ends the run: one that was red must be able to speak.
    spoke = any(check in fixed and fixed[check]["outcome"] in ("CONFORMS", "VIOLATES") for check in red)
    return Result(resurrection, Fate.BACK if spoke else Fate.NOT_JUDGED, ", ".join(red))


def table(results: Iterable[Result]) -> Table:
    """A row per bug."""
    shown = Table("bug", "red on", "green on", "fate", "seen by", title="Real bugs, brought back")
    for each in results:
        of = each.resurrection
        shown.add_row(of.id, of.broken, of.fixed, each.fate, each.seen)
    return shown


def markdown(results: Sequence[Result]) -> str:
    """The same as a page."""
    back = sum(each.fate is Fate.BACK for each in results)
    rows = [
        f"| {of.id} | `{of.test}` | {of.broken} | {of.fixed} | {each.fate} | {each.seen} |"
        for each in results
        for of in [each.resurrection]
    ]
    head = ["| bug | test | red on | green on | fate | seen by |", "|---|---|---|---|---|---|"]
    return "\n".join([f"{back} of {len(results)} bugs brought back.", "", *head, *rows, ""])


def run_each(found: Iterable[Resurrection], runs: Path, profile: str) -> None:
    """Run each bug's test on both releases; WrongUseError when pytest cannot run one."""
    for each in found:
        for release in (each.broken, each.fixed):
            folder = runs / _named(each.id) / release
            folder.mkdir(parents=True, exist_ok=True)
            own = {"topology": each.topology} if each.topology else {}
            command = command_of(each.test, profile, folder, kafka=release, cold=None, resume=None, **own)
            run_test(f"{each.id} on Kafka {release}", each.test, command, folder)


def _problems_of_releases(each: Resurrection) -> Iterator[str]:
    bug = {known.id: known for known in all_known_bugs()}.get(each.id)
    if bug is None:
        yield f"id: expected that of a bug of {KNOWN_BUGS}, got one that is not there"
        return
    if not bug.breaks(each.broken):
        yield f"broken: expected a release that has the bug ({', '.join(bug.broken)}), got {each.broken}"
    if bug.breaks(each.fixed):
        yield f"fixed: expected a release without the bug, which {', '.join(bug.broken)} have; got {each.fixed}"


def _verdicts(runs: Path) -> Mapping[str, Mapping[str, Any]]:
    """The verdicts of the newest run that was judged, by check; the worst of each."""
    files = sorted(runs.glob("*/verdicts.jsonl"))
    lines = files[-1].read_text().splitlines() if files else []
    found: dict[str, Mapping[str, Any]] = {}
    for each in map(json.loads, lines):
        if each["check"] not in found or each["outcome"] == "VIOLATES":
            found[each["check"]] = each
    return found


def _is_still_red(verdict: Mapping[str, Any] | None, resurrection: Resurrection) -> bool:
    """Whether a check that was red by the bug is so still, or for a reason that no other bug explains."""
    known = verdict["known_bugs"] if verdict is not None and verdict["outcome"] == "VIOLATES" else None
    return known is not None and (not known or resurrection.id in known)


def _named(bug: str) -> str:
    return bug.replace("/", "-").replace("#", "-")


def main(profile: str, runs: str, *only: str) -> int:
    """Bring the bugs back and publish what became of them; the exit status says whether it is proof."""
    try:
        found = chosen(resurrections_of(profile), only)
        run_each(found, Path(runs), profile)
    except KmigrateError as error:
        return ended_by_mistake(error)
    results = [result_of(each, Path(runs) / _named(each.id)) for each in found]
    (Path(runs) / SUMMARY).write_text(markdown(results), encoding="utf-8")
    Console().print(table(results))
    return 0 if all(each.fate is Fate.BACK for each in results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
