"""The rules of this house that no linter knows: each is a test that names the file which breaks it."""

import ast
import inspect
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import requirement
from pytest_kmigrate.judging.checks import all_checkers
from pytest_kmigrate.model.expectation import Expectation
from pytest_kmigrate.topology.loading import find, load, shipped

ROOT = Path(__file__).parent.parent
PACKAGES = ("pytest_kmigrate", "fixtures", "reports")
MOST_LINES_PER_FILE = 450
MOST_LINES_PER_FUNCTION = 50
MOST_FILES_PER_FOLDER = 30
FEWEST_IN_A_FOLDER = 3
OF_A_DOCUMENT = ("checks", "diagnoses")
"""Folders that each document may have, to be found by name, however few files are in them."""
MOST_LINES_OF_SPEECH = 40
"""A ratchet: it may only fall. Verbs of speech and pronouns without a noun hide who does what."""
NOT_WRITTEN_BY_HAND = (".lock", ".json", ".jsonl")
# In two halves, so that this file does not break its own rule.
MACHINE_PATHS = re.compile(r"(?<![\w.~-])/(?:wo" r"rk|ro" r"ot)/")
REGISTRY_HOSTS = re.compile(
    r"repo1?\.mav" r"en|mav" r"en\.org|sona" r"type|py" r"pi\.org|pyth" r"onhosted|proxy\.gol" r"ang|sum\.gol" r"ang"
)
REQUIREMENT_ID = re.compile(r"\bK\d+D?-[A-Z]")
DOCUMENTS = "pytest_kmigrate.documents"
ABOVE_DOCUMENTS = ("judging", "running", "plugin", "certificates", "cli")
# In two halves, so that this file does not break its own rule.
SPEECH = re.compile(r"\b(to" r"ld|te" r"lls?|who" r"ever|no" r"body)\b")
QUOTED = re.compile(r"\"([^\"\n]+)\"")
UNTYPED_READING = re.compile(r"\.(?:data|extra)(?:\[|\.get\()|\" in \w+\.extra\b")
RULED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ExceptHandler, ast.Import, ast.ImportFrom, ast.Attribute)
"""What rules are about; in the suites also calls."""
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


@cache
def checked_in() -> tuple[Path, ...]:
    """Every path that is in version control or about to be, as seen from the root; links as such."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(Path(name) for name in sorted(set(listed.split("\0"))) if name and os.path.lexists(ROOT / name))


@cache
def ours() -> tuple[Path, ...]:
    """Every such file, each once, linked folders too."""
    paths = (ROOT / name for name in checked_in())
    return tuple(path for path in paths if path.is_file() and not path.is_symlink())


def python(*folders: str) -> list[Path]:
    """Our Python files below these folders (below any, when none is named)."""
    return [
        path for path in ours() if path.suffix == ".py" and (not folders or path.relative_to(ROOT).parts[0] in folders)
    ]


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """The nodes of a file's syntax tree that rules are about; of a body they keep what a rule looks at.

    Whole trees of 1,500 files are millions of objects, and every look of the garbage collector takes longer by them.
    """
    ruled = (*RULED, ast.Call) if path.relative_to(ROOT).parts[0] == "suites" else RULED
    found = tuple(node for node in _walked(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ruled))
    for node in found:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = node.body[:1] if ast.get_docstring(node) else []
        elif isinstance(node, ast.ExceptHandler):
            node.body = [each for each in node.body[-1:] if isinstance(each, ast.Raise)]
    return found


def _walked(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree, in a third of the time that ``ast.walk`` takes."""
    nodes = [tree]
    for node in nodes:  # it grows while it is read
        for value in vars(node).values():
            if isinstance(value, list):
                nodes += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                nodes.append(value)
    return nodes


def named(path: Path, node: ast.AST | None = None) -> str:
    """``file:line``."""
    line = getattr(node, "lineno", None)
    return f"{path.relative_to(ROOT)}{f':{line}' if line else ''}"


def imported(path: Path) -> Iterator[tuple[str, ast.stmt]]:
    """The top-level packages a file imports, wherever in it."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node) for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0], node


def test_files_are_short() -> None:
    """No file of code is longer than 450 lines."""
    code = (".py", ".js", ".css", ".html")
    long = {named(path): len(path.read_text().splitlines()) for path in ours() if path.suffix in code}
    assert {name: lines for name, lines in long.items() if lines > MOST_LINES_PER_FILE} == {}


def test_folders_are_not_crowded() -> None:
    """No folder holds more than 30 Python files side by side."""
    crowded = Counter(str(path.parent.relative_to(ROOT)) for path in python())
    assert {folder: files for folder, files in crowded.items() if files > MOST_FILES_PER_FOLDER} == {}


def test_no_folder_is_made_for_one_or_two_modules() -> None:
    """A folder of code has three entries; a document's, and one of tests that mirrors a folder, may have fewer."""
    entries: dict[Path, set[str]] = {}
    for path in ours():
        for each in (path, path.parent):
            entries.setdefault(each.parent, set()).add(each.name)
    few = {
        str(folder.relative_to(ROOT)): sorted(held - {"__init__.py"})
        for folder, held in entries.items()
        if any(each.suffix == ".py" for each in folder.glob("[!_]*"))
        and len(held - {"__init__.py"}) < FEWEST_IN_A_FOLDER
        and folder.name not in OF_A_DOCUMENT
        and not (folder / "requirements.toml").is_file()
        and not (ROOT / "pytest_kmigrate" / str(folder).removeprefix(f"{ROOT}/tests/unit/")).is_dir()
    }
    assert few == {}


