"""What is missing for a bug, a check, a fault or a document that was added: all of it at once, each with what to do."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from itertools import chain
from pathlib import Path

import pytest_kmigrate
from pytest_kmigrate import faults
from pytest_kmigrate.catalogue import KnownBug, Requirement, all_known_bugs, requirements
from pytest_kmigrate.documents import documents
from pytest_kmigrate.judging.checks import all_checkers
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.errors import WrongUseError
from tests.faults_and_checks import table

ROOT = Path(__file__).parent.parent
UNIT, SUITES, PAGE = ROOT / "tests" / "unit", ROOT / "suites", ROOT / "docs" / "bugs-found.md"
_SECTION = re.compile(r"^## (kmigrate-\d+): (.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_OURS = "kmigrate-"
"""How the ids of bugs begin that were found here."""
_ROOMS = ("checkers", "documents")
"""Where unit tests of checks and diagnoses are."""
_CLASSES = "tests/faults_and_checks.toml"
_OF_A_DOCUMENT = (
    ("pytest_kmigrate/documents/{}", ("__init__.py", "requirements.toml", "document.py")),
    ("suites/{}", ("__init__.py", "conftest.py", "test_*.py")),
    ("tests/unit/documents", ("{}/**/test_*.py", "test_{}.py")),
    ("pytest_kmigrate/judging/planning/plans", ("{}.json",)),
)
"""By folder, the files of a document."""


@dataclass(frozen=True)
class Project:
    """What there is, as far as it has to fit together."""

    bugs: Collection[KnownBug]
    diagnoses: Collection[str]
    """The ids of bugs that have one."""
    tests: str
    """The text of all unit tests of checks and diagnoses."""
    sections: Mapping[str, str]
    """Of ``docs/bugs-found.md``, by the bug."""
    checks: Mapping[str, Collection[str]]
    """The requirements of each, by its name."""
    classed_checks: Collection[str]
    faults: Collection[str]
    classed_faults: Collection[str]
    public: Collection[str]
    """The names that users import from the package."""
    tests_of_faults: str
    """The text of their unit tests."""
    claims: Mapping[str, Collection[str]]
    """Texts in the tests of each document's suite, by the document; no key: it has no suite."""
    rows: Mapping[str, Collection[Requirement]]
    declared: Mapping[str, Collection[str]]
    """The requirements that each document's checks declare."""


def project() -> Project:
    """This one."""
    known = [each for each in documents() if each.checks]
    return Project(
        bugs=all_known_bugs(),
        diagnoses={each.bug_id for document in documents() for each in document.diagnoses},
        tests="".join(file.read_text("utf-8") for at in _ROOMS for file in (UNIT / at).rglob("*.py")),
        sections=dict(_SECTION.findall(PAGE.read_text("utf-8"))),
        checks={name: check.requirements for name, check in all_checkers().items()},
        classed_checks=tuple(chain.from_iterable(each.checks for each in table().families)),
        faults=tuple(_faults()),
        classed_faults=tuple(chain.from_iterable(table().faults.values())),
        public={*pytest_kmigrate.__all__}.intersection(chain.from_iterable(pytest_kmigrate._ROOMS.values())),
        tests_of_faults="".join(file.read_text("utf-8") for file in (UNIT / "faults").rglob("*.py")),
        claims={each.id: claimed(each) for each in known if suite(each).is_dir()},
        rows={each.id: requirements(each.id) for each in known},
        declared={each.id: {row for check in each.checks for row in check.requirements} for each in known},
    )


def all_missing() -> list[str]:
    """What this project lacks; where a document cannot be read, that and the files which documents lack."""
    files = list(absent_files(ROOT))
    try:
        return [*files, *missing(project())]
    except WrongUseError as error:
        return [*files, *str(error).splitlines(), "(other lines may follow when this one is done)"]


def absent_files(root: Path) -> Iterator[str]:
    """One line for each file that a document lacks which has a folder of its own, here or among the suites."""
    folders = (root / "pytest_kmigrate" / "documents", root / "suites")
    found = {each.parent.name for folder in folders for each in folder.glob("*/*.*") if each.parent.name[0] not in "_."}
    for name in sorted(found):
        for folder, files in _OF_A_DOCUMENT:
            yield from (f"document {name.replace('_', '-')}: {line}" for line in _absent(root, folder, files, name))


def _absent(root: Path, folder: str, files: Collection[str], name: str) -> Iterator[str]:
    at = folder.format(name)
    if at.startswith("tests"):
        if not any(any((root / at).glob(file.format(name))) for file in files):
            yield f"expected unit tests in {at}/, in {name}/ or test_{name}.py; got none"
        return
    for file in files:
        wanted = file.format(name.replace("_", "-"))
        if not any((root / at).glob(wanted)):
            yield f"expected {at}/{wanted}; got none" + (": make docs writes it" if wanted.endswith(".json") else "")


