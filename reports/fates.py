"""What became of defects that were planted, in Kafka or elsewhere, by the verdicts of the test that can meet each."""

import enum
import json
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from rich.console import Console
from rich.table import Table

from pytest_kmigrate.model.errors import KmigrateError
from pytest_kmigrate.model.event import Event, EventKind, RuleOutcome
from pytest_kmigrate.recording.reading import read_events
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.reports.suite_tests import OUTPUT, chosen, ended_by_mistake, run_test

SUMMARY = "mutants.md"
"""Beside the folders of mutants: what became of all."""
PLANTED = "planted.json"
"""In the folder of a mutant whose test has ended: what was run, so that it is not run again."""


EXCUSED = "excused as "
"""What was seen of a mutant that survived by an excuse."""


class Defect(Protocol):
    """A defect that can be planted."""

    @property
    def id(self) -> str: ...  # noqa: D102 - its name says it

    @property
    def planted(self) -> str:
        """What is wrong then, as a sentence."""
        ...

    @property
    def test(self) -> str:
        """The test that can meet it: ``module::name``, in the suite of the document."""
        ...

    @property
    def requirement(self) -> str:
        """The requirement that must turn red."""
        ...

    def is_shown_by(self, observed: str) -> bool:
        """Whether this defect is what a violation observed."""
        ...


D = TypeVar("D", bound=Defect)


