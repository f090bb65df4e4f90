"""Results of tests as JSON of a simple shape: CTRF, pytest-json-report, and the events of ``go test -json``."""

import datetime as dt
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_kmigrate.analysis.foreign.numbers_and_times import moment, number, time_of
from pytest_kmigrate.analysis.foreign.results import (
    Reading,
    Result,
    Unread,
    json_of,
    no_results,
    shown,
    simple_result,
)

_ANOTHER = "JSON of another kind"
_WORDS = {"other": "unknown", "pending": "skipped", "xfailed": "skipped", "xpassed": "passed", "skip": "skipped"}
_OF_GO = frozenset({"Action", "Package"})
_ENDS_OF_GO = ("pass", "fail", "skip")


def read_json(text: str) -> Reading:
    """The results of a file whose name is that of such a report; what is none holds no results."""
    if _is_of_go(text.partition("\n")[0]):
        return _read_go(text)
    content = json_of(text)
    if isinstance(content, Unread):
        return Reading(unread=(content,))
    found = of_report(content)
    return no_results(_ANOTHER) if found is None else found


def of_report(content: object) -> Reading | None:
    """The results of a CTRF report or one of pytest-json-report; None for anything else."""
    if not isinstance(content, Mapping):
        return None
    results = content.get("results")
    if isinstance(results, Mapping) and isinstance(results.get("tests"), list):
        summary = results.get("summary")
        start = summary.get("start") if isinstance(summary, Mapping) else None
        return _reading(results["tests"], _ctrf, _moment(_ms(start)))
    if content.keys() >= {"exitcode", "tests"} and isinstance(content["tests"], list):
        return _reading(content["tests"], _pytest, _moment(content.get("created")))
    return None


def _reading(
    tests: list[Any], made: Callable[[Mapping[str, Any], dt.datetime | None], Iterator[Result]], at: dt.datetime | None
) -> Reading:
    results, unread = [], []
    for place, each in enumerate(tests, 1):
        try:
            results += list(made(each, at))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            unread.append(Unread(f"result {place}: not understood: {type(error).__name__}: {error}"))
    return Reading(tuple(results), tuple(unread))


def _ctrf(test: Mapping[str, Any], at: dt.datetime | None) -> Iterator[Result]:
    """One test of CTRF; of one that is flaky, and of its retries, the failed attempts go before."""
    suite = test.get("suite")
    of = " ".join(map(str, suite)) if isinstance(suite, list) else str(suite or test.get("filePath") or "")
    name = f"{of}.{test['name']}" if of else str(test["name"])
    started_at = _moment(_ms(test.get("start"))) or at
    failed_before = int(test.get("retries") or test.get("flaky") or 0)
    for attempt in range(1, failed_before + 1):
        yield simple_result("ctrf", name, "failed", started_at, None, attempt=attempt)
    summary = shown(test.get("message"), test.get("trace"))
    took_ms = number(test.get("duration"))
    yield simple_result("ctrf", name, _word(test["status"]), started_at, took_ms, summary, attempt=failed_before + 1)


def _pytest(test: Mapping[str, Any], at: dt.datetime | None) -> Iterator[Result]:
    """One test of pytest-json-report: an error of setup or teardown is no answer of the test."""
    parts = [test.get(each) or {} for each in ("setup", "call", "teardown")]
    took_s = [took for each in parts if (took := number(each.get("duration"))) is not None]
    messages = [shown((each.get("crash") or {}).get("message"), each.get("longrepr")) for each in parts]
    status = "unknown" if test["outcome"] == "error" else _word(test["outcome"])
    took_ms = sum(took_s) * 1_000 if took_s else None
    yield simple_result("pytest-json", str(test["nodeid"]), status, at, took_ms, shown(*messages))


def _is_of_go(line: str) -> bool:
    try:
        first = json.loads(line)
    except ValueError:
        return False
    return isinstance(first, Mapping) and first.keys() >= _OF_GO


def _read_go(text: str) -> Reading:
    """The events of ``go test -json``; output is that of its test; a package that fails without a failed test broke."""
    results: list[Result] = []
    unread: list[Unread] = []
    output: dict[tuple[str, str], list[str]] = {}
    failed: set[str] = set()
    for place, line in enumerate(text.split("\n"), 1):  # other ends of lines may be in what a test printed
        event = json_of(line) if line.strip() else {}
        if not isinstance(event, Mapping):
            unread.append(Unread("not an event of go test -json", place))
            continue
        package, test, action = (str(event.get(key) or "") for key in ("Package", "Test", "Action"))
        if action == "output":
            output.setdefault((package, test), []).append(str(event.get("Output") or ""))
        if action not in _ENDS_OF_GO:
            continue
        if not test:
            if action == "fail" and package not in failed:
                unread.append(Unread(f"package {package} broke outside of its tests", place))
            continue
        failed |= {package} if action == "fail" else set()
        took_ms = (number(event.get("Elapsed")) or 0.0) * 1_000
        summary = shown("".join(output.get((package, test), []))) if action == "fail" else ""
        at = time_of(str(event.get("Time") or ""))
        results.append(simple_result("go-test", f"{package}.{test}", _word(action), at, took_ms, summary))
    return Reading(tuple(results), tuple(unread))


def _word(status: object) -> str:
    """A status in the words of ``ending``."""
    word = str(status).lower()
    return _WORDS.get(word, word)


def _ms(value: object) -> float | None:
    return float(value) / 1_000 if isinstance(value, int | float) and value > 0 else None


def _moment(seconds: object) -> dt.datetime | None:
    """The time of a number; a text is none, and neither is a time at which no test began."""
    return moment(number(seconds)) if isinstance(seconds, int | float) else None
