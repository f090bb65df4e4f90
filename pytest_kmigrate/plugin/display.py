"""Pytest's own lines and those of progress, kept apart: whenever pytest writes of a test, progress gives way."""

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate.plugin.calling import test_in_call
from pytest_kmigrate.plugin.identity import Worker
from pytest_kmigrate.plugin.marks import is_of_ours
from pytest_kmigrate.plugin.terminal import TERMINAL, Showing, Terminal

if TYPE_CHECKING:
    from pytest_kmigrate.plugin.workers import Desk

_ADDRESS = "kmigrate_progress"


def display(config: pytest.Config) -> None:
    """Arrange for progress to be shown, in a worker of pytest-xdist by the process that has the terminal."""
    terminal = config.pluginmanager.get_plugin(TERMINAL)
    assert isinstance(terminal, Terminal)
    terminal.is_silent = config.get_verbosity() < 0
    terminal.is_plain |= config.getoption("capture") == "no"
    address = getattr(config, "workerinput", {}).get(_ADDRESS)
    if address is None:
        terminal.is_silent |= hasattr(config, "workerinput")
        config.pluginmanager.register(_Display(config, terminal), "kmigrate-display")
        return
    from pytest_kmigrate.plugin.workers import FarTerminal

    far = FarTerminal(address, config.workerinput["workerid"])  # type: ignore[attr-defined]  # of pytest-xdist
    config.pluginmanager.unregister(terminal)
    config.pluginmanager.register(far, TERMINAL)


def terminal_of(config: pytest.Config) -> Showing:
    """Where progress is shown."""
    terminal: Showing | None = config.pluginmanager.get_plugin(TERMINAL)
    assert terminal is not None
    return terminal


class _Display:
    """Hooks of the process that has the terminal."""

    def __init__(self, config: pytest.Config, terminal: Terminal) -> None:
        self._config = config
        self._terminal = terminal
        self._desk: Desk | None = None

    @property
    def _reporter(self) -> pytest.TerminalReporter | None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        return reporter if isinstance(reporter, pytest.TerminalReporter) else None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> Generator[None]:
        """The name of a test, or of its file."""
        with self._terminal.given_way(self._reporter, nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None]:
        """PASSED or FAILED; of a setup or teardown that passed pytest writes nothing."""
        if report.when != "call" and report.passed:
            return (yield)
        with self._terminal.given_way(self._reporter, report.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> Generator[None]:
        """The percentage behind the last dot."""
        with self._terminal.given_way(self._reporter, nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_exception_interact(
        self, node: pytest.Item | pytest.Collector, call: pytest.CallInfo[object]
    ) -> Generator[None]:
        """The failure and the prompt of ``--pdb``."""
        with self._terminal.given_way(self._reporter, node.nodeid):
            if self._config.getoption("usepdb") and isinstance(node, pytest.Item) and call.when != "teardown":
                self._show_where_to_connect(node)
            return (yield)

    def pytest_enter_pdb(self) -> None:
        """The prompt of ``breakpoint()``."""
        self._terminal.interrupted()
        item = test_in_call(self._config)
        if item is not None:
            self._show_where_to_connect(item)

    def _show_where_to_connect(self, item: pytest.Item) -> None:
        if self._reporter is None or not is_of_ours(item):
            return
        for line in _where_to_connect(item):
            self._reporter.ensure_newline()
            self._reporter.write_line(line)

    def pytest_leave_pdb(self) -> None:
        """Its end."""
        self._terminal.resumed()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Worker) -> None:
        """Give a worker of pytest-xdist the address of this process."""
        if self._desk is None:
            from pytest_kmigrate.plugin.workers import Desk

            self._desk = Desk(self._terminal)
        node.workerinput[_ADDRESS] = self._desk.address

    def pytest_unconfigure(self) -> None:
        """No worker is left."""
        if self._desk is not None:
            self._desk.close()


def _where_to_connect(item: pytest.Item) -> list[str]:
    """Lines for a debugger's user about the live cluster of a test; none if it has no cluster."""
    from contextlib import suppress

    from pytest_kmigrate.plugin.outcomes import run_of_test

    run = run_of_test(item)
    lines = list[str]()
    if run is not None:
        with suppress(Exception):  # an engine that has ended, say: there is nothing to connect to
            lines = [
                f"kmigrate: the cluster of {item.name} stays up while you debug",
                f"  bootstrap servers: {run.cluster.bootstrap_servers()}",
                f"  logs:              {run.folder.logs}",
                "  `kmigrate ps` shows its nodes and how clients log in, `kmigrate logs NODE` a log",
            ]
    return lines