def test_functions_are_short() -> None:
    """No function is longer than 50 lines, its docstring included."""
    long = [
        f"{named(path, node)} {node.name}"
        for path in python()
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > MOST_LINES_PER_FUNCTION
    ]
    assert long == []


def test_only_one_room_sleeps() -> None:
    """Whoever waits says for what, through ``waiting``: no other file sleeps, tests included."""
    room = ROOT / "pytest_kmigrate" / "waiting.py"
    sleeping = [
        named(path, node)
        for path in python()
        if path != room
        for node in nodes(path)
        if (isinstance(node, ast.Attribute) and node.attr == "sleep")
        or (isinstance(node, ast.ImportFrom) and any(alias.name == "sleep" for alias in node.names))
    ]
    assert sleeping == []


def test_every_catch_all_has_its_reason() -> None:
    """``except Exception`` stands only where it raises on, or with a comment that says why."""
    bare = [
        named(path, node)
        for path in python()
        for node in nodes(path)
        if isinstance(node, ast.ExceptHandler)
        and _caught(node) in (None, "Exception", "BaseException")
        and not _has_reason(node, path.read_text().splitlines())
    ]
    assert bare == []


def _has_reason(handler: ast.ExceptHandler, lines: list[str]) -> bool:
    if handler.body:  # it raises
        return True
    beside = re.sub(r"# noqa: \w+ *", "", lines[handler.lineno - 1])
    return "#" in beside or beside.rstrip()[-1] != ":" or lines[handler.lineno - 2].lstrip().startswith("#")


def _caught(handler: ast.ExceptHandler) -> str | None:
    return handler.type.id if isinstance(handler.type, ast.Name) else None if handler.type is None else ""


@pytest.mark.parametrize("name", shipped())
def test_every_topology_loads(name: str) -> None:
    """It has no mistake, says what it is for, and is named after its file."""
    topology = load(find(name))
    assert topology.name == name
    assert topology.purpose


def test_every_marker_names_a_known_requirement() -> None:
    """Every requirement id in the suites is in the ledger, and every test of theirs has one."""
    for path in python("suites"):
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                ids = [ast.literal_eval(each) for mark in _marks(node, "requirement") for each in mark.args]
                assert ids, f"{named(path, node)}: expected a requirement marker; there is none"
                for requirement_id in ids:
                    assert requirement(requirement_id).id == requirement_id


def test_every_topology_marker_names_a_topology() -> None:
    """Every topology that a suite asks for is shipped."""
    for path in python("suites"):
        for node in nodes(path):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.topology" and node.args:
                assert find(ast.literal_eval(node.args[0])).is_file(), named(path, node)


def _marks(function: ast.FunctionDef, name: str) -> list[ast.Call]:
    calls = [each for each in function.decorator_list if isinstance(each, ast.Call)]
    return [call for call in calls if ast.unparse(call.func) == f"pytest.mark.{name}"]


def test_links_in_documents_lead_somewhere() -> None:
    """Every relative link in a document leads to a file that is there."""
    documents = [path for path in ours() if path.suffix == ".md"]
    dead = [
        f"{named(path)}: {link}"
        for path in documents
        for link in LINK.findall(path.read_text())
        if not re.match(r"[a-z]+:|#", link) and not (path.parent / link.partition("#")[0]).exists()
    ]
    assert documents
    assert dead == []


@pytest.mark.parametrize("forbidden", [MACHINE_PATHS, REGISTRY_HOSTS], ids=["machine-path", "registry-host"])
def test_nothing_names_one_machine_or_registry(forbidden: re.Pattern[str]) -> None:
    """What is checked in works on any machine, behind any mirror."""
    found = []
    for path in ours():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{named(path)}: {match.group()}" for match in forbidden.finditer(text)]
    assert found == []


def test_only_the_plugin_and_its_fixtures_import_pytest() -> None:
    """Everything else works outside pytest too, except the contract that other providers are tested by."""
    plugin = ROOT / "pytest_kmigrate" / "plugin"
    contract = ROOT / "pytest_kmigrate" / "providers" / "contract.py"
    guilty = [
        named(path, node)
        for path in python("pytest_kmigrate", "reports")
        if plugin not in path.parents and path != contract
        for package, node in imported(path)
        if package in ("pytest", "_pytest")
    ]
    assert guilty == []


