"""pytest's hooks: options, markers, the outcome of a test that was judged, the terminal summary."""

import os
from collections.abc import Generator, Sequence
from contextlib import nullcontext

import pytest

from pytest_kmigrate.catalogue import KnownBug
from pytest_kmigrate.catalogue.mistakes import advice
from pytest_kmigrate.model.errors import ClusterError, KmigrateError, NotApplicableError
from pytest_kmigrate.model.event import Ending
from pytest_kmigrate.plugin.collecting import Refusals, deselect_nightly, kafka_in_header, kafka_in_use, look_at
from pytest_kmigrate.plugin.display import display
from pytest_kmigrate.plugin.identity import Worker, end_begun_session, remember_session_of
from pytest_kmigrate.plugin.options import add_options, options_of
from pytest_kmigrate.plugin.outcomes import (
    InconclusiveError,
    KnownBugError,
    MetBeforeError,
    ViolationError,
    bug_met,
    judged_of,
    remember_ending,
)
from pytest_kmigrate.plugin.places import place_of, within_test
from pytest_kmigrate.plugin.scenes import grouped
from pytest_kmigrate.plugin.starting import start_again_if_misread, status_of_second_start
from pytest_kmigrate.plugin.summary import summarize
from pytest_kmigrate.plugin.terminal import TERMINAL, Terminal

MARKERS = (
    "requirement(*ids): the requirements that a test judges, by id; `kmigrate requirements` lists them",
    "topology(file): the topology file a test runs on, or the name of a shipped one",
    "since(release): the test needs a feature that older releases of Kafka lack; on these it is skipped",
    "until(release): the test needs what this release of Kafka and newer ones lack; on these it is skipped",
    "scene: of a module or class: its tests share a cluster, and each leaves it as it found it",
    "spoils: the test does not restore the cluster of its scene; the next one gets a new cluster",
    "sample: the test is one of a few that represent its suite, for a short run with -m sample",
    "nightly: one of so many cases that only --kmigrate-nightly runs them all",
    "starts_at(state, filled=False): the phase in which a test begins, such as HYBRID, filled with metadata or not",
    "start_condition(*znodes): znodes that exist before the test begins: Znode(path, data=None)",
    "needs(*capabilities): what the provider must offer and no fixture shows, such as kill; else the test is skipped",
    "known_bug(id): the test meets this bug: on the releases that have it, it is expected to fail because of it alone",
)

_REPORTED_BY_MESSAGE = (KmigrateError, ViolationError, InconclusiveError)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare our options, and keep standard output as it is before the capturing begins."""
    add_options(parser)
    pluginmanager.register(Terminal(os.dup(1)), TERMINAL)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> Generator[None]:
    """Start again if pytest took an option's value for a test, before any conftest is loaded or output captured."""
    start_again_if_misread(early_config, args)
    yield


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """End as the second start did, if there was one."""
    return status_of_second_start(config)


def pytest_configure(config: pytest.Config) -> None:
    """Declare our markers, and refuse wrong options before anything is collected."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    options_of(config)
    display(config)
    config.pluginmanager.register(Refusals(), "kmigrate-refusals")
    if getattr(config.option, "allure_report_dir", None):
        from pytest_kmigrate.plugin.allure.completing import complete_allure_results

        complete_allure_results(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Worker) -> None:
    """Remember which session the workers of pytest-xdist are of."""
    remember_session_of(node)


def pytest_report_header(config: pytest.Config) -> str:
    """One line: what is under test."""
    options, kafka = options_of(config), kafka_in_header(config)
    return f"kmigrate: kafka {kafka}, seed {options.seed}, profile {options.profile}, runs in {options.runs}"


@pytest.hookimpl(trylast=True)  # when -k and -m have deselected: what a test needs that does not run is not asked
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse what cannot be, leave out what cannot run here or is for the night, expect the red of known bugs."""
    deselect_nightly(config, items)
    look_at(config, items)


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> str | None:
    """One line: the distributions under test, where the topologies name them."""
    return kafka_in_use(config, items)


@pytest.hookimpl(wrapper=True)
def pytest_collection_finish(session: pytest.Session) -> Generator[None]:
    """Let pytest-xdist's loadgroup, in a worker, send the tests of a scene to one worker."""
    with grouped(session) if session.config.getoption("loadgroup", default=False) else nullcontext():
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Bring a cluster that was started from scratch to where its test begins, as a part of the test."""
    if "kmigrate_run" in pyfuncitem.funcargs:
        from pytest_kmigrate.plugin import living

        living.begin(pyfuncitem)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a judged failure, and an error of ours, by its message and the line of the test, without a stack trace."""
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, _REPORTED_BY_MESSAGE):
        call.excinfo = pytest.ExceptionInfo.from_exception(within_test(item, error))
    behind = _known_bug_behind(item, call, error)
    report = yield
    if isinstance(error, _REPORTED_BY_MESSAGE):
        notes = getattr(error, "__notes__", ())
        advised = [f"advice: {each}" for each in advice(options_of(item.config).profile, str(error))]
        report.longrepr = "\n".join([str(error), *advised, *notes, f"test: {place_of(item, error)}"])
    if isinstance(error, NotApplicableError):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), int(place_of(item, error).rpartition(":")[2]), str(error))
    bug = None if item.config.option.runxfail else bug_met(item, behind or error)
    if bug is not None:
        report.outcome = "skipped"
        report.wasxfail = f"{bug.expectation}; {error}" if isinstance(error, MetBeforeError) else bug.expectation
    if report.when == "call" or (report.when == "setup" and not report.passed):
        remember_ending(item, _ending(report, error, bug))
    judged = judged_of(item)
    if judged is not None and report.when != "setup":  # a test that failed before verify is judged at its teardown
        report.user_properties.append(("kmigrate_outcome", judged.outcome.name))
        report.user_properties.append(("kmigrate_run", str(judged.folder)))
    return report


def _known_bug_behind(
    item: pytest.Item, call: pytest.CallInfo[None], error: BaseException | None
) -> KnownBugError | None:
    """Judge the run of a test that its cluster ended: by a known bug, perhaps."""
    if not isinstance(error, ClusterError) or call.when == "teardown":
        return None
    from pytest_kmigrate.plugin import living

    return living.known_bug_behind(item)


def _ending(report: pytest.TestReport, error: BaseException | None, bug: KnownBug | None) -> Ending:
    if bug is not None:
        return Ending.KNOWN_BUG
    if isinstance(error, NotApplicableError):
        return Ending.NOT_APPLICABLE
    return Ending.PASSED if report.passed else Ending.FAILED


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Note that this session ended, where its runs are."""
    end_begun_session(session.config, int(exitstatus))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    """The verdict of every run, and where its folder is."""
    summarize(terminalreporter, is_interrupted=exitstatus == pytest.ExitCode.INTERRUPTED)
