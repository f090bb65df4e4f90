"""Mutants of the reference implementation: copies of it with one defect each, run as an implementation under test."""

import shlex
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.model.errors import WrongUseError

_HERE = Path(__file__).parent
_REFERENCE = "pytest_kmigrate.documents.kip_125.reference"
_COPY = "reference_with_a_defect"
_LAUNCH = (
    "import runpy, sys; sys.path.insert(0, {folder!r}); runpy.run_module({copy!r}, run_name='__main__', alter_sys=True)"
)
MUTANTS = _HERE / "reference-mutants.toml"


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
    changes: Sequence[Sequence[str]]
    """File of the reference, the text there, and what stands in its place."""


def reference_mutants() -> tuple[ReferenceMutant, ...]:
    """All mutants, in the order of the file."""
    tables = tomllib.loads(MUTANTS.read_text(encoding="utf-8"))["mutant"]
    return tuple(ReferenceMutant(**each) for each in tables)


def plant(mutant: ReferenceMutant, folder: Path) -> str:
    """Write a copy of the reference with the defect into a folder; the command that runs a member of it.

    WrongUseError when the text of a change is not in the reference exactly once.
    """
    copy = folder / _COPY
    copy.mkdir(parents=True)
    for file in sorted((_HERE / "reference").glob("*.py")):
        text = file.read_text(encoding="utf-8")
        for _, before, after in (each for each in mutant.changes if each[0] == file.name):
            if text.count(before) != 1:
                raise WrongUseError(
                    f"{MUTANTS.name}: {mutant.id}: expected {before!r} once in {file.name}; got {text.count(before)}"
                )
            text = text.replace(before, after)
        (copy / file.name).write_text(text.replace(_REFERENCE, _COPY), encoding="utf-8")
    return shlex.join([sys.executable, "-c", _LAUNCH.format(folder=str(folder), copy=_COPY)])
