"""JSON as it lies in folders of runs: one object, or an error that says where there is none."""

import json
from typing import Any

from pytest_kmigrate.model.errors import RunFolderError

_KINDS = {
    list: "a list",
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def json_object(text: bytes, where: str) -> dict[str, Any]:
    """The object that a text is; RunFolderError, which begins with ``where``, for anything else."""
    try:
        content = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise RunFolderError(f"{where}: expected JSON; {error}") from error
    if not isinstance(content, dict):
        raise RunFolderError(f"{where}: expected a JSON object, got {_KINDS[type(content)]}")
    return content
