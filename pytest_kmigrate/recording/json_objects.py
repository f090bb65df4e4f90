"""JSON as it lies in folders of runs: one object, or an error that says where there is none."""

import json
from typing import Any, NoReturn

from pytest_kmigrate.model.errors import RunFolderError

_KINDS = {
    list: "a list",
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; ValueError for one that has a key twice, of which readers take one or the other."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} is there twice")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number)
"""As no recorder writes them, keys that are there twice and numbers that are none are refused."""


def json_object(text: bytes, where: str) -> dict[str, Any]:
    """The object that a text is; RunFolderError, which begins with ``where``, for anything else."""
    try:
        content = _DECODER.decode(text.decode())
    except (ValueError, RecursionError) as error:
        raise RunFolderError(f"{where}: expected JSON; {error}") from error
    if not isinstance(content, dict):
        raise RunFolderError(f"{where}: expected a JSON object, got {_KINDS[type(content)]}")
    return content
