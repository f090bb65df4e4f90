"""pytest's hooks: options, markers, the outcome of a test that was judged, the terminal summary."""

import os
from collections.abc import Generator
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate.catalogue import KnownBug, is_before, known_bug, met_by_any_run, requirement
from pytest_kmigrate.catalogue.mistakes import advice
from pytest_kmigrate.model.errors import ClusterError, KmigrateError, NotApplicableError, WrongUseError
from pytest_kmigrate.model.event import Ending
from pytest_kmigrate.plugin.asking import (
    check_runs,
    check_start,
    chosen_topology,
    marked,
    needs_cluster,
    topology_of,
)
from pytest_kmigrate.plugin.display import display
from pytest_kmigrate.plugin.options import add_options, options_of
from pytest_kmigrate.plugin.outcomes import (
    InconclusiveError,
    KnownBugError,
    MetBeforeError,
    ViolationError,
    bug_met,
    expect_of,
    judged_of,
    remember_ending,
)
from pytest_kmigrate.plugin.places import place_of, within_test
from pytest_kmigrate.plugin.scenes import grouped, scene_of
from pytest_kmigrate.plugin.starting import start_again_if_misread, status_of_second_start
from pytest_kmigrate.plugin.summary import summarize
from pytest_kmigrate.plugin.terminal import TERMINAL, Terminal

if TYPE_CHECKING:
    from pytest_kmigrate.model.topology import Topology

_MARKERS = (
    "requirement(*ids): the requirements a test judges, by id; `kmigrate requirements` lists them",
    "topology(file): the topology file a test runs on, or the name of a shipped one",
    "since(release): the test is about something that older releases of Kafka do not have; there it is skipped",
    "scene: of a module or class: its tests share a cluster, and each leaves it as it found it",
    "spoils: the test leaves the cluster of its scene otherwise than it found it; the next one gets a new cluster",
    "sample: the test is one of those that stand for its whole suite, for a run with -m sample that ends soon",
    "starts_at(state, filled=False): the phase in which a test begins, such as HYBRID, filled with metadata or not",
    "start_condition(*znodes): what is there before the test begins, as somebody left it: Znode(path, data=None)",
    "known_bug(id): the test meets this bug: its red is expected on the releases that have it, and no other red is",
)

_REFUSED = pytest.StashKey[str]()
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
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    options_of(config)
    display(config)


def pytest_report_header(config: pytest.Config) -> str:
    """One line: what is under test."""
    options = options_of(config)
    return f"kmigrate: kafka {options.kafka}, seed {options.seed}, profile {options.profile}, runs in {options.runs}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse what cannot be, leave out what judges another document, expect the red of known bugs."""
    options = options_of(config)
    possible: dict[str, Topology] = {}
    for item in items:
        try:
            _skip_unless_judged_by(item, options.profile)
            _skip_before(item, options.kafka)
            _expect_red(item, [known_bug(bug_id) for bug_id in marked(item, "known_bug")], options.kafka)
            scene_of(item)
            is_skipped = item.get_closest_marker("skip") is not None
            if needs_cluster(item) and not is_skipped:
                if chosen_topology(item) not in possible:
                    check_runs(options.runs)
                    possible[chosen_topology(item)] = topology_of(item)
                check_start(item, possible[chosen_topology(item)])
        except (KmigrateError, OSError) as error:
            refusal = f"{place_of(item)}: {item.nodeid}: {error}"
            if not hasattr(config, "workerinput"):
                raise pytest.UsageError(refusal) from error
            item.stash[_REFUSED] = (
                refusal  # of a worker that ends here pytest-xdist would show how it broke, and not why
            )


@pytest.hookimpl(wrapper=True)
def pytest_collection_finish(session: pytest.Session) -> Generator[None]:
    """Let pytest-xdist's loadgroup, in a worker, send the tests of a scene to one worker."""
    with grouped(session) if session.config.getoption("loadgroup", default=False) else nullcontext():
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse, in a worker of pytest-xdist, what elsewhere is refused before anything runs."""
    refused = item.stash.get(_REFUSED, None)
    if refused is not None:
        raise WrongUseError(refused)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Bring a cluster that was started from scratch to where its test begins, as a part of the test."""
    if "kmigrate_run" in pyfuncitem.funcargs:
        from pytest_kmigrate.plugin import living

        living.begin(pyfuncitem)


def _skip_unless_judged_by(item: pytest.Item, profile: str) -> None:
    claimed = [requirement(each).profile for each in marked(item, "requirement")]
    if claimed and profile not in claimed:
        reason = f"judges requirements of {', '.join(sorted(set(claimed)))}, and --kmigrate-profile is {profile}"
        item.add_marker(pytest.mark.skip(reason=reason))


def _skip_before(item: pytest.Item, kafka: str) -> None:
    for since in marked(item, "since"):
        if is_before(kafka, since):
            reason = f"is about what Kafka has since {since}, and --kmigrate-kafka is {kafka}"
            item.add_marker(pytest.mark.skip(reason=reason))


def _expect_red(item: pytest.Item, bugs: list[KnownBug], kafka: str) -> None:
    expected = [bug for bug in bugs if bug.breaks(kafka)]
    expect_of(item, list(dict.fromkeys([*expected, *met_by_any_run(kafka)])))
    for bug in expected:
        if bug.reachability != "race":  # who wins a race cannot be promised; here a green would be news
            item.add_marker(pytest.mark.xfail(raises=KnownBugError, reason=_expectation(bug), strict=True))


def _expectation(bug: KnownBug) -> str:
    return f"{bug.id}: {bug.symptom}"


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
        report.wasxfail = f"{_expectation(bug)}; {error}" if isinstance(error, MetBeforeError) else _expectation(bug)
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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The verdict of every run, and where its folder is."""
    summarize(terminalreporter)
