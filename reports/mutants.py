"""Mutants of Kafka: whether each defect that is planted is seen, by the requirement that it breaks.

Run as ``python -m pytest_kmigrate.reports.mutants PROFILE KAFKA RUNS [ID ...]``. Each mutant has its folder of runs in
RUNS; what became of all that were ever run is written to ``mutants.md`` there. Mutants that are named are run; if none
is, those that were not run yet. Exit status 0 when each of those named (or of all) that was reached is killed by its
requirement, and one was; 2 for a mutant that cannot be run.
"""

import enum
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pytest_kmigrate.checkers.run.mutants import became_of_rules, idle_rules
from pytest_kmigrate.model.errors import KmigrateError
from pytest_kmigrate.model.event import EventKind, RuleOutcome
from pytest_kmigrate.recording.reading import read_events
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.reports.planted import Mutant, mutants_of, red_anyway
from pytest_kmigrate.reports.suite_tests import OUTPUT, chosen, command_of, run_test
from pytest_kmigrate.reports.weaving import byteman_checker, check_fit

RULES, SUMMARY = "rules.btm", "mutants.md"
"""In the folder of a mutant: what was planted; beside these folders: what became of all."""
PLANTED = "planted.json"
"""In the folder of a mutant whose test has ended: what was run, so that it is not run again."""


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

    mutant: Mutant
    fate: Fate
    seen: str
    """The checks that were red for its requirement; else what was red instead, or why nothing was judged."""


def result_of(mutant: Mutant, runs: Path, profile: str) -> Result:
    """What the runs in a mutant's folder show."""
    folders = [RunFolder(file.parent) for file in sorted(runs.glob("*/verdicts.jsonl"))]
    verdicts = [json.loads(line) for each in folders for line in each.verdicts.read_text().splitlines()]
    events = [event for each in folders for event in read_events(each)]
    if not verdicts:
        return Result(mutant, Fate.NOT_JUDGED, f"no verdict; see {OUTPUT}")
    # Not the verdict on it: of a test that ended early, as a defect may make it, no verdict may conform.
    became = became_of_rules(events)
    if (idle := idle_rules(became)) or not became:
        return Result(mutant, Fate.NOT_REACHED, "; ".join(idle) or "no node reported its rules")
    red = [each for each in verdicts if each["outcome"] == "VIOLATES"]
    if own := sorted({str(each["check"]) for each in red if _is_kill(mutant, each)}):
        return Result(mutant, Fate.KILLED, ", ".join(own))
    if others := sorted(set(_others(mutant, red, profile))):
        return Result(mutant, Fate.OTHER_RED, ", ".join(others))
    if not any(event.kind is EventKind.CHECKS for event in events):
        return Result(mutant, Fate.NOT_JUDGED, f"the test ended early; see {OUTPUT}")
    return Result(mutant, Fate.SURVIVED, "-")


def is_proof(results: Sequence[Result]) -> bool:
    """Whether every mutant that was reached is killed, and one was; rules that fit nothing in Kafka are a mistake."""
    reached = [each for each in results if each.fate is not Fate.NOT_REACHED]
    unfit = [each for each in results if each.fate is Fate.NOT_REACHED and _is_unfit(each)]
    return bool(reached) and not unfit and all(each.fate is Fate.KILLED for each in reached)


def table(results: Iterable[Result], kafka: str) -> Table:
    """A row per mutant."""
    shown = Table("mutant", "must be red", "fate", "seen by", title=f"Mutants of Kafka {kafka}")
    for each in results:
        shown.add_row(each.mutant.id, each.mutant.requirement, each.fate, each.seen)
    return shown


def markdown(results: Sequence[Result], kafka: str) -> str:
    """The same as a page."""
    counts = ", ".join(f"{sum(each.fate is fate for each in results)} {fate}" for fate in Fate)
    rows = [
        f"| `{each.mutant.id}` | {each.mutant.planted} | {each.mutant.requirement} | {each.fate} | {each.seen} |"
        for each in results
    ]
    head = ["| mutant | planted | must be red | fate | seen by |", "|---|---|---|---|---|"]
    return "\n".join([f"Mutants of Kafka {kafka}: {counts}.", "", *head, *rows, ""])


def was_run(mutant: Mutant, runs: Path, kafka: str) -> bool:
    """Whether its test has ended with these rules on this Kafka."""
    record = runs / mutant.id / PLANTED
    return record.is_file() and json.loads(record.read_text(encoding="utf-8")) == _identity(mutant, kafka)


def run_each(
    mutants: Iterable[Mutant], runs: Path, command: Callable[[Mutant, Path], Sequence[str]], kafka: str
) -> None:
    """Run each mutant's test in a folder of its own; WrongUseError when pytest cannot run one."""
    for mutant in mutants:
        folder = runs / mutant.id
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / RULES).write_text(mutant.rules.lstrip("\n"), encoding="utf-8")
        run_test(f"mutant {mutant.id}", mutant.test, command(mutant, folder), folder)
        (folder / PLANTED).write_text(json.dumps(_identity(mutant, kafka)), encoding="utf-8")


def _identity(mutant: Mutant, kafka: str) -> dict[str, str]:
    return {"kafka": kafka, "test": mutant.test, "rules": mutant.rules}


def _is_kill(mutant: Mutant, red: dict[str, Any]) -> bool:
    is_own = any(each["requirement"] == mutant.requirement and each["outcome"] == "VIOLATES" for each in red["about"])
    return is_own and any(mutant.is_shown_by(str(each["observed"])) for each in red["violations"])


def _others(mutant: Mutant, reds: Iterable[dict[str, Any]], profile: str) -> Iterator[str]:
    """Requirements that are violated, but for those that released Kafka violates anyway, and checks that have none."""
    anyway = red_anyway(profile) | {mutant.requirement}
    for red in reds:
        violated = [str(each["requirement"]) for each in red["about"] if each["outcome"] == "VIOLATES"]
        yield from (each for each in violated if each not in anyway)
        if not violated:
            yield str(red["check"])


def _is_unfit(result: Result) -> bool:
    """Whether a rule was refused, or fits no code: a mutant that no test can reach."""
    return not all(each.endswith(RuleOutcome.WOVEN) for each in result.seen.split("; "))


def main(profile: str, kafka: str, runs: str, *only: str) -> int:
    """Run the mutants and publish what became of them; the exit status says whether it is proof."""
    folder = Path(runs)
    try:
        mutants = mutants_of(profile)
        wanted = [each for each in chosen(mutants, only) if only or not was_run(each, folder, kafka)]
        check_fit(wanted, byteman_checker(kafka, Console(stderr=True).print))
        run_each(
            wanted,
            folder,
            lambda each, own: command_of(each.test, profile, own, kafka=kafka, byteman=str(own / RULES)),
            kafka,
        )
    except KmigrateError as error:
        Console(stderr=True, markup=False, soft_wrap=True).print(error)
        return 2
    results = [result_of(each, folder / each.id, profile) for each in mutants if was_run(each, folder, kafka)]
    (folder / SUMMARY).write_text(markdown(results, kafka), encoding="utf-8")
    asked = [each for each in results if not only or each.mutant.id in only]
    Console().print(table(asked, kafka))
    return 0 if is_proof(asked) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
