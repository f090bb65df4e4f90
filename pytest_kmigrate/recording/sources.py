"""Digests of source files: two runs with the same ones were made by the same test and the same harness."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_SUITES = _PACKAGE / "suites"
_NO_HARNESS = ("suites", "reports", "analysis", "__pycache__")
"""Folders whose files change neither the evidence of a run nor its verdicts; a suite's own files are its tests'."""
_PART_OF_A_TEST = (".py", ".jsonl")
"""What a test may use of the files beside it: code, and schedules."""
_CONFTEST = "conftest.py"
_OF_A_SUITE = re.compile(r"^\s*(?:from|import) pytest_kmigrate\.suites\.(\w+)", re.MULTILINE)


def digest_of(files: Iterable[Path]) -> str:
    """One SHA-256 over the names and contents of these files."""
    whole = hashlib.sha256()
    for file in files:
        whole.update(f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def digest_of_test(file: Path, *, has_above: bool = True) -> str:
    """The digest of a test's file, what it uses of its own suite and of others, and conftest.py of the folders above.

    Helpers are the files beside it that are no tests, and its schedules. ``has_above=False``: of a suite as its package
    ships it, wherever that is installed: nothing above takes part.
    """
    folder = file.parent
    others = [_SUITES / name for name in _other_suites([file, *_helpers(folder)]) if (_SUITES / name).is_dir()]
    above = [parent / _CONFTEST for parent in folder.parents if has_above and (parent / _CONFTEST).is_file()]
    return digest_of([file, *_helpers(folder), *(each for other in others for each in _helpers(other)), *above])


def _helpers(folder: Path) -> list[Path]:
    found = (each for each in folder.iterdir() if each.suffix in _PART_OF_A_TEST and each.is_file())
    return sorted(each for each in found if not each.match("test_*") and not each.match("*_test.py"))


def _other_suites(files: Iterable[Path]) -> list[str]:
    """The package's suites, besides their own, whose helpers these files import; they may be a user's."""
    own = {file.parent.name for file in files}
    named = {name for file in files if file.suffix == ".py" for name in _OF_A_SUITE.findall(file.read_text("utf-8"))}
    return sorted(named - own)


@cache
def harness_digest() -> str:
    """The digest of the package's files that make evidence and verdicts."""
    return digest_of(sorted(_files(_PACKAGE)))


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_file():
            yield path
        elif path.name not in _NO_HARNESS:
            yield from _files(path)