class Fate(enum.StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    OTHER_RED = "red of another row"
    SURVIVED = "survived"
    NOT_REACHED = "not reached"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Result:
    """What became of one mutant, and by what."""

    mutant: Defect
    fate: Fate
    seen: str
    """The checks that were red for its requirement; else what was red instead, or why nothing was judged."""


@dataclass(frozen=True)
class Judged:
    """What the runs in a mutant's folder were judged, and their events."""

    verdicts: Sequence[Mapping[str, Any]]
    events: Sequence[Event]


def judged_in(runs: Path) -> Judged:
    """What the runs in a folder have; nothing when none was judged."""
    folders = [RunFolder(file.parent) for file in sorted(runs.glob("*/verdicts.jsonl"))]
    verdicts = [json.loads(line) for each in folders for line in each.verdicts.read_text().splitlines()]
    return Judged(verdicts, [event for each in folders for event in read_events(each)])


def result_by_verdicts(mutant: Defect, judged: Judged, anyway: Collection[str]) -> Result:
    """What the verdicts show of a mutant that was in force; ``anyway``: requirements that are violated without it.

    A red that a known bug or a deviation explains is no kill: the excuse would hide such a defect in any run.
    """
    if not judged.verdicts:
        return Result(mutant, Fate.NOT_JUDGED, f"no verdict; see {OUTPUT}")
    violated = [each for each in judged.verdicts if each["outcome"] == "VIOLATES"]
    kills = [each for each in violated if _is_kill(mutant, each)]
    red = [each for each in violated if not each["known_bugs"]]
    if own := sorted({str(each["check"]) for each in kills if each in red}):
        return Result(mutant, Fate.KILLED, ", ".join(own))
    if excused := sorted({str(bug) for each in kills for bug in each["known_bugs"]}):
        return Result(mutant, Fate.SURVIVED, f"{EXCUSED}{', '.join(excused)}")
    if others := sorted(set(_others(red, {*anyway, mutant.requirement}))):
        return Result(mutant, Fate.OTHER_RED, ", ".join(others))
    if not any(event.kind is EventKind.CHECKS for event in judged.events):
        return Result(mutant, Fate.NOT_JUDGED, f"the test ended early; see {OUTPUT}")
    return Result(mutant, Fate.SURVIVED, "-")


def is_proof(results: Sequence[Result]) -> bool:
    """Whether every mutant that was reached is killed, and one was; rules that fit nothing in Kafka are a mistake."""
    reached = [each for each in results if each.fate is not Fate.NOT_REACHED]
    unfit = [each for each in results if each.fate is Fate.NOT_REACHED and _is_unfit(each)]
    return bool(reached) and not unfit and all(each.fate is Fate.KILLED for each in reached)


def table(results: Iterable[Result], of: str) -> Table:
    """A row per mutant; ``of``: of what they are, such as ``Kafka 3.9.1``."""
    shown = Table("mutant", "must be red", "fate", "seen by", title=f"Mutants of {of}")
    for each in results:
        shown.add_row(each.mutant.id, each.mutant.requirement, each.fate, each.seen)
    return shown


def markdown(results: Sequence[Result], of: str) -> str:
    """The same as a page."""
    counts = ", ".join(f"{sum(each.fate is fate for each in results)} {fate}" for fate in Fate)
    rows = [
        f"| `{each.mutant.id}` | {each.mutant.planted} | {each.mutant.requirement} | {each.fate} | {each.seen} |"
        for each in results
    ]
    excused = sum(each.seen.startswith(EXCUSED) for each in results)
    head = ["| mutant | planted | must be red | fate | seen by |", "|---|---|---|---|---|"]
    title = f"Mutants of {of}: {counts}. Excused by a known bug or a deviation, and counted as survived: {excused}."
    return "\n".join([title, "", *head, *rows, ""])


@dataclass(frozen=True)
class Planting(Generic[D]):
    """How mutants of one thing are planted and judged."""

    of: str
    """Of what they are, for titles."""
    planted: Callable[[D, Path], Sequence[str]]
    """Writes what a mutant needs into its folder; the command that runs its test."""
    identity: Callable[[D], object]
    """What is run, as JSON: a mutant of which the same has been run is not run again."""
    result: Callable[[D, Path], Result]
    """What the runs in its folder show."""

    def main(self, listed: Callable[[], Sequence[D]], runs: str, only: Collection[str]) -> int:
        """Run the mutants and publish what became of them; the exit status says whether it is proof."""
        folder = Path(runs)
        try:
            mutants = listed()
            self.run(self.wanted(mutants, folder, only), folder)
        except KmigrateError as error:
            return ended_by_mistake(error)
        results = [self.result(each, folder / each.id) for each in mutants if self.was_run(each, folder)]
        (folder / SUMMARY).write_text(markdown(results, self.of), encoding="utf-8")
        asked = [each for each in results if not only or each.mutant.id in only]
        Console().print(table(asked, self.of))
        return 0 if is_proof(asked) else 1

    def wanted(self, mutants: Sequence[D], runs: Path, only: Collection[str]) -> list[D]:
        """Those named, or those that were not run yet; WrongUseError for an unknown name."""
        return [each for each in chosen(mutants, only) if only or not self.was_run(each, runs)]

    def was_run(self, mutant: D, runs: Path) -> bool:
        """Whether the test of the same has ended."""
        record = runs / mutant.id / PLANTED
        return record.is_file() and json.loads(record.read_text(encoding="utf-8")) == self.identity(mutant)

    def run(self, mutants: Iterable[D], runs: Path) -> None:
        """Run each mutant's test in a folder of its own; WrongUseError when pytest cannot run one."""
        for mutant in mutants:
            folder = runs / mutant.id
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            run_test(f"mutant {mutant.id}", mutant.test, self.planted(mutant, folder), folder)
            (folder / PLANTED).write_text(json.dumps(self.identity(mutant)), encoding="utf-8")


def _is_kill(mutant: Defect, red: Mapping[str, Any]) -> bool:
    is_own = any(each["requirement"] == mutant.requirement and each["outcome"] == "VIOLATES" for each in red["about"])
    return is_own and any(mutant.is_shown_by(str(each["observed"])) for each in red["violations"])


def _others(reds: Iterable[Mapping[str, Any]], anyway: Collection[str]) -> Iterator[str]:
    """Requirements that are violated, but for those that are so anyway, and checks that have none."""
    for red in reds:
        violated = [str(each["requirement"]) for each in red["about"] if each["outcome"] == "VIOLATES"]
        yield from (each for each in violated if each not in anyway)
        if not violated:
            yield str(red["check"])


def _is_unfit(result: Result) -> bool:
    """Whether a rule was refused, or fits no code: a mutant that no test can reach."""
    return not all(each.endswith(RuleOutcome.WOVEN) for each in result.seen.split("; "))
