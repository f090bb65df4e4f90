"""The report of a test of ours: errors by their message, known bugs as expected failures, the verdict of its run."""

from collections.abc import Generator

import pytest

from pytest_kmigrate.catalogue import KnownBug
from pytest_kmigrate.catalogue.mistakes import advice
from pytest_kmigrate.model.errors import ClusterError, KmigrateError, NotApplicableError
from pytest_kmigrate.model.event import Ending
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.plugin.handing_over import OUTCOME
from pytest_kmigrate.plugin.options import options_of
from pytest_kmigrate.plugin.outcomes import (
    InconclusiveError,
    Judged,
    KnownBugError,
    MetBeforeError,
    ViolationError,
    bug_met,
    judged_of,
    met_by,
    remember_ending,
)
from pytest_kmigrate.plugin.places import place_of, within_test
from pytest_kmigrate.redaction import redacted

_REPORTED_BY_MESSAGE = (KmigrateError, ViolationError, InconclusiveError)


def reported(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The wrapper of ``pytest_runtest_makereport``: an error of ours by its message and the line of the test."""
    error = _error_of(item, call)
    behind = _known_bug_behind(item, call, error)
    report = yield
    if isinstance(error, _REPORTED_BY_MESSAGE):
        notes = getattr(error, "__notes__", ())
        advised = [f"advice: {each}" for each in advice(options_of(item.config).profile, str(error))]
        report.longrepr = redacted("\n".join([str(error), *advised, *notes, f"test: {place_of(item, error)}"]))
    if isinstance(error, NotApplicableError):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), int(place_of(item, error).rpartition(":")[2]), redacted(str(error)))
    bug = None if item.config.option.runxfail else bug_met(item, behind or error)
    if bug is not None:
        report.outcome = "skipped"
        reason = f"{bug.expectation.rstrip('.')}. {bug.consequence}"
        report.wasxfail = f"{reason}; {error}" if isinstance(error, MetBeforeError) else reason
    if report.when == "call" or (report.when == "setup" and not report.passed):
        remember_ending(item, _ending(report, error, bug))
    judged = judged_of(item)
    if judged is not None and report.when != "setup":  # a test that failed before verify is judged at its teardown
        report.user_properties.append((OUTCOME, judged.outcome.name))
        report.user_properties.append(("kmigrate_run", str(judged.folder)))
        if met := met_by(item):
            report.user_properties.append(("kmigrate_known", met.described))
        if judged.outcome is Outcome.INCONCLUSIVE and judged.verdicts:
            report.user_properties.append(("kmigrate_reason", redacted(_reason(judged))))
    return report


def _reason(judged: Judged) -> str:
    """Why nothing could be said of a run, in one line: the first check that could not, those that count first."""
    undecided = [each for each in judged.verdicts if each.outcome is Outcome.INCONCLUSIVE]
    first = min(undecided, key=lambda each: not each.counts, default=None)
    return "" if first is None else " ".join(f"{first.check}: {first.summary}".split())


def _error_of(item: pytest.Item, call: pytest.CallInfo[None]) -> BaseException | None:
    """What ended this part of the test; an error of ours with a traceback that ends in the test's own file."""
    # pytest keeps there what ended a test of unittest, and takes it out after this.
    kept: list[pytest.ExceptionInfo[BaseException]] = getattr(item, "_excinfo", None) or []
    info = kept[0] if kept and call.when == "call" else call.excinfo
    error = info.value if info else None
    if isinstance(error, _REPORTED_BY_MESSAGE):
        shortened = pytest.ExceptionInfo.from_exception(within_test(item, error))
        if info is call.excinfo:
            call.excinfo = shortened
        else:
            kept[0] = shortened
    return error


def _known_bug_behind(
    item: pytest.Item, call: pytest.CallInfo[None], error: BaseException | None
) -> KnownBugError | None:
    """Judge the run of a test that its cluster ended: by a known bug, perhaps, if the run's history has that end."""
    if not isinstance(error, ClusterError) or call.when == "teardown":
        return None
    from pytest_kmigrate.plugin import living

    return living.known_bug_behind(item, error)


def _ending(report: pytest.TestReport, error: BaseException | None, bug: KnownBug | None) -> Ending:
    if bug is not None:
        return Ending.KNOWN_BUG
    if isinstance(error, NotApplicableError):
        return Ending.NOT_APPLICABLE
    return Ending.PASSED if report.passed else Ending.FAILED
