"""Allure's result files: one JSON object per attempt of a test; retries are files of their own."""

from collections.abc import Iterator, Mapping

from pytest_kmigrate.analysis.foreign.results import (
    Reading,
    Result,
    Unread,
    conditions,
    digest,
    ending,
    error_named,
    json_of,
    moment,
    number,
    shown,
    unreadable,
)

_STATUSES = ("passed", "failed", "broken", "skipped", "unknown")


def read_allure(text: str) -> Reading:
    """The one result of a ``…-result.json``."""
    told = json_of(text)
    if isinstance(told, Unread):
        return Reading(unread=(told,))
    if not isinstance(told, dict):
        return unreadable("not a result of Allure: expected an object")
    status = told.get("status") or "unknown"
    if status not in _STATUSES:
        return unreadable(f"unknown status: expected one of {', '.join(_STATUSES)}; got {status}")
    test_id = _test_id(told)
    if not test_id:
        return unreadable("it has neither fullName, name nor historyId")
    return Reading((_result(told, test_id, str(status)),))


def _result(told: Mapping[str, object], test_id: str, status: str) -> Result:
    outcome, kind = ending(status)
    details = told.get("statusDetails")
    message, trace = (details.get("message"), details.get("trace")) if isinstance(details, dict) else (None, None)
    summary = shown(message, trace)
    start_ms, stop_ms = number(told.get("start")), number(told.get("stop"))
    took_ms = stop_ms - start_ms if start_ms is not None and stop_ms is not None else None
    return Result(
        run_id=digest(dict(told)),
        test_id=test_id,
        outcome=outcome,
        kind=kind,
        check=error_named(None, summary),
        summary=summary,
        duration_ms=took_ms if took_ms is not None and took_ms >= 0 else None,
        started_at=moment(start_ms / 1_000 if start_ms is not None else None),
        conditions=conditions(dict([*_pairs(told.get("labels")), *_parameters(told)])),
    )


def _test_id(told: Mapping[str, object]) -> str:
    """The full name with the parameters that count, as in ``historyId``: attempts of one test have it in common.

    The hash itself is shown only when there is no name: nobody can read it.
    """
    name = next((each for each in (told.get("fullName"), told.get("name")) if isinstance(each, str) and each), "")
    if not name:
        return str(told.get("historyId") or "")
    listed = told.get("parameters")
    counted = [
        f"{each.get('name')}={each.get('value')}"
        for each in (listed if isinstance(listed, list) else [])
        if isinstance(each, dict) and not each.get("excluded")
    ]
    return f"{name}[{', '.join(sorted(counted))}]" if counted else name


def _parameters(told: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in _pairs(told.get("parameters")):
        # Reporters write a parameter as its language would show it: a text in quotes.
        yield name, value.strip("'\"") if isinstance(value, str) else value


def _pairs(listed: object) -> Iterator[tuple[str, object]]:
    for each in listed if isinstance(listed, list) else []:
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            yield each["name"], each.get("value")
