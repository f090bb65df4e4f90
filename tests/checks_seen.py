"""Each check has unit tests of its own, and they saw each of its outcomes: counted while the unit tests run.

So it is with diagnoses: the tests of each asked it about tampered histories, which stayed red.

A check that no test saw VIOLATES was never shown to find anything. What counts is a verdict that the checker itself
returned to a test, of a history that the test made. A run of all checks counts for none: another may be red there.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.checkers.registry import general_checkers
from pytest_kmigrate.documents import documents
from pytest_kmigrate.model.checks import AnyChecker
from pytest_kmigrate.model.verdict import Outcome, Verdict
from tests.tampered import NOTED, OUTSIDE, Noted, unasked

HERE = Path(__file__).parent
FOLDERS = (HERE / "unit" / "checkers", HERE / "unit" / "documents")
"""Where unit tests of checks are."""
HISTORIES = {
    Outcome.CONFORMS: ("CONFORMS",),
    Outcome.VIOLATES: ("VIOLATES",),
    Outcome.INCONCLUSIVE: ("INCONCLUSIVE", "NOT_APPLICABLE"),
}
"""The three histories of a check, and what it returns: one conforms, one violates, one cannot decide."""
NEVER_RED = {
    "every_fault_was_witnessed": "a fault without a witness takes the ground from other verdicts, and breaks no claim",
    "mutant_was_in_force": "the same of a mutant",
    "phase_not_reached": "reports what a run is about",
}
"""Checks of the run itself, whose worst outcome is INCONCLUSIVE; and why."""

NEVER_VIOLATED = {
    "K866-PROC-bridge-release": "where a release lacks one of the modes no node starts in it, and no run ends",
}
"""Requirements of which a check only shows that they hold; and why nothing else can be seen."""

_ANY_TIME = "AT_ANY_TIME of tests/tampered.py, if its evidence is of the violation itself"

Shown = tuple[str, str, str]
"""Check, requirement (empty: the whole verdict), outcome."""


def declared() -> tuple[AnyChecker, ...]:
    """All checks, general ones and those of each document."""
    return (*general_checkers(), *(each for document in documents() for each in document.checks))


class Watched:
    """What checks returned to the tests of this process."""

    def __init__(self, checks: Iterable[AnyChecker]) -> None:
        """Watch these from now on."""
        self.shown: set[Shown] = set()
        watched: dict[Callable[..., Verdict], Callable[..., Verdict]] = {}
        for each in checks:
            # A check that a document binds has the same function as the general one, and registries compare it.
            judge = watched.get(each.judge) or self._watching(each.judge)
            watched |= {each.judge: judge, judge: judge}
            object.__setattr__(each, "judge", judge)

    def _watching(self, judge: Callable[..., Verdict]) -> Callable[..., Verdict]:
        @wraps(judge)
        def watching(*args: Any, **kwargs: Any) -> Verdict:
            verdict = judge(*args, **kwargs)
            if sys._getframe(1).f_code.co_filename.startswith(str(HERE)):
                self.shown.add((judge.__name__, "", verdict.outcome.name))
                self.shown |= {(judge.__name__, row.requirement, row.outcome.name) for row in verdict.about}
            return verdict

        return watching


def lacking(shown: Iterable[Shown], checks: Mapping[str, Collection[str]]) -> Mapping[str, Sequence[str]]:
    """By check, the outcomes that no unit test saw, and the requirements of several that none saw VIOLATES.

    ``checks``: their requirements, by name.
    """
    seen, red = set(shown), Outcome.VIOLATES
    found = {}
    for name, requirements in checks.items():
        demanded = [outcome for outcome in HISTORIES if outcome is not red or name not in NEVER_RED]
        outcomes = [
            outcome.name
            for outcome in demanded
            if seen.isdisjoint((name, "", returned) for returned in HISTORIES[outcome])
        ]
        apart = {row for check, row, _ in seen if check == name} - NEVER_VIOLATED.keys()
        rows = [row for row in requirements if row in apart and (name, row, red.name) not in seen]
        if outcomes or rows:
            found[name] = [*outcomes, *(f"{red.name} of {row}" for row in rows)]
    return found


def is_whole(config: pytest.Config) -> bool:
    """Whether all unit tests of checks are asked for."""
    options = config.option
    part = options.keyword or getattr(options, "lf", False) or options.markexpr not in ("", "not slow")
    chosen = part or options.collectonly
    asked = [Path(each.partition("::")[0]).absolute() for each in config.args if "::" not in each]
    return not chosen and all(any(folder.is_relative_to(each) for each in asked) for folder in FOLDERS)


class ChecksSeen:
    """The part of pytest that ends a whole run with what is lacking; with xdist its workers report to it."""

    def __init__(self) -> None:
        self.shown: set[Shown] = set()
        self.checks: dict[str, set[str]] = {}
        self.noted: set[Noted] = set()
        self.bugs: set[str] = set()

    def pytest_collection(self, session: pytest.Session) -> None:
        """Watch from now on, where tests are run: beside workers nothing of the product is imported."""
        if getattr(session.config.option, "dist", "no") == "no" or hasattr(session.config, "workeroutput"):
            checks = declared()
            self.shown = Watched(checks).shown
            for each in checks:
                self.checks.setdefault(each.name, set()).update(each.requirements)
            self.noted = NOTED
            self.bugs = {each.bug_id for document in documents() for each in document.diagnoses}

    def pytest_testnodedown(self, node: Any) -> None:
        """A worker reports what its tests saw, of which checks."""
        shown, checks, noted, bugs = getattr(node, "workeroutput", {}).get("checks_seen", ((), {}, (), ()))
        self.shown |= {tuple(each) for each in shown}
        self.checks |= {name: set(rows) for name, rows in checks.items()}
        self.noted |= {tuple(each) for each in noted}
        self.bugs |= {*bugs}

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """All tests are over: of a worker, or of all."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            checks = {name: sorted(rows) for name, rows in self.checks.items()}
            output["checks_seen"] = sorted(self.shown), checks, sorted(self.noted), sorted(self.bugs)
        elif self._lacking() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        """One list, for all checks."""
        failed = any(terminalreporter.stats.get(each) for each in ("failed", "error"))
        if failed or exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return  # the test that failed may be the one that sees what is lacking
        for line in self._lacking():
            terminalreporter.write_line(line, red=True)

    def _lacking(self) -> list[str]:
        checks = [
            f"{check}: expected unit tests of its own that see each outcome; none saw {', '.join(what)}: "
            "call its .judge(history) in a test and assert the outcome"
            for check, what in lacking(self.shown, self.checks).items()
        ]
        diagnoses = [
            f"diagnosis of {bug}: expected a unit test that asks by `named`, which tampers with what is explained; "
            f"none left red: {', '.join(kinds)}" + f"; or the reason in {_ANY_TIME}" * (OUTSIDE in kinds)
            for bug, kinds in unasked(self.noted, self.bugs).items()
        ]
        return [*checks, *diagnoses]
