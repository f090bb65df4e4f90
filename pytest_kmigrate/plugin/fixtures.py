"""The fixtures a suite is written with."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from pytest_kmigrate import faults
from pytest_kmigrate.faults.effect import Fault
from pytest_kmigrate.faults.injection import Injection
from pytest_kmigrate.faults.triggers import Trigger
from pytest_kmigrate.migration import MigrationDriver
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.errors import KmigrateError
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.model.verdict import Kind, Outcome
from pytest_kmigrate.plugin.options import DEFAULT_TOPOLOGY, options_of
from pytest_kmigrate.plugin.outcomes import Judged, NotApplicableError, raise_for, remember
from pytest_kmigrate.plugin.progress import Terminal, shown
from pytest_kmigrate.providers.process.cluster import ProcessCluster
from pytest_kmigrate.reports.run_reports import write_run_reports
from pytest_kmigrate.running import Run, RunSettings, open_run
from pytest_kmigrate.running.expectations import expect as record_expectation
from pytest_kmigrate.running.judging import named_bugs, outcome_of
from pytest_kmigrate.running.metadata import Metadata
from pytest_kmigrate.running.software import software_for
from pytest_kmigrate.running.traffic import Traffic
from pytest_kmigrate.topology_file import find, load

Verify = Callable[..., None]
Inject = Callable[..., AbstractContextManager[Injection]]
Expect = Callable[..., bool]


@pytest.fixture
def topology(request: pytest.FixtureRequest) -> Topology:
    """The topology of this test: the command line's, the marker's, or the default; with the distribution under test."""
    options = options_of(request.config)
    marker = request.node.get_closest_marker("topology")
    chosen = options.topology or (str(marker.args[0]) if marker else DEFAULT_TOPOLOGY)
    return load(find(chosen)).with_kafka(options.kafka)


@pytest.fixture
def kmigrate_run(request: pytest.FixtureRequest, topology: Topology) -> Iterator[Run]:
    """A cluster of this test's own, started and observed; judged at the end when the test itself did not."""
    options = options_of(request.config)
    terminal = Terminal(request.config)
    settings = RunSettings(
        runs=options.runs,
        seed=options.seed,
        profile=options.profile,
        provider=options.provider,
        keep=options.keep,
        byteman=options.byteman,
        command=tuple(sys.argv),
    )
    software = software_for(topology, terminal.line)
    test_id = request.node.nodeid
    with open_run(settings, topology, software, test_id, requirements_of(request.node), write_run_reports) as run:
        with shown(run, terminal):
            yield run
        _judge_unjudged(request.node, run)


@pytest.fixture
def cluster(kmigrate_run: Run) -> ProcessCluster:
    """The live cluster."""
    return kmigrate_run.cluster


@pytest.fixture
def migration(kmigrate_run: Run) -> MigrationDriver:
    """Drives the documented procedure: ``advance_to(Phase.HYBRID)``, ``revert()``."""
    return kmigrate_run.migration


@pytest.fixture
def workload(kmigrate_run: Run) -> Traffic:
    """Clients that write and read all through the test; ``await_acked(n)`` says they are served."""
    kmigrate_run.traffic.start()
    return kmigrate_run.traffic


@pytest.fixture
def metadata(kmigrate_run: Run) -> Metadata:
    """Fills the cluster with metadata, changes it meanwhile, takes images of every side."""
    return kmigrate_run.metadata


@pytest.fixture
def inject(kmigrate_run: Run) -> Inject:
    """``with inject(Kill(active_controller()), at=on_phase(Phase.COPYING)): ...``; leaving the block heals."""

    def injected(fault: Fault, at: Trigger | None = None) -> AbstractContextManager[Injection]:
        lacking = fault.needs - kmigrate_run.cluster.capabilities
        if lacking:
            raise NotApplicableError(f"{fault} needs a provider that can {', '.join(sorted(lacking))}")
        return faults.inject(kmigrate_run.scene, fault, at)

    return injected


@pytest.fixture
def expect(kmigrate_run: Run) -> Expect:
    """``expect("name", actual, equals=...)``: records whether it comes true; ``verify`` judges it."""

    def expected(
        name: str,
        actual: Callable[[], object],
        equals: object,
        *,
        within_s: float = 30,
        kind: Kind = Kind.SAFETY,
        signature: str = "",
    ) -> bool:
        return record_expectation(
            kmigrate_run.recorder, name, actual, equals, within_s=within_s, kind=kind, signature=signature
        )

    return expected


@pytest.fixture
def verify(request: pytest.FixtureRequest, kmigrate_run: Run) -> Verify:
    """``verify(checks.no_acked_record_lost(), ...)``: ends the traffic, judges the run, fails unless all conforms."""

    def verified(*checks: Check) -> None:
        _judge(request.node, kmigrate_run, checks)

    return verified


def requirements_of(item: pytest.Item) -> list[str]:
    """The ledger ids on a test, nearest first."""
    return [str(requirement) for mark in item.iter_markers("requirement") for requirement in mark.args]


def _judge(item: pytest.Item, run: Run, checks: tuple[Check, ...]) -> None:
    verdicts = run.verify(checks)
    history = run.history()
    remember(item, Judged(run.folder.path, outcome_of(verdicts), verdicts))
    again = str(history.header.extra["reproduce"])
    raise_for(verdicts, named_bugs(history, verdicts), run.folder.path, again)


def _judge_unjudged(item: pytest.Item, run: Run) -> None:
    """A test that ended before ``verify`` is judged by what stands in its folder; its own failure stays the first."""
    if run.verdicts is not None:
        return
    run.dump_threads()
    try:
        verdicts = run.verify(())
    except KmigrateError as error:
        run.trouble("judging an unfinished run", error)
        return
    remember(item, Judged(run.folder.path, max(outcome_of(verdicts), Outcome.INCONCLUSIVE), verdicts))
