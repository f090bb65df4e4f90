"""What a foreign file comes to: results in our words, and what of it could not be read."""

import datetime as dt
import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_kmigrate.model.verdict import Kind, Outcome

PASSES = "test passes"
"""The check of a result that names no kind of error."""

MOST_SUMMARY_CHARACTERS = 4_000

_MOST_NAME_CHARACTERS = 200
_ERROR = re.compile(
    r"\s*([A-Za-z_$][\w.$]{0,199}(?:Error|Exception|Failure|Failed|Timeout|Interrupt))(?![\w.$])", re.ASCII
)

_NAMES = {
    "profile": ("profile", "suite_profile"),
    "provider": ("provider",),
    "kafka": ("kafka", "kafka_version", "kafka.version"),
    "topology": ("topology", "metadata_quorum"),
    "fault": ("fault",),
    "phase": ("phase",),
    "seed": ("seed",),
}


_CLOCKS_BEGIN = dt.datetime(1971, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Result:
    """One attempt of one test. ``conditions`` are those of our own runs, as far as the file tells them."""

    run_id: str
    test_id: str
    outcome: Outcome
    kind: Kind | None = None
    check: str = PASSES
    summary: str = ""
    duration_ms: float | None = None
    started_at: dt.datetime | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Unread:
    """What could not be read: all of a file, or from ``line`` on."""

    reason: str
    line: int | None = None


@dataclass(frozen=True)
class Reading:
    """Everything one file came to."""

    results: tuple[Result, ...] = ()
    unread: tuple[Unread, ...] = ()


def unreadable(reason: str) -> Reading:
    """A file nothing could be had of."""
    return Reading(unread=(Unread(reason),))


def json_of(text: str) -> Any:
    """What a JSON text holds, or why it cannot be read; as ``Any``, for a foreign file may hold anything."""
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        return Unread(f"not readable as JSON: {error.msg}", error.lineno)
    except (ValueError, RecursionError) as error:
        return Unread(f"not readable as JSON: {error}")


def ending(status: str) -> tuple[Outcome, Kind | None]:
    """The outcome and kind for what the three formats say, in lower case.

    A failed assertion is called LIVENESS: a foreign file tells that something expected did not come, and no more.
    SAFETY is for what our own checkers proved from a history, because it may never be called flaky. An error is not
    the claim failing but the test not getting there, so nothing can be said.
    """
    if status in ("passed", "pass"):
        return Outcome.CONFORMS, None
    if status in ("failed", "fail", "failure"):
        return Outcome.VIOLATES, Kind.LIVENESS
    if status in ("skipped", "ignore"):
        return Outcome.NOT_APPLICABLE, None
    return Outcome.INCONCLUSIVE, Kind.HARNESS


def conditions(told: Mapping[str, object]) -> dict[str, str]:
    """The conditions among properties, labels, parameters or arguments, by the names people give them."""
    by_name = {name.lower(): value for name, value in told.items()}
    found = {}
    for condition, names in _NAMES.items():
        values = [by_name[name] for name in names if by_name.get(name) not in (None, "")]
        if values:
            found[condition] = str(values[0])
    return found


def digest(content: object) -> str:
    """A short name for any JSON content or text: equal content, equal name."""
    text = content if isinstance(content, str) else json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def shown(*parts: object) -> str:
    """The texts among ``parts``, one below the other, as far as a summary goes."""
    texts = [part.strip() for part in parts if isinstance(part, str) and part.strip()]
    # A trace usually begins with the message that stands beside it.
    kept = [text for place, text in enumerate(texts) if not any(text in later for later in texts[place + 1 :])]
    return "\n".join(kept)[:MOST_SUMMARY_CHARACTERS]


def error_named(type_told: object, summary: str) -> str:
    """The kind of error a result ended with, as the file names it or as the summary begins; else what was claimed."""
    if isinstance(type_told, str) and type_told.strip():
        return type_told.strip()[:_MOST_NAME_CHARACTERS]
    found = _ERROR.match(summary)
    return found.group(1) if found else PASSES


def number(value: object) -> float | None:
    """A finite number, from a number or a text such as ``1,234.5``."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        read = float(value.replace(",", "") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return read if math.isfinite(read) else None


def moment(seconds: float | None) -> dt.datetime | None:
    """The time so many seconds after 1970; None without any, and for one that is not ``possible``."""
    try:
        return None if seconds is None else possible(dt.datetime.fromtimestamp(seconds, dt.UTC))
    except (ValueError, OverflowError, OSError):
        return None


def possible(told: dt.datetime) -> dt.datetime | None:
    """A time at which a test may have begun; None for what a clock tells that was not set: 1970, or a day to come."""
    is_possible = _CLOCKS_BEGIN < told < dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    return told if is_possible else None
