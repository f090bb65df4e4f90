"""Sentences for what is wrong in a topology file: ``key: expected …, got …``, with what was probably meant."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pytest_kmigrate.model.spelling import did_you_mean, nearest
from pytest_kmigrate.redaction import is_sensitive
from pytest_kmigrate.topology.format import TABLES, keys_of

KeyPath = tuple[str | int, ...]
Tables = Mapping[tuple[str, ...], type[BaseModel]]
"""Where each table stands in a file, list positions left out."""

MOST_CHARACTERS_SHOWN = 60

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "too_short": "at least one",
    "too_long": "at most {max_length} and found {actual_length}",
}
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class WrittenNumber(float):
    """A TOML number that remembers how it was written, so that a message can show 3.10 and not 3.1."""

    written: str

    def __new__(cls, written: str) -> Self:
        """The number of this text."""
        number = super().__new__(cls, written)
        number.written = written
        return number


@dataclass(frozen=True)
class Mistake:
    """One mistake at one key.

    ``suspects`` are the keys whose absence or value is therefore not to be trusted, ``reads`` those it depends on.
    """

    path: KeyPath
    text: str
    suspects: tuple[KeyPath, ...] = ()
    reads: tuple[KeyPath, ...] = ()


def shown(value: object) -> str:
    """A TOML value as its author would recognise it."""
    match value:
        case WrittenNumber():
            return value.written
        case bool():
            return str(value).lower()
        case str():
            text = json.dumps(value, ensure_ascii=False)
        case dict():
            return "a table"
        case list():
            return "a list" if value else "an empty list"
        case _:
            text = str(value)
    return text if len(text) <= MOST_CHARACTERS_SHOWN else f"{text[:MOST_CHARACTERS_SHOWN]}…"


def key_text(path: KeyPath, document: Mapping[str, object]) -> str:
    """A path as text: ``node[broker-1].heap_mb``; entries without a usable name are numbered from #1."""
    text = ""
    here: object = document
    for step in path:
        here = here[step] if _can_step(here, step) else None  # type: ignore[index]
        if isinstance(step, int):
            name = here.get("name") if isinstance(here, dict) else None
            text += f"[{name}]" if isinstance(name, str) and _BARE_KEY.fullmatch(name) else f"[#{step + 1}]"
        else:
            text += "." if text else ""
            text += step if _BARE_KEY.fullmatch(step) else json.dumps(step, ensure_ascii=False)
    return text or "the file"


def _can_step(here: object, step: str | int) -> bool:
    return (isinstance(here, list) and isinstance(step, int)) or (isinstance(here, dict) and step in here)


def mistakes_in(error: ValidationError, tables: Tables = TABLES) -> list[Mistake]:
    """One mistake per thing pydantic found in a file of these tables; of a secret no character is in it."""
    return [_mistake(details, tables) for details in error.errors(include_url=False)]


def _mistake(details: ErrorDetails, tables: Tables) -> Mistake:
    path: KeyPath = details["loc"]
    match details["type"]:
        case "extra_forbidden":
            return _unknown_key(path, tables)
        case "missing":
            expected = keys_of(tables[_table(path[:-1])])[str(path[-1])]
            return Mistake(path, f"expected {expected}; got nothing", (path,))
        case _ if is_sensitive(str(path[-1])) and not isinstance(details["input"], dict):
            return Mistake(
                path, f"{_expected(details)}, got a secret in the file itself: name where it is kept", (path,)
            )
        case _:
            text = f"{_expected(details)}, got {shown(details['input'])}{_what_to_do(path, details)}"
            return Mistake(path, text, (path,))


def _table(path: KeyPath) -> tuple[str, ...]:
    return tuple(step for step in path if isinstance(step, str))


def _unknown_key(path: KeyPath, tables: Tables) -> Mistake:
    key = str(path[-1])
    known = keys_of(tables[_table(path[:-1])])
    meant = nearest(key, known)
    suspects: tuple[KeyPath, ...] = ((*path[:-1], meant),) if meant else ()
    text = f"expected one of {', '.join(known)}; got an unknown key{did_you_mean(key, known)}"
    return Mistake(path, text, suspects)


def _expected(details: ErrorDetails) -> str:
    context = details.get("ctx", {})
    match details["type"]:
        case "value_error":
            return str(context["error"])
        case "literal_error":
            return "expected " + str(context["expected"]).replace("'", '"')
        case kind if kind in _EXPECTED:
            return "expected " + _EXPECTED[kind].format(**context)
        case _:
            return "expected otherwise: " + details["msg"]


def _what_to_do(path: KeyPath, details: ErrorDetails) -> str:
    got, kind = details["input"], details["type"]
    write = "write " if isinstance(path[-1], int) else f"write {key_text(path[-1:], {})} = "
    if kind == "string_type" and isinstance(got, dict):
        names = ", ".join(_dotted(str(path[-1]), got)[:3])
        return f": an unquoted dot makes a nested table, so quote the whole name: {names}"
    if kind == "string_type" and isinstance(got, bool | int | float):
        return f' (without quotes): {write}"{shown(got)}"'
    if kind in ("int_type", "literal_error") and isinstance(got, str) and got.isdecimal():
        return f" (text): {write}{got}"
    if kind == "literal_error" and isinstance(got, str):
        return did_you_mean(got, re.findall(r"'([^']+)'", str(details.get("ctx", {})["expected"])))
    return ""


def _dotted(name: str, table: Mapping[str, object]) -> list[str]:
    """The properties that were meant by nested tables."""
    lines: list[str] = []
    open_tables: list[tuple[str, object]] = [(name, table)]
    while open_tables:  # no recursion: a dotted key can be longer than the stack is deep
        prefix, value = open_tables.pop()
        if isinstance(value, dict):
            open_tables += [(f"{prefix}.{key}", each) for key, each in reversed(value.items())]
        else:
            lines.append(f'"{prefix}" = "{shown(value).strip(chr(34))}"')
    return lines