def missing(of: Project) -> list[str]:
    """One line for each thing that is missing or too much."""
    return [*_of_bugs(of), *_of_checks(of), *_of_faults(of), *_of_documents(of)]


def suite(document: Document) -> Path:
    """The folder of its tests."""
    return SUITES / document.id.replace("-", "_")


def claimed(document: Document) -> set[str]:
    """The texts in tests of its suite: requirements are among them, in markers or expectations."""
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in suite(document).glob("test_*.py"))
    constants = (each for tree in trees for each in ast.walk(tree) if isinstance(each, ast.Constant))
    return {each.value for each in constants if isinstance(each.value, str)}


def _faults() -> Iterator[str]:
    """The classes in ``faults/`` that can be applied, whether or not users know them."""
    for module in pkgutil.walk_packages(faults.__path__, f"{faults.__name__}."):
        for name, found in vars(importlib.import_module(module.name)).items():
            is_own = inspect.isclass(found) and found.__module__ == module.name and not name.startswith("_")
            if is_own and is_dataclass(found) and hasattr(found, "applied_to"):
                yield name


def _of_bugs(of: Project) -> Iterator[str]:
    known = {each.id for each in of.bugs}
    for bug in of.bugs:
        if bug.recognized != (bug.id in of.diagnoses):
            wrong = 'expected a diagnosis, @diagnosis("{}"), or recognized = false' if bug.recognized else (
                "has a diagnosis: take recognized = false out"
            )  # fmt: skip
            yield f"bug {bug.id}: {wrong.format(bug.id)} in known-bugs.toml"
        if bug.recognized and f'("{bug.id}",)' not in of.tests:
            yield f'bug {bug.id}: expected a unit test of its diagnosis, named(run, verdict) == ("{bug.id}",); got none'
        if bug.id.startswith(_OURS) and bug.id not in of.sections:
            yield f"bug {bug.id}: expected a section '## {bug.id}: ...' in docs/bugs-found.md; got none"
        elif bug.id.startswith(_OURS) and not bug.met_by and "\n$ pytest " not in of.sections[bug.id]:
            yield f"bug {bug.id}: expected the command that shows it ('$ pytest ...') in docs/bugs-found.md; got none"
    yield from (f"diagnosis of {each}: expected a table [[bug]] in known-bugs.toml" for each in of.diagnoses - known)
    yield from (f"docs/bugs-found.md: {each} is in no known-bugs.toml" for each in of.sections.keys() - known)


def _of_checks(of: Project) -> Iterator[str]:
    for check, rows in of.checks.items():
        # Checks of a document may be tested together, by their requirements without its prefix.
        if not any(each in of.tests for each in (check, *(row.partition("-")[2] for row in rows))):
            yield f"check {check}: expected unit tests with three histories in tests/unit; got none"
    yield from _classed("check", of.checks, of.classed_checks, "in one [[family]]")


def _of_faults(of: Project) -> Iterator[str]:
    for each in of.faults:
        if each not in of.public:
            yield f"fault {each}: expected in pytest_kmigrate/__init__.py (import, __all__, _ROOMS); got not all"
        if not re.search(rf"\b{each}\(", of.tests_of_faults):
            yield f"fault {each}: expected a unit test in tests/unit/faults/; got none"
    yield from _classed("fault", of.faults, of.classed_faults, "under one effect")


def _classed(what: str, there: Collection[str], classed: Collection[str], where: str) -> Iterator[str]:
    for each in there:
        if list(classed).count(each) != 1:
            yield f"{what} {each}: expected {where} of {_CLASSES}; got {list(classed).count(each)}"
    yield from (f"{_CLASSES}: there is no {what} {each}" for each in sorted({*classed} - {*there}))


def _of_documents(of: Project) -> Iterator[str]:
    for document, rows in of.rows.items():
        if document not in of.claims:
            yield f"document {document}: expected a suite in suites/{document.replace('-', '_')}/; got none"
        spoken = {*of.declared[document], *of.claims.get(document, ())}
        for row in rows:
            if row.id not in spoken and not (row.covered_by or row.untestable or row.same_as):
                yield f"requirement {row.id}: expected a check that declares it, or a test of the suite; got none"
        known = {row.id for row in rows}
        for each in sorted({*of.declared[document]} - known):
            yield f"document {document}: a check declares {each}, which is in no requirements.toml of it"
