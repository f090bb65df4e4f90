"""Names of the classes in jars, and patterns of them as JaCoCo has them: ``*`` for any text, ``?`` for one letter."""

import functools
import hashlib
import re
import zipfile
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

_ENDING = ".class"
_FUNCTION = re.compile(r"^(?:lambda|\$anonfun)\$(.+?)\$\d+(?:\$adapted)?$")


@functools.lru_cache
def has_classes(jars: tuple[Path, ...], patterns: tuple[str, ...]) -> bool:
    """Whether any of the jars has a class of any of these patterns."""
    return any(True for _ in classes_in(jars, patterns))


def classes_in(jars: Iterable[Path], patterns: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """The classes of these patterns, each with the jar that has it; a nested one has ``$`` before its own name."""
    wanted = tuple(patterns)
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            for file in archive.namelist():
                name = file.removesuffix(_ENDING).replace("/", ".")
                if file.endswith(_ENDING) and any(fnmatchcase(name, each) for each in wanted):
                    yield jar, name


@functools.lru_cache
def class_digest(jars: tuple[Path, ...], name: str) -> str | None:
    """The SHA-256 of a class file, as the first jar that has it holds it; None where none does."""
    entry = name.replace(".", "/") + _ENDING
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            if entry in archive.NameToInfo:
                return hashlib.sha256(archive.read(entry)).hexdigest()
    return None


def method_of(function: str) -> str:
    """The name of a method; of a function without a name, as compilers call it, that of the method that it stands in.

    ``function`` may have its descriptor: ``lambda$poll$12()V`` is in ``poll``.
    """
    return _FUNCTION.sub(r"\1", function.partition("(")[0])
