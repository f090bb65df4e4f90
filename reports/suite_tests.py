"""Tests of a document's suite that its data name, as ``module::name``: whether they are there, and how one is run."""

import ast
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from rich.console import Console

from pytest_kmigrate.catalogue import Place, requirements
from pytest_kmigrate.catalogue.rows import Row, records, wrong
from pytest_kmigrate.model.errors import KmigrateError, WrongUseError
from pytest_kmigrate.model.spelling import did_you_mean
from pytest_kmigrate.recording.identity import SUITES
from pytest_kmigrate.recording.run_folder import run_folders

OUTPUT = "pytest.log"
"""What pytest wrote, in the folder of runs that it was given."""
_JUDGED = (0, 1)
"""How pytest ends when it has run the tests that it was given."""
_LOOK_EVERY_S = 0.5
_ENDING_S = 120
"""A test that is interrupted still judges its run and ends its nodes."""


class TestedRow(Row, Protocol):
    """A row that names a test of the suite."""

    @property
    def test(self) -> str: ...  # noqa: D102 - its name says it


R = TypeVar("R", bound=Row)
T = TypeVar("T", bound=TestedRow)


def tested(
    kind: type[T], place: Place, file: str, table: str, profile: str, problems: Callable[[T], Iterable[str]]
) -> tuple[T, ...]:
    """The rows of a file that name tests; WrongUseError when there is no such file, or one row is wrong.

    ``problems`` are those of a row besides its test.
    """
    found = records(kind, place, file, table)
    for each in found:
        if wrongs := [*problems(each), *problems_of_test(each.test, profile)]:
            raise wrong(place.folder / file, each.id, *wrongs)
    return found


def problems_of_requirement(requirement: str, profile: str) -> Iterator[str]:
    """What is wrong with the requirement that a row names, if anything is."""
    if requirement not in {each.id for each in requirements(profile)}:
        yield f'requirement: expected one of the document, got "{requirement}"'


def ended_by_mistake(error: KmigrateError) -> int:
    """Report it on standard error, as commands do; the exit status of wrong use."""
    Console(stderr=True, markup=False, soft_wrap=True).print(error)
    return 2


def chosen(rows: Sequence[R], ids: Collection[str]) -> list[R]:
    """Those of these ids, all when none is named; WrongUseError for an id that no row has."""
    known = [each.id for each in rows]
    unknown = [each for each in ids if each not in known]
    if unknown:
        got = ", ".join(f"{each}{did_you_mean(each, known)}" for each in unknown)
        raise WrongUseError(f"ONLY: expected ids of {', '.join(known)}; got {got}")
    return [each for each in rows if each.id in ids or not ids]


def problems_of_test(test: str, profile: str) -> Iterator[str]:
    """What is wrong with the name of a test, if anything is."""
    suite = _suite(profile)
    module, _, name = test.partition("::")
    file = suite / f"{module}.py"
    if not file.is_file():
        files = ", ".join(sorted(each.stem for each in suite.glob("test_*.py")))
        yield f'test: expected module::name with a module of {files}; got "{test}"'
    elif name.partition("[")[0] not in (known := sorted(_tests(ast.parse(file.read_text(encoding="utf-8"))))):
        yield f'test: expected a test of {module}, one of {", ".join(known)}; got "{name}"'


def node_id(test: str, profile: str) -> str:
    """The test as pytest is given it: the path of its file and its name."""
    module, _, name = test.partition("::")
    return f"{_suite(profile) / module}.py::{name}"


def command_of(test: str, profile: str, runs: Path, **options: str | None) -> list[str]:
    """How pytest runs one test into a folder of runs; ``options`` are the plugin's, without their prefix.

    An option that is None is given without a value.
    """
    given = {"profile": profile, "runs": str(runs), **options}
    flags = [f"--kmigrate-{name}" + ("" if value is None else f"={value}") for name, value in given.items()]
    return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", node_id(test, profile), *flags]


def run_test(of: str, test: str, command: Sequence[str], runs: Path, within_s: float = float("inf")) -> bool:
    """Run a command of pytest, with its output in this folder of runs; return whether it ended in time.

    ``within_s`` counts from where its run begins, as a checkpoint may be made before. Afterwards it is interrupted, and
    judges what its run has. WrongUseError, which begins with ``of``, when it cannot run the test.
    """
    with (runs / OUTPUT).open("w") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as ran:
        status = _status_of(ran, runs, within_s)
        if status is None:
            _interrupt(ran)
    if status is not None and status not in _JUDGED:
        last = (runs / OUTPUT).read_text(errors="replace").strip().splitlines()[-3:]
        raise WrongUseError(
            f"{of}: expected pytest to run {test}, got exit status {status}: "
            f"{' '.join(last) or 'no output'}; see {runs / OUTPUT}"
        )
    return status is not None


def _status_of(process: subprocess.Popen[bytes], runs: Path, within_s: float) -> int | None:
    """The exit status of a process; None when it has not ended so long after a run began."""
    began_s: float | None = None
    while began_s is None or time.monotonic() < began_s + within_s:
        try:
            return process.wait(_LOOK_EVERY_S)
        except subprocess.TimeoutExpired:
            if began_s is None and run_folders(runs):
                began_s = time.monotonic()
    return None


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_ENDING_S)
    except subprocess.TimeoutExpired:
        process.kill()


def bugs_of(test: str, profile: str) -> frozenset[str]:
    """The known bugs that a test is marked with, by itself or by its class: what it is about, and no defect shows.

    None of a test that is not there any more.
    """
    module, _, name = test.partition("[")[0].partition("::")
    file = _suite(profile) / f"{module}.py"
    inside: Sequence[ast.stmt] = ast.parse(file.read_text(encoding="utf-8")).body if file.is_file() else ()
    found = set[str]()
    for part in name.split("::"):
        for node in inside:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == part:
                found |= {str(bug) for mark in node.decorator_list for bug in _named_by(mark, "known_bug")}
                inside = node.body
                break
    return frozenset(found)


def _named_by(mark: ast.expr, name: str) -> Iterator[object]:
    """The texts that a mark of this name is given."""
    if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Attribute) and mark.func.attr == name:
        yield from (each.value for each in mark.args if isinstance(each, ast.Constant))


def _suite(profile: str) -> Path:
    return SUITES / profile.replace("-", "_")


def _tests(tree: ast.Module | ast.ClassDef) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            yield from (f"{node.name}::{each}" for each in _tests(node))
