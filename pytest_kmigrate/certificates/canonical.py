"""Canonical JSON: one way to write a value, so that no byte of a certificate can be changed unnoticed."""

import json
from typing import Any


def canonical(value: object) -> bytes:
    """The value as JSON with sorted keys and without spaces; it has no fractions, which have many spellings."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def parsed(content: bytes) -> Any:
    """The value of canonical JSON; ValueError if it is JSON of any other spelling, or none."""
    try:
        value = json.loads(content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if canonical(value) != content:
        raise ValueError("it is not written canonically")
    return value
