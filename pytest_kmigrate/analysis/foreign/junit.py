"""JUnit XML, as many tools write it: suites of test cases, with the retries that Maven Surefire adds to them.

Read with expat, event by event: what stands before a break counts, and a document type is refused at its first
letter, so that no entity of it is ever expanded.
"""

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from pytest_kmigrate.analysis.foreign.results import (
    MOST_SUMMARY_CHARACTERS,
    Reading,
    Result,
    Unread,
    conditions,
    digest,
    ending,
    error_named,
    number,
    possible,
    shown,
)

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML does not allow, but what tools copy into it, such as the colours of a terminal."""

_RETRIES = ("flakyFailure", "flakyError", "rerunFailure", "rerunError")
_ENDINGS = ("failure", "error", "skipped", *_RETRIES)
_NOT_OF_THE_ENDING = ("system-out", "system-err")
_NEVER_RUN = ("notrun", "disabled")


class _NotReadError(Exception):
    """The file is well-formed so far, and nothing for us."""


@dataclass
class _Ending:
    """One child of a test case that tells how it, or one of its retries, ended."""

    tag: str
    attributes: Mapping[str, str]
    text: list[str] = field(default_factory=list)
    characters: int = 0

    @property
    def status(self) -> str:
        return self.tag.removeprefix("flaky").removeprefix("rerun").lower()


@dataclass
class _Case:
    attributes: Mapping[str, str]
    endings: list[_Ending] = field(default_factory=list)
    properties: dict[str, object] = field(default_factory=dict)


@dataclass
class _Suite:
    name: str
    timestamp: str | None
    properties: dict[str, object]
    counts: str
    """What it says it holds: so many tests, failures and errors."""
    is_told: bool = False
    """Whether a test case was in it, or that there was none is said already."""


class _Reader:
    """Follows the events of the parser and keeps the results of every test case that was closed."""

    def __init__(self, identity: str) -> None:
        self.results: list[Result] = []
        self.unread: list[Unread] = []
        self._identity = identity
        self._open: list[str] = []
        self._suites: list[_Suite] = []
        self._case: _Case | None = None
        self._ending: _Ending | None = None

    def begin(self, qualified: str, attributes: dict[str, str]) -> None:
        tag = qualified.rpartition(" ")[2]
        if not self._open and tag not in ("testsuites", "testsuite"):
            raise _NotReadError(f"not JUnit XML: expected testsuites or testsuite, got {tag}")
        self._open.append(tag)
        if tag in ("testsuite", "testsuites"):
            above = self._suites[-1] if self._suites else _Suite("", None, {}, "")
            timestamp = attributes.get("timestamp", above.timestamp)
            name, counts = attributes.get("name", above.name), _counts(attributes)
            self._suites.append(_Suite(name, timestamp, dict(above.properties), counts))
        elif tag == "testcase":
            self._case = _Case(attributes)
            self._suites[-1].is_told = True
        elif tag == "property" and "name" in attributes:
            told = self._case.properties if self._case else self._suites[-1].properties
            told[attributes["name"]] = attributes.get("value", "")
        elif self._case and tag in _ENDINGS:
            self._ending = _Ending(tag, attributes)
            self._case.endings.append(self._ending)

    def text(self, characters: str) -> None:
        ending = self._ending
        if ending and self._open[-1] not in _NOT_OF_THE_ENDING and ending.characters < MOST_SUMMARY_CHARACTERS:
            ending.text.append(characters)
            ending.characters += len(characters)

    def end(self, _qualified: str) -> None:
        tag = self._open.pop()
        if self._ending and tag == self._ending.tag:
            self._ending = None
        elif tag == "testcase" and self._case:
            case, self._case = self._case, None
            self.results += _attempts(case, self._suites[-1], self._identity, len(self.results))
        elif tag in ("testsuite", "testsuites"):
            suite = self._suites.pop()
            if suite.counts and not suite.is_told:
                self.unread.append(Unread(f"suite {suite.name} has no test case, though it counts {suite.counts}"))
                suite.is_told = True
            if self._suites:
                self._suites[-1].is_told |= suite.is_told


def read_junit(text: str) -> Reading:
    """Every attempt of every test case; of a broken file, those before the break."""
    reader = _Reader(digest(text))
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.begin
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(_FORBIDDEN.sub("\ufffd", text.removeprefix("\ufeff")), True)  # noqa: FBT003  # takes no name
    except expat.ExpatError as error:
        reader.unread.append(
            Unread(f"broken XML: {expat.ErrorString(error.code)}; what stands before it counts", error.lineno)
        )
    except _NotReadError as error:
        reader.unread.append(Unread(str(error), parser.CurrentLineNumber))
    return Reading(tuple(reader.results), tuple(reader.unread))


def _refuse(*_declared: object) -> None:
    raise _NotReadError("a document type is not read, for its entities may have any size: remove the DOCTYPE")


def _counts(attributes: Mapping[str, str]) -> str:
    """How many tests, failures and errors a suite says it has; nothing where it has none."""
    told = [(number(attributes.get(name)), name) for name in ("tests", "failures", "errors")]
    return ", ".join(f"{name} {count:.0f}" for count, name in told if count)


def _attempts(case: _Case, suite: _Suite, identity: str, before: int) -> Iterator[Result]:
    """The attempts of one case in the order they were made.

    Surefire writes the failed ones before a success as ``flaky…``; if there is no success, the first failure as such
    and those of its retries as ``rerun…``.
    """
    own = [each for each in case.endings if each.tag not in _RETRIES]
    flaky = [each for each in case.endings if each.tag.startswith("flaky")]
    rerun = [each for each in case.endings if each.tag.startswith("rerun")]
    # One attempt may tell two things, such as a failure and then an error while cleaning up: the worst counts.
    main = max(own, key=lambda each: ending(each.status)[0], default=None)
    for place, each in enumerate([*flaky, main, *rerun], before + 1):
        yield _result(case, suite, each, f"{identity}-{place:06}", is_main=each is main)


def _result(case: _Case, suite: _Suite, told: _Ending | None, run_id: str, *, is_main: bool) -> Result:
    status = told.status if told else "skipped" if case.attributes.get("status") in _NEVER_RUN else "passed"
    outcome, kind = ending(status)
    attributes = told.attributes if told else {}
    summary = shown(attributes.get("message"), "".join(told.text) if told else None)
    took_s = number((case.attributes if is_main else attributes).get("time"))
    return Result(
        run_id=run_id,
        test_id=_test_id(case, suite),
        outcome=outcome,
        kind=kind,
        check=error_named(attributes.get("type"), summary),
        summary=summary,
        duration_ms=took_s * 1_000 if took_s is not None and took_s >= 0 else None,
        started_at=_moment(case.attributes.get("timestamp") or suite.timestamp),
        conditions=conditions({**suite.properties, **case.properties}),
    )


def _test_id(case: _Case, suite: _Suite) -> str:
    name, of = case.attributes.get("name", "").strip(), (case.attributes.get("classname") or suite.name).strip()
    return name if not of or name.startswith(f"{of}.") else f"{of}.{name}" if name else of


def _moment(text: str | None) -> dt.datetime | None:
    """A suite's timestamp; one without a zone is taken for UTC, as nobody can know better."""
    try:
        read = dt.datetime.fromisoformat(text or "")
        return possible(read.replace(tzinfo=read.tzinfo or dt.UTC).astimezone(dt.UTC))
    except (ValueError, OverflowError):
        return None
