"""Where documents lie: folders of ``documents/``, and packages that others name by an entry point."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_kmigrate.model.errors import WrongUseError

ENTRY_POINTS = "kmigrate.documents"
"""The group of entry points by which other packages bring documents: ``kip-999 = "their_package.kip_999"``."""

REQUIREMENTS = "requirements.toml"
"""The file that every document's folder has."""

_OURS = Path(__file__).parents[1] / "documents"
_GUIDE = "docs/adding-a-document.md says what a document consists of"


@dataclass(frozen=True)
class Place:
    """Where one document lies; its data is read without importing its code."""

    profile: str
    package: str
    """The package that has its ``document`` module."""
    folder: Path
    origin: str
    """What names it, for messages: a folder or an entry point."""

    def rows(self, file: str, table: str) -> list[dict[str, Any]]:
        """The tables of this name in one of its files; WrongUseError when there is no such file, or none in it."""
        path = self.folder / file
        if not path.is_file():
            raise WrongUseError(f"{self.origin}: expected {file} in {self.folder}, got none: add it; {_GUIDE}")
        try:
            held = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors begin a file with a mark
        except (ValueError, RecursionError) as error:
            raise WrongUseError(f"{path}: expected TOML; {error}") from error
        rows = held.pop(table, [])
        if not (isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)):
            raise WrongUseError(f"{path}: expected [[{table}]] tables, got none; {_GUIDE}")
        if held:
            raise WrongUseError(f"{path}: expected [[{table}]] tables, got the unknown {', '.join(held)}; {_GUIDE}")
        return rows

    def has(self, file: str) -> bool:
        """Whether the document has a file that it need not have."""
        return (self.folder / file).is_file()


@lru_cache
def profiles() -> tuple[str, ...]:
    """The profiles of all documents: ours, then those of other packages, each once."""
    return tuple(dict.fromkeys([*_folders(), *sorted(each.name for each in _entry_points())]))


@lru_cache
def place_of(profile: str) -> Place:
    """Where a profile's document lies; WrongUseError when there is none, two, or one that cannot be found."""
    folders, brought = _folders(), [each for each in _entry_points() if each.name == profile]
    named = [*([str(folders[profile])] if profile in folders else []), *map(_named, brought)]
    if not named:
        known = ", ".join(profiles())
        advice = "take one of them, or install the package that brings it"
        raise WrongUseError(f"profile: expected one of {known}; got {profile!r}: {advice}")
    if len(named) > 1:
        raise WrongUseError(
            f"profile {profile}: expected one document of this name, got {', '.join(named)}: uninstall or rename one"
        )
    if profile in folders:
        folder = folders[profile]
        return Place(profile, f"pytest_kmigrate.documents.{folder.name}", folder, named[0])
    return Place(profile, brought[0].value, _folder_of(brought[0]), named[0])


def _folders() -> Mapping[str, Path]:
    """Our own, by profile; a folder without files, which version control may leave, is none."""
    folders = (each for each in sorted(_OURS.iterdir()) if each.is_dir() and not each.name.startswith("_"))
    return {each.name.replace("_", "-"): each for each in folders if any(file.is_file() for file in each.iterdir())}


@lru_cache  # it looks into every package that is installed
def _entry_points() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=ENTRY_POINTS))


def _named(point: EntryPoint) -> str:
    owner = f" of {point.dist.name} {point.dist.version}" if point.dist else ""
    return f'entry point {ENTRY_POINTS} "{point.name} = {point.value}"{owner}'


def _folder_of(point: EntryPoint) -> Path:
    try:
        spec = find_spec(point.value)
    # The packages above it are imported, and those are a third party's: whatever they raise is about this document.
    except Exception as error:
        raise _not_found(point, f"{type(error).__name__}: {error}") from error
    if spec is None or not spec.submodule_search_locations:
        raise _not_found(point, "no package of this name" if spec is None else "a module without a folder")
    return Path(next(iter(spec.submodule_search_locations)))


def _not_found(point: EntryPoint, got: str) -> WrongUseError:
    return WrongUseError(f"{_named(point)}: expected a package with the document, got {got}: repair or uninstall it")
