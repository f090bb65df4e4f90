"""Results of foreign files in our words, and what of a file could not be read."""

import datetime as dt
import hashlib
import json
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


@dataclass(frozen=True)
class Result:
    """One attempt of one test.

    ``conditions`` are those of our own runs, as far as the file has them; ``properties`` all that the file names, for
    the labels of a user. Two results with the same ``run`` (not empty) and ``attempt`` are one, in whichever files
    they are; without a time of its own a result has no ``run`` and is known by its place.
    """

    test_id: str
    outcome: Outcome
    kind: Kind | None = None
    check: str = PASSES
    summary: str = ""
    duration_ms: float | None = None
    started_at: dt.datetime | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)
    run: str = ""
    attempt: int = 1
    properties: Mapping[str, str] = field(default_factory=dict)
    host: str = ""
    known_as: tuple[str, ...] = ()
    """Names under which its failure is known to its own project."""
    tool: str = ""
    """Which of the tools that may report the same run: ``junit``, ``allure``, ``ducktape``, ``ducktape-xml``."""
    until: dt.datetime | None = None
    """The latest time at which it may have begun, when ``started_at`` is only that of its suite."""
    odd_time: str = ""
    """Its start as the file has it, when that could not be understood."""
    uuid: str = ""
    """By what containers of Allure name it."""


@dataclass(frozen=True)
class Unread:
    """What could not be read: all of a file, or from ``line`` on.

    ``is_doubt``: a verdict may depend on it. Files of one ``sort`` are reported in one line.
    """

    reason: str
    line: int | None = None
    is_doubt: bool = True
    sort: str = ""


@dataclass(frozen=True)
class Reading:
    """All that was read from one file; ``broken`` are the uuids of tests whose setup failed."""

    results: tuple[Result, ...] = ()
    unread: tuple[Unread, ...] = ()
    broken: tuple[str, ...] = ()


def unreadable(reason: str) -> Reading:
    """A file from which nothing could be read."""
    return Reading(unread=(Unread(reason),))


def no_results(sort: str) -> Reading:
    """A file that is known to hold no results of tests, or none that are read."""
    return Reading(unread=(Unread(f"{sort}: no results of tests", is_doubt=False, sort=sort),))


def json_of(text: str) -> Any:
    """The content of a JSON text, or why it cannot be read; as ``Any``, for a foreign file may hold anything."""
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        return Unread(f"not readable as JSON: {error.msg}", error.lineno)
    except (ValueError, RecursionError) as error:
        return Unread(f"not readable as JSON: {error}")


def ending(status: str) -> tuple[Outcome, Kind | None]:
    """The outcome and kind for a status, in lower case; INCONCLUSIVE for one that is no answer.

    A failed test is called LIVENESS: a foreign file proves that something expected did not come, and no more. SAFETY
    is for what our own checkers proved from a history, because it may never be called flaky. An error or a test that
    is ``broken`` has failed, too: many tools call every exception but an assertion so, timeouts among them.
    """
    if status in ("passed", "pass"):
        return Outcome.CONFORMS, None
    if status in ("failed", "fail", "failure", "error", "broken"):
        return Outcome.VIOLATES, Kind.LIVENESS
    if status in ("skipped", "ignore"):
        return Outcome.NOT_APPLICABLE, None
    return Outcome.INCONCLUSIVE, Kind.HARNESS


def conditions(named: Mapping[str, object]) -> dict[str, str]:
    """The conditions among properties, labels, parameters or arguments, by the names people give them."""
    by_name = {name.lower(): value for name, value in named.items()}
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


def simple_result(
    tool: str,
    test_id: str,
    status: str,
    started_at: dt.datetime | None,
    took_ms: float | None,
    summary: str = "",
    *,
    attempt: int = 1,
) -> Result:
    """One attempt of a format that has a status (of ``ending``), a time and texts of each test, and no more."""
    outcome, kind = ending(status)
    return Result(
        test_id=test_id,
        outcome=outcome,
        kind=kind,
        check=error_named(None, summary),
        summary=summary,
        duration_ms=took_ms,
        started_at=started_at,
        run=digest([test_id, started_at.isoformat(), took_ms]) if started_at else "",
        attempt=attempt,
        tool=tool,
    )


def error_named(type_given: object, summary: str) -> str:
    """The kind of error a result ended with: as the file names it, as the summary begins, or ``PASSES``."""
    if isinstance(type_given, str) and type_given.strip():
        return type_given.strip()[:_MOST_NAME_CHARACTERS]
    found = _ERROR.match(summary)
    return found.group(1) if found else PASSES
