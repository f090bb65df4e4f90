"""Mutants of Kafka: whether each defect that is planted is seen, by the requirement that it breaks.

Run as ``python -m pytest_kmigrate.reports.mutants PROFILE KAFKA RUNS [ID ...]``. Each mutant has its folder of runs in
RUNS; what became of all of them is printed and written to ``mutants.md`` there. Exit status 0 when every mutant that
was reached is killed by its requirement, and one was; 2 for a mutant that cannot be run.
"""

import enum
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pytest_kmigrate.catalogue import deviations
from pytest_kmigrate.model.errors import KmigrateError, WrongUseError
from pytest_kmigrate.model.event import RuleOutcome
from pytest_kmigrate.reports.planted import Mutant, chosen, mutants_of
from pytest_kmigrate.reports.weaving import byteman_checker, check_fit

RULES, OUTPUT, SUMMARY = "rules.btm", "pytest.log", "mutants.md"
"""In the folder of a mutant: what was planted, and what pytest wrote; beside these folders: what became of all."""
IN_FORCE = "mutant_was_in_force"
"""The check that the rules of a run were carried out."""
_JUDGED = (0, 1)
"""How pytest ends when it has run the tests that it was given."""


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
    files = sorted(runs.glob("*/verdicts.jsonl"))
    verdicts = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    if not verdicts:
        return Result(mutant, Fate.NOT_JUDGED, f"no verdict in {runs}; see {OUTPUT}")
    idle = [str(each["summary"]) for each in verdicts if each["check"] == IN_FORCE and each["outcome"] != "CONFORMS"]
    if idle or not any(each["check"] == IN_FORCE for each in verdicts):
        return Result(mutant, Fate.NOT_REACHED, "; ".join(idle) or "no node was asked for its rules")
    red = [each for each in verdicts if each["outcome"] == "VIOLATES"]
    if own := sorted({str(each["check"]) for each in red if _is_kill(mutant, each)}):
        return Result(mutant, Fate.KILLED, ", ".join(own))
    others = sorted(set(_others(mutant, red, profile)))
    return Result(mutant, Fate.OTHER_RED if others else Fate.SURVIVED, ", ".join(others) or "-")


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


def run_each(mutants: Iterable[Mutant], runs: Path, command: Callable[[Mutant, Path], Sequence[str]]) -> None:
    """Run each mutant's test in a folder of its own; WrongUseError when pytest cannot run one."""
    for mutant in mutants:
        folder = runs / mutant.id
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / RULES).write_text(mutant.rules.lstrip("\n"), encoding="utf-8")
        with (folder / OUTPUT).open("w") as output:
            ended = subprocess.run(command(mutant, folder), stdout=output, stderr=subprocess.STDOUT, check=False)
        if ended.returncode not in _JUDGED:
            last = (folder / OUTPUT).read_text(errors="replace").strip().splitlines()[-3:]
            raise WrongUseError(
                f"mutant {mutant.id}: expected pytest to run {mutant.test}, got exit status {ended.returncode}: "
                f"{' '.join(last) or 'no output'}; see {folder / OUTPUT}"
            )


def _is_kill(mutant: Mutant, red: dict[str, Any]) -> bool:
    is_own = any(each["requirement"] == mutant.requirement and each["outcome"] == "VIOLATES" for each in red["about"])
    return is_own and any(mutant.is_shown_by(str(each["observed"])) for each in red["violations"])


def _others(mutant: Mutant, reds: Iterable[dict[str, Any]], profile: str) -> Iterator[str]:
    """Requirements that are violated, but for those that released Kafka deviates from, and checks that have none."""
    deviating = {each.requirement for each in deviations(profile)} | {mutant.requirement}
    for red in reds:
        violated = [str(each["requirement"]) for each in red["about"] if each["outcome"] == "VIOLATES"]
        yield from (each for each in violated if each not in deviating)
        if not violated:
            yield str(red["check"])


def _is_unfit(result: Result) -> bool:
    """Whether a rule was refused, or fits no code: a mutant that no test can reach."""
    return not all(each.endswith(RuleOutcome.WOVEN) for each in result.seen.split("; "))


def main(profile: str, kafka: str, runs: str, *only: str) -> int:
    """Run the mutants and publish what became of them; the exit status says whether it is proof."""
    try:
        mutants = chosen(mutants_of(profile), only)
        check_fit(mutants, byteman_checker(kafka, Console(stderr=True).print))
        run_each(mutants, Path(runs), lambda mutant, folder: _pytest(mutant, folder, profile, kafka))
    except KmigrateError as error:
        Console(stderr=True, markup=False, soft_wrap=True).print(error)
        return 2
    results = [result_of(each, Path(runs) / each.id, profile) for each in mutants]
    (Path(runs) / SUMMARY).write_text(markdown(results, kafka), encoding="utf-8")
    Console().print(table(results, kafka))
    return 0 if is_proof(results) else 1


def _pytest(mutant: Mutant, folder: Path, profile: str, kafka: str) -> list[str]:
    options = {"profile": profile, "kafka": kafka, "runs": str(folder), "byteman": str(folder / RULES)}
    given = [f"--kmigrate-{name}={value}" for name, value in options.items()]
    return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", mutant.node_id(profile), *given]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