def test_only_analysis_and_reports_import_spark() -> None:
    """A run must not pay for what comes after it."""
    analysis = ROOT / "pytest_kmigrate" / "analysis"
    guilty = [
        named(path, node)
        for path in python("pytest_kmigrate", "fixtures", "suites")
        if analysis not in path.parents
        for package, node in imported(path)
        if package == "pyspark"
    ]
    assert guilty == []


def test_a_general_room_names_no_document() -> None:
    """Whatever a document needs lies in its folder; rooms above the documents know them by ``documents`` alone."""
    package = ROOT / "pytest_kmigrate"
    documents, public = package / "documents", package / "__init__.py"
    of_package = python("pytest_kmigrate", "reports", "fixtures")
    general = [path for path in of_package if documents not in path.parents and path != public]
    ids = [(path, found[0]) for path in general for found in REQUIREMENT_ID.finditer(path.read_text())]
    assert [f"{named(path)}: {found}" for path, found in ids] == []
    assert [f"{named(path, node)}" for path in general for node in _names_a_document(path)] == []


def _names_a_document(path: Path) -> Iterator[ast.stmt]:
    """Imports of a document's folder; and of ``documents`` itself by a room that has no business with it."""
    is_above = path.relative_to(ROOT).parts[1] in ABOVE_DOCUMENTS
    for node in nodes(path):
        if isinstance(node, ast.Import) and any(alias.name.startswith(DOCUMENTS) for alias in node.names):
            yield node
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(DOCUMENTS):
            names = {alias.name for alias in node.names}
            if node.module != DOCUMENTS or not is_above or not names <= {"document", "documents"}:
                yield node


def test_every_test_says_which_fact_it_proves() -> None:
    """A test without a docstring proves an unknown fact."""
    silent = [
        f"{named(path, node)} {node.name}"
        for path in python("tests", "suites")
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert silent == []


def test_the_prose_names_its_subjects() -> None:
    """Code and documents report, record and return instead of speaking, and say which node or user does it."""
    written = [path for path in ours() if path.suffix in (".py", ".md")]
    lines = [(path, line) for path in written for line in path.read_text(encoding="utf-8").splitlines()]
    found = [f"{named(path)}: {line.strip()}" for path, line in lines if SPEECH.search(line)]
    assert len(found) <= MOST_LINES_OF_SPEECH, "\n".join(found)


def test_events_are_read_by_their_fields() -> None:
    """``history.of(FaultBegan)`` has ``what.fault_id``; the keys as text are for what reads and writes a folder."""
    found = [
        f"{named(path)}: {each[0]}"
        for path in python(*PACKAGES, "suites")
        for each in UNTYPED_READING.finditer(path.read_text())
        if "recording" not in path.relative_to(ROOT).parts
    ]
    advice = "what.KEY of an event, circumstances.KEY of a header, of_log[KEY] or of_zookeeper[KEY] of an image"
    assert found == [], "\n".join([f"expected {advice}", *found])


@cache
def quoted() -> tuple[tuple[Path, str], ...]:
    """Every text in quotes of the product and its suites, with its file."""
    return tuple((path, text) for path in python(*PACKAGES, "suites") for text in QUOTED.findall(path.read_text()))


def test_an_expectation_that_diagnoses_look_for_is_named_by_its_object() -> None:
    """Words that a suite repeats are reworded there alone, and the diagnosis loses its evidence without an error."""
    modules = [each.parent.name for each in (ROOT / "pytest_kmigrate" / "documents").glob("*/expectations.py")]
    members = [each for name in modules for each in vars(import_module(f"{DOCUMENTS}.{name}.expectations")).values()]
    known = [each for each in members if isinstance(each, Expectation)]
    assert len({each.id for each in known}) == len(known)
    others = [(path, text) for path, text in quoted() if path.name != "expectations.py"]
    repeated = [
        f"{named(path)}: {text!r} is {each.id}" for path, text in others for each in known if each.is_named(text)
    ]
    assert repeated == [], "\n".join(["expected the object of the document's expectations.py", *repeated])


def test_a_check_is_named_by_its_object() -> None:
    """A name in quotes outlives its check: what was judged by it is judged by nothing from then on."""
    homes = {each.name: Path(inspect.getfile(inspect.unwrap(each.judge))).name for each in all_checkers().values()}
    found = [
        f"{named(path)}: {text!r} is a check of {homes[text]}"
        for path, text in quoted()
        if text in homes and path.name != homes[text]
    ]
    assert found == [], "\n".join(["expected the check itself: verdict.is_of(CHECK), or CHECK.name", *found])
