"""Redaction: passwords, tokens, credentials and key material never reach an artefact.

``forms`` finds secrets by the ways in which they are written, ``known`` by their values, where a run was given them.
A stand-in takes the place of each. Redacting twice changes nothing.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_kmigrate.redaction.forms import HINTS, has_hint, is_flag, is_sensitive, secrets_of
from pytest_kmigrate.redaction.known import known_replaced
from pytest_kmigrate.redaction.stand_in import HIDDEN, hashed, nameless, scram_digest

__all__ = [
    "HIDDEN",
    "hashed",
    "is_sensitive",
    "line_with_secret",
    "nameless",
    "redacted",
    "redacted_id",
    "redacted_properties",
    "redacted_values",
    "scram_digest",
    "shown",
]

_SCRAM = re.compile(
    r"salt=([^\s,\"\\]+),\s*stored_key=([^\s,\"\\]+),\s*server_key=([^\s,\"\\]+),\s*iterations=(\d+)", re.IGNORECASE
)
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.*?(?:-----END \1-----|\Z)", re.DOTALL)
_JAAS_MODULE = re.compile(r"(LoginModule\s+(?:required|requisite|sufficient|optional)\b)(?!\s*\[red)[^;]*;?")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def shown(key: str, value: str, instead: Callable[[str], str] = hashed) -> str:
    """A config value as an artefact may show it."""
    return instead(value) if is_sensitive(key) else redacted(value, instead)


def redacted_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties with a stand-in for every sensitive value, and secrets inside other values removed."""
    return {key: shown(key, value) for key, value in properties.items()}


def redacted_id(name: str) -> str:
    """The id of a test, whose parameters may hold a secret: the same in each process."""
    return redacted(name, nameless)


def redacted_values(value: object, key: str = "", instead: Callable[[str], str] = hashed) -> Any:
    """Plain values (of JSON) with every text redacted; a sensitive key hides its whole value.

    A word of a command line is hidden behind an option that takes a secret, and so is a ``value`` beside a ``name``.
    What JSON has no form for becomes text.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return _redacted_mapping(value, instead)
    if isinstance(value, list | tuple):
        return list(_redacted_words(value, key, instead))
    return shown("" if "/" in key else key, str(value), instead)  # a path names a file, and is no name of a property


def redacted(text: str, instead: Callable[[str], str] = hashed) -> str:
    """Any text - a log line, a znode, a properties file - without its secrets."""
    text = known_replaced(text, instead)
    if len(text) < _SHORTEST or not has_hint(text):
        return text
    text = _PEM.sub(lambda match: f"[redacted {match[1]}]", text)
    text = _SCRAM.sub(lambda match: f"digest={scram_digest(match[1], match[2], match[3])},iterations={match[4]}", text)
    text = _JAAS_MODULE.sub(r"\1 [redacted];", text)
    parts, end = list[str](), 0
    for begin, after in secrets_of(text):
        parts += [text[end:begin], instead(text[begin:after])]
        end = after
    return "".join([*parts, text[end:]]) if parts else text


def line_with_secret(text: str, *, is_json: bool = False) -> int | None:
    """The number of the first line that ``redacted`` would change; None if there is none.

    ``is_json``: each line is an object, or one of an indented file.
    """
    if is_json and _is_redacted_json(text):
        return None
    folded = text.casefold()
    hints = [each for each in HINTS if each in folded]
    lines = ((number, line) for number, line in enumerate(text.splitlines(), 1) if has_hint(line, hints))
    if is_json:
        return next((number for number, line in lines if not _is_redacted_json(line)), None)
    return next((number for number, line in lines if redacted(line) != line), None)


_SHORTEST = 6
"""No form of a secret is shorter than this, its name included."""


def _redacted_mapping(value: Mapping[object, object], instead: Callable[[str], str]) -> dict[object, object]:
    named = value.get("name", value.get("key"))
    of_value = named if isinstance(named, str) and isinstance(value.get("value"), str) else "value"
    return {
        known_replaced(each, instead) if isinstance(each, str) else each: redacted_values(
            held, of_value if each == "value" else str(each), instead
        )
        for each, held in value.items()
    }


def _redacted_words(
    words: list[object] | tuple[object, ...], key: str, instead: Callable[[str], str]
) -> Iterator[object]:
    is_behind_flag = False
    for each in words:
        if is_behind_flag and isinstance(each, str) and not each.startswith("-"):
            yield instead(each)
        else:
            yield redacted_values(each, key, instead)
        is_behind_flag = isinstance(each, str) and is_flag(each)


def _is_redacted_json(text: str) -> bool:
    """Whether the texts of an object have no secret; what is none, such as a line of one, is looked at unescaped."""
    try:
        values = json.loads(text)
    except ValueError:
        content = _ESCAPE.sub(_unescaped, text)
        return redacted(content) == content
    return bool(redacted_values(values) == values)


def _unescaped(match: re.Match[str]) -> str:
    escaped = match[1]
    return chr(int(escaped[1:], 16)) if len(escaped) > 1 else _ESCAPED.get(escaped, escaped)
