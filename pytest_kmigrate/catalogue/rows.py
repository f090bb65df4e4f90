"""Tables of a document's files as records; what is wrong with one is reported with its file, id and key.

Read by hand and not by pydantic, whose import alone takes a third of the time that ``kmigrate judge`` has.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, fields
from functools import cache, partial
from keyword import iskeyword
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, Protocol, TypeVar, get_args, get_origin, get_type_hints

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from pytest_kmigrate.catalogue.places import Place
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.spelling import did_you_mean

_TICKET = re.compile(r"KAFKA-\d+|[\w.-]+/[\w.-]+#\d+|strimzi#\d+")
_TYPES = {str: "text", bool: "true or false", int: "a whole number"}
_REPAIR = "correct the file, or uninstall what brings it; docs/adding-a-document.md lists the keys"


class Row(Protocol):
    """What every table of a document has."""

    @property
    def id(self) -> str: ...  # noqa: D102 - its name says it


R = TypeVar("R", bound=Row)


def records(kind: type[R], place: Place, file: str, table: str, **known: str) -> tuple[R, ...]:
    """The tables of one file, in its order; ``known`` are fields that no file holds.

    WrongUseError for the first row that is wrong, with all that is wrong in it, and for an id that is given twice.
    """
    path = place.folder / file
    made = tuple(_record(kind, path, row, known) for row in place.rows(file, table))
    check_ids((path, each.id) for each in made)
    return made


def check_ids(ids: Iterable[tuple[Path, str]]) -> None:
    """WrongUseError when two rows, of one file or of two, have one id."""
    first: dict[str, Path] = {}
    for path, each in ids:
        if each in first:
            other = "in the same file" if first[each] == path else f"in {first[each]}"
            raise wrong(path, each, f"id: expected one that no other row has, got that of a row {other}")
        first[each] = path


def wrong(path: Path, row: str, *problems: str) -> WrongUseError:
    """The error for what is wrong with one row of a file, each problem on a line."""
    return WrongUseError("\n".join(f"{path}: {row}: {each}" for each in problems) + f": {_REPAIR}")


def _record(kind: type[R], path: Path, row: dict[str, Any], known: dict[str, str]) -> R:
    problems = list(_problems(kind, row, known))
    if problems:
        raise wrong(path, str(row.get("id", "a row without id")), *problems)
    return kind(**known, **{_field(key): _unchanging(value) for key, value in row.items()})


def _field(key: str) -> str:
    """The field of a key; the name of one that is a word of Python ends with an underscore."""
    return f"{key}_" if iskeyword(key) else key


def _unchanging(value: Any) -> Any:
    return tuple(_unchanging(each) for each in value) if isinstance(value, list) else value


def _problems(kind: type[Any], row: dict[str, Any], known: Iterable[str]) -> Iterator[str]:
    hints = {key: hint for key, hint in _hints(kind).items() if key not in known}  # type: ignore[arg-type]
    for key in row.keys() - hints.keys():
        yield f"{key}: expected one of {', '.join(hints)}; got an unknown key{did_you_mean(key, hints)}"
    for key in _needed(kind):  # type: ignore[arg-type]
        if key in hints and key not in row:
            yield f"{key}: expected {_expected(hints[key])}, got nothing"
    for key in row.keys() & hints.keys():
        problem = _problem(row[key], hints[key])
        if problem:
            yield f"{key}: {problem}"


@cache  # types are taken apart once for all rows
def _hints(kind: type[Any]) -> dict[str, Any]:
    return {name.removesuffix("_"): hint for name, hint in get_type_hints(kind, include_extras=True).items()}


@cache
def _needed(kind: type[Any]) -> tuple[str, ...]:
    return tuple(each.name.removesuffix("_") for each in fields(kind) if each.default is MISSING)


@cache
def _parts(hint: Any) -> tuple[Any, Sequence[Callable[[Any], str | None]]]:
    """The type of a field, and what else its values have to be."""
    hint, *checks = get_args(present) if get_origin(present := _present(hint)) is Annotated else (present,)
    return hint, checks


def _problem(value: object, hint: Any) -> str | None:
    """What is wrong with a value, if anything is."""
    present, checks = _parts(hint)
    if not _is(value, present):
        return f"expected {_expected(hint)}, got {_shown(value)}"
    return next((problem for check in checks if (problem := check(value))), None)


def _is(value: object, hint: Any) -> bool:
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if get_origin(hint) is tuple:
        return isinstance(value, list) and all(_is(each, get_args(hint)[0]) for each in value)
    return type(value) is hint and value != ""


def _expected(hint: Any) -> str:
    hint, _ = _parts(hint)
    if get_origin(hint) is Literal:
        return " or ".join(f'"{each}"' for each in get_args(hint))
    if get_origin(hint) is tuple:
        return "a list of lists of texts" if get_args(hint)[0] is not str else "a list of texts"
    return _TYPES[hint]


def _present(hint: Any) -> Any:
    """The type of a field without the None that stands for a key that is left out."""
    return next(each for each in get_args(hint) if each is not NoneType) if NoneType in get_args(hint) else hint


def _shown(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else f"{value!r}"


def _wrong_pattern(text: str) -> str | None:
    try:
        re.compile(text)
    except re.error as error:
        return f'expected a regular expression, got "{text}" ({error})'
    return None


def _wrong_ranges(ranges: Iterable[str]) -> str | None:
    expected = 'expected ranges of releases such as ">=3.4.0,<=3.6.1"'
    if not ranges:
        return f"{expected}, got none"
    for each in ranges:
        try:
            specifiers = SpecifierSet(each)
        except InvalidSpecifier:
            return f'{expected}, got "{each}"'
        if not len(specifiers) or not any(specifiers.contains(release) for release in _around(specifiers)):
            return f'{expected}, got "{each}", which {"holds" if len(specifiers) else "names"} no release'
    return None


def _around(specifiers: SpecifierSet) -> Iterator[Version]:
    """Releases of which one is in the range unless the range is empty: those that it names, and the next of each."""
    yield Version("0")
    for each in specifiers:
        named = Version(each.version.removesuffix(".*"))
        yield named
        yield Version(f"{named.major}.{named.minor}.{named.micro + 1}")


def _wrong_releases(releases: Iterable[str]) -> str | None:
    for each in releases:
        try:
            Version(each)
        except InvalidVersion:
            return f'expected releases such as "3.6.2", got "{each}"'
    return None


def _outside(value: int, lowest: int, highest: int) -> str | None:
    return None if lowest <= value <= highest else f"expected {lowest} to {highest}, got {value}"


def between(lowest: int, highest: int) -> Callable[[int], str | None]:
    """The check of a number that has to lie between two others, or be one of them."""
    return partial(_outside, lowest=lowest, highest=highest)


def _wrong_ticket(text: str) -> str | None:
    if _TICKET.fullmatch(text):
        return None
    return f'expected a ticket such as "KAFKA-17146" or "apache/kafka#14237", got "{text}"'


Class = Literal["defect", "departure", "remark"]
"""What a difference between Kafka and its document is.

- defect: Kafka breaks what the document asks, and a user can be hurt;
- departure: Kafka differs from the text on purpose or without harm;
- remark: the text is unclear, or the difference is not in the text.
"""
Pattern = Annotated[str, _wrong_pattern]
Ranges = Annotated[tuple[str, ...], _wrong_ranges]
Releases = Annotated[tuple[str, ...], _wrong_releases]
Ticket = Annotated[str, _wrong_ticket]
Severity = Annotated[int, between(1, 5)]
"""1 (noise in a log) to 5 (data lost or the migration impossible)."""
