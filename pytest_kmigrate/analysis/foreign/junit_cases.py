"""From the test cases of JUnit XML to results: the words for how a case ended, in all dialects, and its attempts."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_kmigrate.analysis.foreign.numbers_and_times import number, time_of
from pytest_kmigrate.analysis.foreign.results import Result, Unread, conditions, digest, ending, error_named, shown
from pytest_kmigrate.analysis.foreign.setups import is_setup, is_teardown
from pytest_kmigrate.model.verdict import Outcome

RETRIES = ("flakyFailure", "flakyError", "rerunFailure", "rerunError")
UNDECIDED = ("warning", "aborted", "inconclusive")
"""PHPUnit's word for a test that could not be made, and those of others for one that gave no answer."""

SKIPS = ("skipped", "disabled", "ignored", "incomplete", "risky", "pending")
ENDINGS = ("failure", "error", *SKIPS, *UNDECIDED, *RETRIES)

_WORDS = {
    **dict.fromkeys(("run", "passed", "pass", "ok", "success", "successful", "succeeded", "completed"), "passed"),
    **dict.fromkeys(
        ("notrun", "disabled", "skipped", "skip", "ignored", "ignore", "suppressed", "filtered"), "skipped"
    ),
    **dict.fromkeys(("pending", "todo", "excluded"), "skipped"),
    **dict.fromkeys(("failed", "fail", "failure", "error", "broken", "crashed", "timeout", "timedout"), "failed"),
    **dict.fromkeys(("interrupted", "cancelled", "canceled", "aborted", "inconclusive", "unknown"), "unknown"),
    "flaky": "flaky",
}
"""The words of ``status`` and ``result``: gtest, ctest, Bazel, ducktape and others."""

_WORST_LAST = ("passed", "flaky", "skipped", "unknown", "failed")


@dataclass
class Ending:
    """One child of a test case that reports how it, or one of its retries, ended."""

    tag: str
    attributes: Mapping[str, str]
    text: list[str] = field(default_factory=list)
    characters: int = 0

    @property
    def status(self) -> str:
        """In the words of ``ending``."""
        if self.tag in SKIPS:
            return "skipped"
        return self.tag.removeprefix("flaky").removeprefix("rerun").lower()

    @property
    def message(self) -> str:
        """What stands in its attribute, or the first line of its text."""
        return self.attributes.get("message") or "".join(self.text).strip().partition("\n")[0]


@dataclass
class Suite:
    """A suite as its cases need it; what it does not say it has from the suite around it."""

    name: str
    attributes: Mapping[str, str]
    properties: dict[str, str]
    place: int
    """Its number in the file."""
    is_ducktape: bool = False
    counts: str = ""
    """How many tests, failures and errors it claims to hold."""
    has_cases: bool = False
    """Whether a test case was in it, or it was reported already that there is none."""


@dataclass
class Case:
    """A test case and all that the file says of it."""

    attributes: Mapping[str, str]
    suite: Suite
    endings: list[Ending] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its own name, without that of its class."""
        return self.attributes.get("name", "").strip()

    @property
    def of(self) -> str:
        """Its class, or else its suite."""
        return (self.attributes.get("classname") or self.suite.name).strip()

    @property
    def test_id(self) -> str:
        """Class and name; in ducktape's XML its module, too, as in its JSON."""
        name, of = self.name, self.of
        if self.suite.is_ducktape:
            of = f"{self.suite.name}.{of}"
        return name if not of or name.startswith(f"{of}.") else f"{of}.{name}" if name else of

    @property
    def words(self) -> list[str]:
        """What ``status`` and ``result`` say, in lower case."""
        return [self.attributes[name].strip().lower() for name in ("status", "result") if self.attributes.get(name)]


def results_of(cases: Sequence[Case], *, decimal_comma: bool) -> Iterator[Result | Unread]:
    """Every attempt of every case, in the order they were made; or why a case cannot be counted."""
    for mine in _of_one_test(cases):
        by_case = [list(_attempts(case, decimal_comma=decimal_comma)) for case in mine]
        for made in _invocations(by_case):
            yield from _numbered(_with_teardowns(made))


@dataclass(frozen=True)
class _Attempt:
    case: Case
    result: Result
    is_teardown: bool = False

    def numbered(self, number: int) -> "_Attempt":
        """The same as one of an invocation of its test."""
        return replace(self, result=replace(self.result, test_id=f"{self.result.test_id} #{number}"))


def _of_one_test(cases: Sequence[Case]) -> list[list[Case]]:
    """The cases of each test of each suite: there are several where it was run again, or its teardown failed."""
    found: dict[tuple[int, str], list[Case]] = {}
    for place, case in enumerate(cases):
        # What has no name is no other case.
        key = (case.suite.place, case.test_id or str(place))
        found.setdefault(key, []).append(case)
    return list(found.values())


def _invocations(by_case: Sequence[Sequence["_Attempt | Unread"]]) -> Iterator[list["_Attempt | Unread"]]:
    """The attempts of each invocation of a test, or those of the test.

    Nothing is retried after a pass: where a case follows one that passed, each is an invocation of its own, such as one
    of a parameterized test whose name has no parameters, and is known by its number.
    """
    groups: list[list[_Attempt | Unread]] = []
    for made in by_case:
        is_teardown = any(isinstance(each, _Attempt) and each.is_teardown for each in made)
        if is_teardown and groups:
            groups[-1] += made
        else:
            groups.append(list(made))
    if not any(_has_passed(each) for each in groups[:-1]):
        yield [each for made in groups for each in made]
        return
    for place, made in enumerate(groups, 1):
        yield [each.numbered(place) if isinstance(each, _Attempt) else each for each in made]


