"""Mutants of the reference implementation: copies of it with one defect each, run as an implementation under test.

Run as ``python -m pytest_kmigrate.documents.kip_125.mutating KAFKA RUNS [ID ...]``, which does with them what
``pytest_kmigrate.reports.mutants`` does with mutants of Kafka.
"""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pytest_kmigrate.catalogue import Place, place_of
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.fates import Planting, Result, judged_in, result_by_verdicts
from pytest_kmigrate.reports.planted import red_anyway
from pytest_kmigrate.reports.suite_tests import command_of, problems_of_requirement, tested

PROFILE, MUTANTS = "kip-125", "reference-mutants.toml"
_SOURCE = Path(__file__).parent / "reference"
_REFERENCE = "pytest_kmigrate.documents.kip_125.reference"
_COPY = "reference_with_a_defect"
_LAUNCH = (
    "import runpy, sys; sys.path.insert(0, {folder!r}); runpy.run_module({copy!r}, run_name='__main__', alter_sys=True)"
)


def _wrong_changes(changes: Sequence[Sequence[str]]) -> str | None:
    """What is wrong with changes of the reference's source, if anything is."""
    for each in changes:
        if len(each) != 3 or not (_SOURCE / each[0]).is_file():
            return f"expected a file of the reference, its text, and what stands in its place; got {list(each)}"
    return None if changes else "expected a change, got none"


@dataclass(frozen=True)
class ReferenceMutant:
    """One defect of the reference implementation."""

    id: str
    planted: str
    """What a member does wrong then, as a sentence."""
    test: str
    """The test of the suite that can meet it: ``module::name``."""
    requirement: str
    """The requirement that must turn red."""
    changes: Annotated[tuple[tuple[str, ...], ...], _wrong_changes]
    """File of the reference, the text there, and what stands in its place."""

    def is_shown_by(self, observed: str) -> bool:
        """Whether this defect is what a violation observed: the reference violates nothing by itself."""
        return bool(observed)


def reference_mutants(place: Place | None = None) -> tuple[ReferenceMutant, ...]:
    """All mutants, in the order of the file; WrongUseError when one is wrong."""
    return tested(
        ReferenceMutant,
        place or place_of(PROFILE),
        MUTANTS,
        "mutant",
        PROFILE,
        problems=lambda each: problems_of_requirement(each.requirement, PROFILE),
    )


def plant(mutant: ReferenceMutant, folder: Path) -> str:
    """Write a copy of the reference with the defect into a folder; the command that runs a member of it.

    WrongUseError when the text of a change is not in the reference exactly once.
    """
    copy = folder / _COPY
    copy.mkdir(parents=True)
    for file in sorted(_SOURCE.glob("*.py")):
        text = file.read_text(encoding="utf-8")
        for _, before, after in (each for each in mutant.changes if each[0] == file.name):
            if text.count(before) != 1:
                raise WrongUseError(
                    f"{MUTANTS}: {mutant.id}: expected {before!r} once in {file.name}; got {text.count(before)}"
                )
            text = text.replace(before, after)
        (copy / file.name).write_text(text.replace(_REFERENCE, _COPY), encoding="utf-8")
    return shlex.join([sys.executable, "-c", _LAUNCH.format(folder=str(folder), copy=_COPY)])


def result_of(mutant: ReferenceMutant, runs: Path) -> Result:
    """What the runs in a mutant's folder show."""
    return result_by_verdicts(mutant, judged_in(runs), red_anyway(PROFILE))


def planting(kafka: str) -> Planting[ReferenceMutant]:
    """How the mutants of the reference are planted."""

    def planted(mutant: ReferenceMutant, folder: Path) -> Sequence[str]:
        return command_of(mutant.test, PROFILE, folder, kafka=kafka, member=plant(mutant, folder / "planted"))

    return Planting(
        of=f"the reference implementation of KIP-125, on Kafka {kafka}",
        planted=planted,
        identity=lambda mutant: {"kafka": kafka, "test": mutant.test, "changes": [*map(list, mutant.changes)]},
        result=result_of,
    )


if __name__ == "__main__":
    sys.exit(planting(sys.argv[1]).main(reference_mutants, sys.argv[2], sys.argv[3:]))
