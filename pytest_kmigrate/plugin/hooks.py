"""pytest's hooks: options, markers, the outcome of a test that was judged, the terminal summary.

They are called in every session on the machine. Most of this package is imported for the first test of ours.
"""

import os
from collections.abc import Generator, Sequence
from contextlib import nullcontext
from typing import Any

import pytest

from pytest_kmigrate.plugin import marks
from pytest_kmigrate.plugin.calling import in_call
from pytest_kmigrate.plugin.display import display, terminal_of
from pytest_kmigrate.plugin.handing_over import ENVIRONMENT, OUTCOME, REFUSALS, Refusals
from pytest_kmigrate.plugin.identity import Worker, end_begun_session, has_begun_runs, remember_session_of
from pytest_kmigrate.plugin.marks import is_of_ours
from pytest_kmigrate.plugin.options import add_options, are_given, is_kept, options_of
from pytest_kmigrate.plugin.starting import start_again_if_misread, status_of_second_start
from pytest_kmigrate.plugin.terminal import TERMINAL, Terminal

_FIRST_WORKER = "gw0"
"""The worker of pytest-xdist that reports what is about all of them."""


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
    marks.register(config)
    if are_given(config):
        options_of(config)
    display(config)
    config.pluginmanager.register(Refusals(), "kmigrate-refusals")


def pytest_plugin_registered(plugin: object, manager: pytest.PytestPluginManager) -> None:
    """Let a conftest that imports from this package use the short names of marks."""
    config = manager.get_plugin("pytestconfig")
    if config is not None:
        marks.register_short_names_for(plugin, config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Worker) -> None:
    """Remember which session the workers of pytest-xdist are of."""
    remember_session_of(node)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker of pytest-xdist that ran tests of ours has for the results of Allure."""
    environment = getattr(node, "workeroutput", {}).get(ENVIRONMENT)
    if environment:
        from pytest_kmigrate.plugin.allure_results import complete_allure_results

        complete_allure_results(node.config).take_over(environment)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Have a test run once for each schedule of a file."""
    if is_of_ours(metafunc.definition) and marks.nearest_mark(metafunc.definition, "schedules") is not None:
        from pytest_kmigrate.plugin.scheduling import parametrize

        parametrize(metafunc)


@pytest.hookimpl(trylast=True)  # when -k and -m have deselected: what a test needs that does not run is not asked
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse what cannot be, leave out what cannot run here or is for the night, expect the red of known bugs."""
    if any(is_of_ours(item) for item in items) or REFUSALS in config.stash:
        from pytest_kmigrate.plugin.collecting import look_at

        look_at(config, items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Have the results of allure-pytest completed in a session that has tests of ours."""
    if getattr(session.config.option, "allure_report_dir", None) and any(map(is_of_ours, session.items)):
        from pytest_kmigrate.plugin.allure_results import complete_allure_results

        complete_allure_results(session.config)


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> list[str]:
    """What is under test, in a session that has tests of ours."""
    if not any(is_of_ours(item) for item in items):
        return []
    from pytest_kmigrate.plugin.collecting import under_test
    from pytest_kmigrate.plugin.scheduling import of_another_harness

    carries_out = any(marks.nearest_mark(item, "schedules") is not None for item in items if is_of_ours(item))
    return [*under_test(config, items), *(of_another_harness(config) if carries_out else [])]


@pytest.hookimpl(wrapper=True)
def pytest_collection_finish(session: pytest.Session) -> Generator[None]:
    """Let pytest-xdist's loadgroup, in a worker, send the tests of a scene to one worker."""
    is_grouped = session.config.getoption("loadgroup", default=False) and any(map(is_of_ours, session.items))
    if is_grouped:
        from pytest_kmigrate.plugin.scenes import grouped
    with grouped(session) if is_grouped else nullcontext():
        yield
    if getattr(session.config, "workerinput", {}).get("workerid") == _FIRST_WORKER:  # pytest writes nothing there
        for line in pytest_report_collectionfinish(session.config, session.items):
            terminal_of(session.config).line(line)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin a test anew: other plugins may have run it before."""
    if is_of_ours(item):
        from pytest_kmigrate.plugin.attempts import begin_attempt

        begin_attempt(item)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Note that the test itself has passed, for its run, which ends after it."""
    with in_call(item):
        result = yield
    if is_of_ours(item):
        from pytest_kmigrate.plugin.attempts import passed_call

        passed_call(item)
    return result


@pytest.hookimpl(specname="pytest_runtest_call", tryfirst=True)
def pytest_begin_test(item: pytest.Item) -> None:
    """Bring a cluster that was started from scratch to where its test begins, as a part of the test."""
    if is_of_ours(item):
        from pytest_kmigrate.plugin import living

        living.begin(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a judged failure, and an error of ours, by its message and the line of the test, without a stack trace."""
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, pytest.FixtureLookupError):
        report = yield
        if is_of_ours(item) or marks.imports_from_us(getattr(item, "module", None)):
            from pytest_kmigrate.plugin.hints import add_hint

            add_hint(report, error)
        return report
    if not is_of_ours(item):
        return (yield)
    from pytest_kmigrate.plugin.reporting import reported

    return (yield from reported(item, call))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Note that this session ended, where its runs are."""
    end_begun_session(session.config, int(exitstatus))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    """The verdict of every run, and where its folder is."""
    config = terminalreporter.config
    if not (has_begun_runs(config) or is_kept(config) or _has_verdicts(terminalreporter)):
        return
    from pytest_kmigrate.plugin.summary import summarize

    summarize(terminalreporter, is_interrupted=exitstatus == pytest.ExitCode.INTERRUPTED)


def _has_verdicts(reporter: pytest.TerminalReporter) -> bool:
    """Whether a test was judged, in whatever way it asked for our fixtures."""
    reports = (report for reports in reporter.stats.values() for report in reports)
    return any(name == OUTCOME for report in reports for name, _ in getattr(report, "user_properties", ()))