def _has_passed(made: Sequence["_Attempt | Unread"]) -> bool:
    last = made[-1] if made else None
    return isinstance(last, _Attempt) and last.result.outcome is Outcome.CONFORMS


def _attempts(case: Case, *, decimal_comma: bool) -> Iterator[_Attempt | Unread]:
    """The attempts of one case.

    Surefire writes the failed ones before a success as ``flaky…``; if there is no success, the first failure as such
    and those of its retries as ``rerun…``.
    """
    own = [each for each in case.endings if each.tag not in RETRIES]
    status, unknown = _status(case, own)
    if unknown:
        yield Unread(f"{case.test_id}: unknown status, got {unknown}; expected one of {', '.join(_WORDS)}")
        return
    before = [each for each in case.endings if each.tag.startswith("flaky")]
    after = [each for each in case.endings if each.tag.startswith("rerun")]
    # One attempt may report two things, such as a failure and then an error while cleaning up: the worst counts.
    main = max(own, key=lambda each: ending(_kind(case, each))[0], default=None)
    for each in before:
        yield _attempt(case, each, _kind(case, each), None)
    if status == "flaky":
        yield _attempt(case, None, "failed", None)
    took_s = number(case.attributes.get("time"), decimal_comma=decimal_comma)
    yield _attempt(case, main, _kind(case, main) if main else _plain(status), took_s)
    for each in after:
        yield _attempt(case, each, _kind(case, each), number(each.attributes.get("time"), decimal_comma=decimal_comma))


def _status(case: Case, own: Sequence[Ending]) -> tuple[str, str]:
    """What the words of a case say, the worst of them; and one that is not known, if nothing else says how it ended."""
    said = [(word, _WORDS.get(_letters(word))) for word in case.words]
    known = [status for _, status in said if status]
    unknown = next((word for word, status in said if not status), "")
    return max(known, key=_WORST_LAST.index, default="passed"), "" if own else unknown


def _letters(word: str) -> str:
    return word.replace(" ", "").replace("_", "").replace("-", "")


def _plain(status: str) -> str:
    return "passed" if status == "flaky" else status


def _kind(case: Case, reported: Ending) -> str:
    """What one ending comes to: the status of the test, or ``setup`` for what is no answer of it."""
    is_failure = ending(reported.status)[1] is not None
    if is_failure and is_setup(case.name, case.of, reported.message, reported.attributes.get("type", "")):
        return "setup"
    return reported.status


def _attempt(case: Case, reported: Ending | None, status: str, took_s: float | None) -> _Attempt:
    outcome, kind = ending(status)
    attributes = reported.attributes if reported else {}
    summary = shown(attributes.get("message"), "".join(reported.text) if reported else None)
    started_at, until, odd = _times(case)
    if reported and took_s is None:
        took_s = number(attributes.get("time"))
    properties = {**case.suite.properties, **case.properties}
    result = Result(
        test_id=case.test_id,
        outcome=outcome,
        kind=kind,
        check=error_named(attributes.get("type"), summary),
        summary=summary,
        duration_ms=took_s * 1_000 if took_s is not None and took_s >= 0 else None,
        started_at=started_at,
        conditions=conditions(properties),
        properties=properties,
        host=case.suite.attributes.get("hostname", "").strip(),
        tool="ducktape-xml" if case.suite.is_ducktape else "junit",
        until=until,
        odd_time=odd,
    )
    return _Attempt(case, result, status == "setup" and is_teardown(case.name, reported.message if reported else ""))


def _times(case: Case) -> tuple[dt.datetime | None, dt.datetime | None, str]:
    """When it began, or its suite did and until when; and what could not be understood, if there is no other."""
    own, of_suite = (each.get("timestamp", "") for each in (case.attributes, case.suite.attributes))
    began = time_of(own)
    if began:
        return began, began, ""
    began = time_of(of_suite)
    took_s = number(case.suite.attributes.get("time")) or 0.0
    until = began + dt.timedelta(seconds=min(max(took_s, 0.0), 86_400.0)) if began else None
    return began, until, "" if began else of_suite or own


def _with_teardowns(made: Iterable[_Attempt | Unread]) -> list[Result | Unread]:
    """The attempts, each with the failed teardown that followed it as a case of its own: the worst of both counts."""
    found: list[Result | Unread] = []
    for each in made:
        before = found[-1] if found else None
        if isinstance(each, Unread):
            found.append(each)
        elif each.is_teardown and isinstance(before, Result):
            found[-1] = _together(before, each.result)
        else:
            found.append(each.result)
    return found


def _together(body: Result, teardown: Result) -> Result:
    worst = max(body, teardown, key=lambda each: each.outcome)
    took_ms = [each.duration_ms for each in (body, teardown) if each.duration_ms is not None]
    summary = shown(body.summary, teardown.summary)
    return replace(worst, summary=summary, duration_ms=sum(took_ms) if took_ms else None)


def _numbered(found: Sequence[Result | Unread]) -> Iterator[Result | Unread]:
    """The attempts of one test in one suite with what makes them the same run in another file: place, time, answers."""
    results = [each for each in found if isinstance(each, Result)]
    first = results[0] if results else None
    run = ""
    if first and first.started_at:
        answers = [(each.outcome.name, each.duration_ms) for each in results]
        run = digest([first.test_id, first.started_at.isoformat(), first.host, dict(first.properties), answers])
    yield from (each for each in found if isinstance(each, Unread))
    yield from (replace(each, run=run, attempt=place) for place, each in enumerate(results, 1))
