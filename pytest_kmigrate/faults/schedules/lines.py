"""Lines of a file of schedules: its text, and the JSON of one line, in which each key may be there once."""

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from pytest_kmigrate.faults.schedules.spelling import Mistake, wrong
from pytest_kmigrate.model.errors import WrongUseError

THE_LINE = "the line"
"""The key of a mistake of a line as a whole."""
_MOST_DIGITS = 30
"""Of a whole number; int() refuses thousands by an error that names a function of Python."""
_A_LINE_EACH = "expected a file of schedules, one a line"


def lines_in(path: Path) -> list[str]:
    """The lines of a file; WrongUseError if it cannot be read.

    Only a line feed ends a line: text in JSON may hold other characters that Python takes for an end.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise WrongUseError(f"{path}: {_A_LINE_EACH}; got no text in UTF-8: save it as such") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise WrongUseError(f"{path}: {_A_LINE_EACH}; got none: {reason}") from error
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def json_of(line: str, mistakes: list[Mistake]) -> Any:
    """What a line holds; None, and a mistake is added, if that is no JSON, or text that no file can hold."""
    twice: list[str] = []

    def once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
        keys = [key for key, _ in pairs]
        twice.extend(dict.fromkeys(key for key in keys if keys.count(key) > 1))
        return dict(pairs)

    try:
        data = json.loads(line, object_pairs_hook=once, parse_int=_whole)
        json.dumps(data, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start].encode("unicode_escape").decode()
        mistakes.append(Mistake(THE_LINE, f"expected text that UTF-8 has; got half a character: {half}"))
        return None
    except (ValueError, RecursionError) as error:
        mistakes.append(Mistake(THE_LINE, f"expected JSON; got something else: {error}"))
        return None
    mistakes += [Mistake(key, "expected once; got the key twice in one object") for key in twice]
    return data


def spread_over(lines: Sequence[str]) -> int:
    """Over how many lines the JSON that begins with the first of them goes; 0: it is none."""
    text = "\n".join(lines).lstrip()
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return 0
    return text.count("\n", 0, end) + 1


def object_in(data: object, mistakes: list[Mistake]) -> dict[str, Any] | None:
    """The object that a line is; None, and a mistake is added, for a list, a number or a text."""
    if isinstance(data, dict):
        return data
    mistakes.append(wrong(THE_LINE, "an object", data))
    return None


def _whole(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= _MOST_DIGITS else Decimal(digits)
