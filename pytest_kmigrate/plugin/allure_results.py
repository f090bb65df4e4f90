"""Completes the results of allure-pytest by a hook of Allure's own; a second writer would report each test twice."""

from collections.abc import Generator
from typing import Any

import allure_commons
import pytest
from allure_commons.model2 import Status, StatusDetails, TestResult

from pytest_kmigrate.plugin.handing_over import ENVIRONMENT
from pytest_kmigrate.plugin.outcomes import run_of_test
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.reports.one_run.allure_results import about_all, environment, result_of
from pytest_kmigrate.reports.one_run.run_evidence import read_evidence

_LISTENER = "allure_listener"
"""The name that allure-pytest registers its listener under."""

_NAME = "kmigrate-allure"
"""The name that the completion is registered under."""

_GENERAL_SUITES = ("parentSuite", "suite", "subSuite")
"""What allure-pytest makes of the path of a test; a run names its suite itself."""


def complete_allure_results(config: pytest.Config) -> "Completion":
    """Have results completed, in each process that runs tests."""
    known = config.pluginmanager.get_plugin(_NAME)
    if isinstance(known, Completion):
        return known
    completion = Completion(config)
    config.pluginmanager.register(completion, _NAME)
    allure_commons.plugin_manager.register(completion)
    config.add_cleanup(lambda: allure_commons.plugin_manager.unregister(completion))
    return completion


class Completion:
    """Hooks of pytest and of Allure, which both find their own by its marker or name."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._folders: dict[str, RunFolder] = {}
        self._facts: dict[str, set[str]] = {}

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        """Note whose run a result is about, before its folder is complete."""
        run = run_of_test(item)
        if run is not None:
            listener: Any = self._config.pluginmanager.get_plugin(_LISTENER)
            self._folders[listener.allure_logger.get_test(None).uuid] = run.folder
        return (yield)

    @allure_commons.hookimpl(tryfirst=True)
    def report_result(self, result: TestResult) -> None:
        """Complete a result on its way to the file."""
        folder = self._folders.pop(result.uuid, None)
        if folder is None:
            return
        evidence = read_evidence(folder)
        completed(result, result_of(evidence, allure_commons.plugin_manager.hook.report_attached_data))
        self._add(environment([evidence.history.header]))

    def take_over(self, environment: dict[str, str]) -> None:
        """Take over what a worker of pytest-xdist knows of the environment."""
        self._add(environment)

    def pytest_sessionfinish(self) -> None:
        """Write what is about all results, once: a worker leaves it to the process that started it."""
        facts = {name: ", ".join(sorted(values)) for name, values in self._facts.items()}
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput[ENVIRONMENT] = facts
        elif facts:
            about_all(facts, allure_commons.plugin_manager.hook.report_attached_data)

    def _add(self, facts: dict[str, str]) -> None:
        for name, value in facts.items():
            self._facts.setdefault(name, set()).update(value.split(", "))


def completed(result: TestResult, run: TestResult) -> None:
    """Put what is known of a run into pytest's result of its test, whose uuid and fixtures stay.

    A test that failed although its run conforms stays failed.
    """
    for name in ("name", "fullName", "titlePath", "historyId", "testCaseId", "stage"):
        setattr(result, name, getattr(run, name))
    has_failed = result.status in (Status.FAILED, Status.BROKEN)
    if not (has_failed and run.status == Status.PASSED):
        result.status = run.status
        result.statusDetails = _details(result, run)
    result.start, result.stop = min(result.start, run.start), max(result.stop, run.stop)
    result.labels = [*run.labels, *(each for each in result.labels if _is_more(each, run))]
    result.parameters = [*run.parameters, *(each for each in result.parameters if _is_new(each, run.parameters))]
    result.links = [*run.links, *(each for each in result.links if each.url not in [own.url for own in run.links])]
    result.steps = sorted([*result.steps, *run.steps], key=lambda step: step.start)
    result.attachments = [*run.attachments, *result.attachments]


def _details(result: TestResult, run: TestResult) -> StatusDetails | None:
    """The verdicts in words; the trace is pytest's."""
    own, theirs = run.statusDetails, result.statusDetails
    if own is None:
        return None
    return StatusDetails(known=own.known, message=own.message, trace=theirs.trace if theirs else None)


def _is_more(label: Any, run: TestResult) -> bool:
    """Whether a label says what the run's do not; of a single kind such as the framework the run has its own."""
    return label.name not in (*_GENERAL_SUITES, "framework", "language") and label not in run.labels


def _is_new(parameter: Any, known: list[Any]) -> bool:
    return parameter.name not in [each.name for each in known]
