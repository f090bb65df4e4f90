"""The fixtures a suite is written with. What they are made of is imported when the first is used, see ``living``."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate.plugin.asking import topology_of

if TYPE_CHECKING:
    from pytest_kmigrate.faults.injection import Injection
    from pytest_kmigrate.model.protocols import Cluster
    from pytest_kmigrate.model.topology import Topology
    from pytest_kmigrate.running import Run
    from pytest_kmigrate.running.metadata import Metadata
    from pytest_kmigrate.running.traffic import Traffic


@pytest.fixture
def topology(request: pytest.FixtureRequest) -> "Topology":
    """The topology of this test: the command line's, the marker's, or the default; with the distribution under test."""
    return topology_of(request.node)


@pytest.fixture
def kmigrate_run(request: pytest.FixtureRequest, topology: "Topology") -> Iterator["Run"]:
    """A cluster of this test's own, started and observed; judged at the end when the test itself did not."""
    from pytest_kmigrate.plugin import living

    with living.run_of(request.node, topology) as run:
        yield run


@pytest.fixture
def cluster(kmigrate_run: "Run") -> "Cluster":
    """The live cluster."""
    return kmigrate_run.cluster


@pytest.fixture
def workload(kmigrate_run: "Run") -> "Traffic":
    """Clients that write and read all through the test; ``await_acked(n)`` says they are served."""
    kmigrate_run.traffic.start()
    return kmigrate_run.traffic


@pytest.fixture
def cluster_metadata(kmigrate_run: "Run") -> "Metadata":
    """Fills the cluster with metadata, changes it meanwhile, takes images of every side."""
    return kmigrate_run.metadata


@pytest.fixture
def inject(kmigrate_run: "Run") -> Callable[..., AbstractContextManager["Injection"]]:
    """Begins a fault, at once or at its trigger; leaving the block heals.

    ``with inject(Kill(active_controller()), at=on_state("phase", Phase.COPYING)): ...``
    """
    from pytest_kmigrate.plugin import living

    return living.injector(kmigrate_run)


@pytest.fixture
def expect(kmigrate_run: "Run") -> Callable[..., bool]:
    """``expect("name", actual, equals=...)``: records whether it comes true; ``verify`` judges it."""
    from pytest_kmigrate.plugin import living

    return living.expecting(kmigrate_run)


@pytest.fixture
def verify(request: pytest.FixtureRequest, kmigrate_run: "Run") -> Callable[..., None]:
    """``verify(checks.no_acked_record_lost(), ...)``: ends the traffic, judges the run, fails unless all conforms."""
    from pytest_kmigrate.plugin import living

    return living.verifier(request.node, kmigrate_run)
