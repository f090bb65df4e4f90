"""ducktape's ``report.json``: that of a session, with a list of results, or that of one test in its own folder.

A killed session leaves only the latter; a finished one leaves both, with the same content for each test, so that a
result is known by its content wherever it is met.
"""

import re
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

_OF_OURS = frozenset({"about", "attempts", "headline", "set_aside"})
"""Keys that tell a ``report.json`` of this project's own, in which there is nothing to count."""

_STATUSES = ("pass", "fail", "ignore", "flaky")
_RUNS = re.compile(r"^runs? (\d{1,9}(?:, \d{1,9})*) summary:$", re.MULTILINE)
_DIVIDER = re.compile(r"^(?:~{3,}|run \d+: PASSED)$", re.MULTILINE)


def read_ducktape(text: str) -> Reading:
    """Every attempt a report tells of; with ducktape's ``--deflake`` a test has several."""
    report = json_of(text)
    if isinstance(report, Unread):
        return Reading(unread=(report,))
    if isinstance(report, dict) and report.keys() >= _OF_OURS:
        return Reading()
    listed = report.get("results") if isinstance(report, dict) else None
    if not isinstance(listed, list):
        if not isinstance(report, dict) or "test_status" not in report:
            return unreadable("not a report of ducktape: expected a list of results, or one result with a test_status")
        listed = [report]
    results: list[Result] = []
    unread: list[Unread] = []
    for place, each in enumerate(listed, 1):
        reason = _reason(each)
        if reason:
            unread.append(Unread(f"result {place}: {reason}"))
        else:
            results += _attempts(each)
    return Reading(tuple(results), tuple(unread))


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
    """The failed runs the summary tells of, and the last one, whose times the report has."""
    status = str(result["test_status"]).lower()
    summary = shown(result.get("summary"))
    before = _failed_runs(str(result.get("summary") or ""))
    last = "pass" if status == "flaky" else status
    if last == "fail" and before:
        summary = before.pop()
    # A flaky test failed at least once, even if nobody wrote down how.
    before = before or ([""] if status == "flaky" else [])
    arguments = result.get("injected_args")
    told = conditions(arguments) if isinstance(arguments, dict) else {}
    identity = digest(
        {key: result.get(key) for key in ("test_id", "start_time", "stop_time", "summary", "test_status")}
    )
    ends: list[tuple[str, str, float | None]] = [("fail", text, None) for text in before]
    took_s = number(result.get("run_time_seconds"))
    ends.append((last, "" if last == "pass" else summary, took_s))
    for place, (end, text, seconds) in enumerate(ends, 1):
        outcome, kind = ending(end)
        yield Result(
            run_id=f"{identity}-{place:03}",
            test_id=str(result["test_id"]),
            outcome=outcome,
            kind=kind,
            check=error_named(None, text),
            summary=text,
            duration_ms=seconds * 1_000 if seconds is not None and seconds >= 0 else None,
            started_at=moment(number(result.get("start_time"))),
            conditions=told,
        )


def _failed_runs(summary: str) -> list[str]:
    """What each failed run of a test that was run again died of; none when it was run once."""
    heads = list(_RUNS.finditer(summary))
    texts: dict[int, str] = {}
    ends = [*(head.start() for head in heads), len(summary)][1:]
    for head, end in zip(heads, ends, strict=True):
        text = shown(_DIVIDER.sub("", summary[head.end() : end]))
        texts |= dict.fromkeys(map(int, head.group(1).split(", ")), text)
    return [texts[run] for run in sorted(texts)]
