"""Defects planted in the reference implementation of KIP-125 are found by the requirement that each breaks.

A few of them here; all, or those named, with ``KMIGRATE_MUTANTS=all`` or ``KMIGRATE_MUTANTS="id id"``.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from pytest_kmigrate.documents.kip_125.mutating import ReferenceMutant, plant, reference_mutants
from pytest_kmigrate.reports.suite_tests import command_of

FEW = ("one-offset-store", "begins-at-kafkas-offset")
CHOSEN = os.environ.get("KMIGRATE_MUTANTS", "").split() or FEW
MUTANTS = [each for each in reference_mutants() if each.id in CHOSEN or "all" in CHOSEN]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: each.id)
def test_a_mutant_is_found_by_its_requirement(mutant: ReferenceMutant, tmp_path: Path) -> None:
    """Its test ends with a violation of that requirement, with the mutant's members in place of the reference's."""
    member = plant(mutant, tmp_path / "planted")
    command = command_of(mutant.test, "kip-125", tmp_path / "runs", member=member)
    ran = subprocess.run([*command, "-q", "-n", "0"], capture_output=True, text=True, check=False)
    assert mutant.requirement in violated_in(tmp_path / "runs"), ran.stdout[-3000:]


def violated_in(runs: Path) -> set[str]:
    """The requirements that a verdict of any run there finds violated."""
    lines = (line for file in runs.glob("*/verdicts.jsonl") for line in file.read_text(encoding="utf-8").splitlines())
    return {
        str(each["requirement"])
        for line in lines
        for each in json.loads(line)["about"]
        if each["outcome"] == "VIOLATES"
    }
