"""Mutants of Kafka: whether each defect that is planted is seen, by the requirement that it breaks.

Run as ``python -m pytest_kmigrate.reports.mutants PROFILE KAFKA RUNS [ID ...]``. Each mutant has its folder of runs in
RUNS; what became of all that were ever run is written to ``mutants.md`` there. Mutants that are named are run; if none
is, those that were not run yet. Exit status 0 when each of those named (or of all) that was reached is killed by its
requirement, and one was; 2 for a mutant that cannot be run.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from pytest_kmigrate.checkers.run.mutants import became_of_rules, idle_rules, unfit_rules
from pytest_kmigrate.reports.fates import Fate, Planting, Result, judged_in, result_by_verdicts
from pytest_kmigrate.reports.planted import Mutant, mutants_of, red_anyway
from pytest_kmigrate.reports.suite_tests import command_of
from pytest_kmigrate.reports.weaving import byteman_checker, check_fit

RULES = "rules.btm"
"""In the folder of a mutant: what was planted."""


def result_of(mutant: Mutant, runs: Path, profile: str) -> Result:
    """What the runs in a mutant's folder show."""
    judged = judged_in(runs)
    result = result_by_verdicts(mutant, judged, red_anyway(profile))
    # Not the verdict on it: of a test that ended early, as a defect may make it, no verdict may conform.
    became = became_of_rules(judged.events)
    if not judged.verdicts or (became and not idle_rules(became)):
        return result
    # A rule that was woven in may be carried out after its node reported for the last time, while the node ends.
    if result.fate is Fate.KILLED and became and not unfit_rules(became):
        return result
    return Result(mutant, Fate.NOT_REACHED, "; ".join(idle_rules(became)) or "no node reported its rules")


def planting(profile: str, kafka: str) -> Planting[Mutant]:
    """How the mutants of a document are planted in a Kafka."""

    def planted(mutant: Mutant, folder: Path) -> Sequence[str]:
        rules = folder / RULES
        rules.write_text(mutant.rules.lstrip("\n"), encoding="utf-8")
        return command_of(mutant.test, profile, folder, kafka=kafka, byteman=str(rules))

    return Planting(
        of=f"Kafka {kafka}",
        planted=planted,
        identity=lambda mutant: {"kafka": kafka, "test": mutant.test, "rules": mutant.rules},
        result=lambda mutant, runs: result_of(mutant, runs, profile),
    )


def main(profile: str, kafka: str, runs: str, *only: str) -> int:
    """Run the mutants and publish what became of them; the exit status says whether it is proof."""
    of_kafka = planting(profile, kafka)

    def fitting() -> Sequence[Mutant]:
        mutants = mutants_of(profile)
        check_fit(of_kafka.wanted(mutants, Path(runs), only), byteman_checker(kafka, Console(stderr=True).print))
        return mutants

    return of_kafka.main(fitting, runs, only)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
