"""ducktape's ``report.json``: that of a session, with a list of results, or that of one test in its own folder.

A killed session leaves only the latter; a finished one leaves both, and its ``report.xml``, too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from pytest_kmigrate.analysis.foreign.numbers_and_times import moment, number
from pytest_kmigrate.analysis.foreign.other_formats import another_json
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

_OF_OURS = frozenset({"about", "attempts", "headline", "set_aside"})
"""Keys of a ``report.json`` of this project's own, in which there is nothing to count."""

_STATUSES = ("pass", "fail", "ignore", "flaky", "opass", "ofail")
"""The last two are those of a fork, for tests that are marked as ok to fail."""

_OK_TO_FAIL = "ok to fail"
_RUNS = re.compile(r"^runs? (\d{1,9}(?:, \d{1,9})*) summary:$", re.MULTILINE)
_DIVIDER = re.compile(r"^(?:~{3,}|run \d+: PASSED)$", re.MULTILINE)


def read_ducktape(text: str) -> Reading:
    """Every attempt in a report; with ducktape's ``--deflake`` a test has several."""
    report = json_of(text)
    if isinstance(report, Unread):
        return Reading(unread=(report,))
    if isinstance(report, dict) and report.keys() >= _OF_OURS:
        return Reading()
    if not isinstance(report, dict):
        return unreadable("not a report of ducktape: expected a list of results, or one result with a test_status")
    listed = report.get("results")
    if not isinstance(listed, list):
        listed = [report] if "test_status" in report else []
    if not _is_of_ducktape(report, listed):
        return another_json(report)
    results: list[Result] = []
    unread: list[Unread] = []
    for place, each in enumerate(listed, 1):
        reason = _reason(each)
        if reason:
            unread.append(Unread(f"result {place}: {reason}"))
        else:
            results += _attempts(each)
    return Reading(tuple(results), tuple(unread))


def _is_of_ducktape(report: Mapping[str, object], listed: Sequence[object]) -> bool:
    """Whether it says so itself, or holds anything like a result of ducktape: other tools use the name, too."""
    return "ducktape_version" in report or any(
        isinstance(each, dict) and each.keys() & {"test_id", "test_status"} for each in listed
    )


def _reason(result: object) -> str | None:
    """Why this is no result, if so."""
    if not isinstance(result, dict):
        return "expected an object"
    if not isinstance(result.get("test_id"), str) or not result["test_id"]:
        return "it has no test_id"
    if str(result.get("test_status")).lower() not in _STATUSES:
        return f"unknown test_status: expected one of {', '.join(_STATUSES)}; got {result.get('test_status')}"
    return None


def _attempts(result: Mapping[str, object]) -> Iterator[Result]:
    """The failed runs that the summary reports, and the last one, whose times the report has."""
    given = str(result["test_status"]).lower()
    status = given.removeprefix("o")
    summary = shown(result.get("summary"))
    before = _failed_runs(str(result.get("summary") or ""))
    last = "pass" if status == "flaky" else status
    if last == "fail" and before:
        summary = before.pop()
    # A flaky test failed at least once, even if the file does not record how.
    before = before or ([""] if status == "flaky" else [])
    ends: list[tuple[str, str, float | None]] = [("fail", text, None) for text in before]
    took_s = number(result.get("run_time_seconds"))
    ends.append((last, "" if last == "pass" else summary, took_s))
    arguments = result.get("injected_args")
    properties = {name: str(value) for name, value in arguments.items()} if isinstance(arguments, dict) else {}
    started_at = moment(number(result.get("start_time")))
    times = [result.get(key) for key in ("start_time", "stop_time")]
    for place, (end, text, seconds) in enumerate(ends, 1):
        outcome, kind = ending(end)
        yield Result(
            test_id=str(result["test_id"]),
            outcome=outcome,
            kind=kind,
            check=error_named(None, text),
            summary=text,
            duration_ms=seconds * 1_000 if seconds is not None and seconds >= 0 else None,
            started_at=started_at,
            conditions=conditions(properties),
            run=digest([result["test_id"], *times, given]) if started_at else "",
            attempt=place,
            properties=properties,
            known_as=(_OK_TO_FAIL,) if given == "ofail" else (),
            tool="ducktape",
        )


def _failed_runs(summary: str) -> list[str]:
    """How each failed run of a test that was run again ended; none if it was run once."""
    heads = list(_RUNS.finditer(summary))
    texts: dict[int, str] = {}
    ends = [*(head.start() for head in heads), len(summary)][1:]
    for head, end in zip(heads, ends, strict=True):
        text = shown(_DIVIDER.sub("", summary[head.end() : end]))
        texts |= dict.fromkeys(map(int, head.group(1).split(", ")), text)
    return [texts[run] for run in sorted(texts)]
