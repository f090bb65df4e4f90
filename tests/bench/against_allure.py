"""Allure's own report against ``kmigrate analyze``, on the same results: seconds, and who finds the flaky tests.

Allure makes a report each night, which takes over the history of the one before. All of them in turn:
``python -m tests.bench.against_allure PROGRAM RESULTS OUT``.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.dataset

from tests.bench.chapter import Chapter
from tests.bench.measuring import Cost, cost
from tests.bench.planting.flaky_results import FLAKY, NIGHTS, TESTS, planted
from tests.bench.provider.limits import Limit

PACKAGE = "allure-commandline@2.46.1"
SEED = 4
_SAID_CHARACTERS = 300


def measure(folder: Path, *, is_large: bool) -> Chapter:
    """Both, one after the other; ``is_large`` changes nothing, Allure is not made for more."""
    shutil.rmtree(folder, ignore_errors=True)
    wanted, results = planted(SEED), folder / "results"
    wanted.write(results)
    out = folder / "ours"
    ours = cost(
        [sys.executable, "-m", "pytest_kmigrate.cli", "analyze", str(results), "--out", str(out)], folder / "ours.log"
    )
    ours.must_end_with(1)  # some tests fail
    called = flaky_in_tables(out / "tables" / "flakiness")
    limits = [
        Limit("flaky tests found", len(called & wanted.flaky), f"of {FLAKY}", at_least=FLAKY),
        Limit("tests called flaky that are not", len(called - wanted.flaky), "", at_most=0),
    ]
    rows = [_row("kmigrate analyze", 1, ours, called, wanted.flaky)]
    try:
        program = installed(folder / "npm")
    except (OSError, subprocess.CalledProcessError) as error:
        return Chapter("reports", limits, {_TITLE: rows}, [f"{PACKAGE} could not be installed: {_said(error)}"])
    theirs = cost(
        [sys.executable, "-m", __spec__.name, str(program), str(results), str(folder / "allure")], folder / "allure.log"
    )
    theirs.must_end_with(0)
    reports = [folder / "allure" / f"report-{night:02}" for night in range(NIGHTS)]
    last, ever = flaky_in_report(reports[-1]), set[str]().union(*map(flaky_in_report, reports))
    rows += [_row("Allure, the last report", NIGHTS, theirs, last, wanted.flaky)]
    rows += [_row("Allure, in any of the reports", NIGHTS, theirs, ever, wanted.flaky)]
    limits.append(Limit("seconds beside Allure's for all its reports", ours.seconds / theirs.seconds, "x", at_most=1.0))
    return Chapter("reports", limits, {_TITLE: rows})


_TITLE = f"{NIGHTS} nights of {TESTS} results, {FLAKY} of the tests flaky"


def _row(who: str, reports: int, spent: Cost, called: set[str], flaky: frozenset[str]) -> dict[str, str | float | int]:
    return {
        "": who,
        "flaky found": len(called & flaky),
        "invented": len(called - flaky),
        "reports": reports,
        "seconds": spent.seconds,
        "seconds per report": spent.seconds / reports,
        "processor seconds": spent.cpu_s,
        "peak GiB": spent.peak_gib,
    }


def flaky_in_tables(flakiness: Path) -> set[str]:
    """The tests that our table calls flaky."""
    rows = pyarrow.dataset.dataset(flakiness).to_table(columns=["test_id", "standing"]).to_pylist()
    return {row["test_id"] for row in rows if row["standing"] == "FLAKY"}


def flaky_in_report(report: Path) -> set[str]:
    """The tests that a report of Allure's marks as flaky."""
    cases = [json.loads(case.read_text()) for case in (report / "data" / "test-cases").glob("*.json")]
    return {case["fullName"] for case in cases if case["flaky"]}


def installed(folder: Path) -> Path:
    """Allure's program, from npm, below a folder of ours; nothing else on this machine knows of it."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error", PACKAGE]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return folder / "node_modules" / ".bin" / "allure"


def _said(error: OSError | subprocess.CalledProcessError) -> str:
    return str(error.stderr if isinstance(error, subprocess.CalledProcessError) else error).strip()[:_SAID_CHARACTERS]


def replay(program: Path, results: Path, out: Path) -> None:
    """One report per night, each with the history of the one before."""
    before: Path | None = None
    for night in sorted(results.iterdir()):
        number = night.name.rpartition("-")[2]
        taken = out / f"results-{number}"
        shutil.copytree(night, taken)
        if before is not None:
            shutil.copytree(before / "history", taken / "history")
        before = out / f"report-{number}"
        subprocess.run([program, "generate", taken, "--output", before], check=True)


if __name__ == "__main__":
    replay(*[Path(each) for each in sys.argv[1:]])
