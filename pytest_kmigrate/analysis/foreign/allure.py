"""Allure's result files: one JSON object per attempt of a test; retries are files of their own."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_kmigrate.analysis.foreign.numbers_and_times import moment, number
from pytest_kmigrate.analysis.foreign.results import (
    Reading,
    Result,
    Unread,
    conditions,
    digest,
    ending,
    error_named,
    json_of,
    shown,
    unreadable,
)

_KEYS = ("uuid", "historyId", "fullName", "status")
"""Any result has one of these; other tools have files of this name, too."""

_STATUSES = ("passed", "failed", "broken", "skipped", "unknown")
_DOTS = "\u2022" * 6
_SHORT = 4
"""A secret of fewer characters is replaced only where it stands as a word of its own."""


def read_allure(text: str) -> Reading:
    """The one result of a ``…-result.json``."""
    given = json_of(text)
    if isinstance(given, Unread):
        return Reading(unread=(given,))
    if not isinstance(given, dict):
        return unreadable("not a result of Allure: expected an object")
    if not given.keys() & set(_KEYS):
        return Reading(unread=(Unread(f"not a result of Allure: expected one of {', '.join(_KEYS)}", is_doubt=False),))
    status = given.get("status") or "unknown"
    if status not in _STATUSES:
        return unreadable(f"unknown status, got {status}; expected one of {', '.join(_STATUSES)}")
    parameters = _parameters(given)
    test_id = _test_id(given, parameters)
    if not test_id:
        return unreadable("it has neither fullName, name nor historyId")
    return Reading((_result(given, test_id, str(status), parameters),))


def read_container(text: str) -> Reading:
    """The tests whose setup failed, by a ``…-container.json``; what else it holds is about no test."""
    given = json_of(text)
    if isinstance(given, Unread):
        return Reading(unread=(given,))
    befores = given.get("befores") if isinstance(given, dict) else None
    failed = any(isinstance(each, dict) and each.get("status") in ("failed", "broken") for each in _listed(befores))
    children = _listed(given.get("children")) if failed else []
    return Reading(broken=tuple(each for each in children if isinstance(each, str)))


@dataclass(frozen=True)
class _Parameter:
    name: str
    value: str
    is_counted: bool
    """Whether it makes another test, as in ``historyId``."""
    mode: str
    """``masked``, ``hidden`` or what may be shown."""


def _result(given: Mapping[str, object], test_id: str, status: str, parameters: Sequence[_Parameter]) -> Result:
    outcome, kind = ending(status)
    details = given.get("statusDetails")
    message, trace = (details.get("message"), details.get("trace")) if isinstance(details, dict) else (None, None)
    summary = _without_secrets(shown(message, trace), parameters)
    start_ms, stop_ms = number(given.get("start")), number(given.get("stop"))
    took_ms = stop_ms - start_ms if start_ms is not None and stop_ms is not None else None
    started_at = moment(start_ms / 1_000 if start_ms is not None else None)
    uuid = given.get("uuid")
    labels = {name: _without_secrets(str(value), parameters) for name, value in _pairs(given.get("labels"))}
    properties = {**labels, **_plain(parameters)}
    return Result(
        test_id=test_id,
        outcome=outcome,
        kind=kind,
        check=error_named(None, summary),
        summary=summary,
        duration_ms=took_ms if took_ms is not None and took_ms >= 0 else None,
        started_at=started_at,
        conditions=conditions(properties),
        run=digest([uuid, test_id, start_ms, stop_ms]) if started_at else "",
        properties=properties,
        host=labels.get("host", ""),
        tool="allure",
        odd_time=str(given["start"]) if given.get("start") is not None and not started_at else "",
        uuid=uuid if isinstance(uuid, str) else "",
    )


def _test_id(given: Mapping[str, object], parameters: Sequence[_Parameter]) -> str:
    """The full name with the parameters that count, as in ``historyId``: attempts of one test have it in common.

    The hash itself is shown only when there is no name: it is not readable. A masked value is dots, a hidden parameter
    is not there; a digest of all of these keeps tests apart that differ only in them.
    """
    name = next((each for each in (given.get("fullName"), given.get("name")) if isinstance(each, str) and each), "")
    if not name:
        return str(given.get("historyId") or "")
    counted = [each for each in parameters if each.is_counted]
    shown_ones = [f"{each.name}={_DOTS if each.mode else each.value}" for each in counted if each.mode != "hidden"]
    secrets = sorted([each.name, each.value] for each in counted if each.mode)
    marks = [f"#{digest(secrets)[:8]}"] if secrets else []
    reported = ", ".join([*sorted(shown_ones), *marks])
    name = _without_secrets(name, parameters)
    return f"{name}[{reported}]" if reported else name


def _without_secrets(text: str, parameters: Sequence[_Parameter]) -> str:
    """The text with dots in the place of each masked or hidden value, however the reporter quotes it."""
    for each in parameters:
        value = each.value.strip("'\"")
        if each.mode and value:
            literal = re.escape(value)
            text = re.sub(literal if len(value) >= _SHORT else rf"(?<!\w){literal}(?!\w)", _DOTS, text)
    return text


def _parameters(given: Mapping[str, object]) -> list[_Parameter]:
    return [
        _Parameter(
            name=each["name"],
            value=str(each.get("value")),
            is_counted=not each.get("excluded"),
            mode=str(each["mode"]).lower() if str(each.get("mode")).lower() in ("masked", "hidden") else "",
        )
        for each in _listed(given.get("parameters"))
        if isinstance(each, dict) and isinstance(each.get("name"), str)
    ]


def _plain(parameters: Sequence[_Parameter]) -> dict[str, str]:
    """What may be shown; reporters write a parameter as its language would show it: a text in quotes."""
    return {each.name: each.value.strip("'\"") for each in parameters if not each.mode}


def _pairs(listed: object) -> Iterator[tuple[str, object]]:
    for each in _listed(listed):
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            yield each["name"], each.get("value")


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
