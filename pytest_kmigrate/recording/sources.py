"""Digests of source files: two runs with the same ones were made by the same test and the same harness."""

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_NO_HARNESS = ("suites", "reports", "analysis", "__pycache__")
"""Folders whose files change neither the evidence of a run nor its verdicts; a suite's own files are its tests'."""


def digest_of(files: Iterable[Path]) -> str:
    """One SHA-256 over the names and contents of these files."""
    whole = hashlib.sha256()
    for file in files:
        whole.update(f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def digest_of_test(file: Path) -> str:
    """The digest of a test's file, the files beside it that are no tests, and the conftest.py of every folder above."""
    folder = file.parent
    beside = [each for each in sorted(folder.glob("*.py")) if not each.match("test_*") and not each.match("*_test.py")]
    above = [parent / "conftest.py" for parent in folder.parents if (parent / "conftest.py").is_file()]
    return digest_of([file, *beside, *above])


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
