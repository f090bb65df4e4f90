"""The fixtures of every session. Their implementation is imported when the first one is used, see ``living``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate.model.capabilities import SIDES, Capability, needing
from pytest_kmigrate.plugin.marks import now_of_ours

if TYPE_CHECKING:
    from pytest_kmigrate.model.protocols import Cluster
    from pytest_kmigrate.model.topology import Topology
    from pytest_kmigrate.running import Run
    from pytest_kmigrate.running.calls import Expect, Inject, Verify
    from pytest_kmigrate.running.metadata import Metadata
    from pytest_kmigrate.running.traffic import Traffic


@pytest.fixture
def topology(request: pytest.FixtureRequest) -> "Topology":
    """The frozen topology of this test: of the command line, of the marker, or the default.

    A module can define a fixture of this name to use its own topology.
    """
    from pytest_kmigrate.plugin.requested import topology_requested

    return topology_requested(request.node)


@pytest.fixture
def kmigrate_run(request: pytest.FixtureRequest, topology: "Topology") -> Iterator["Run"]:
    """The run of this test: its cluster is started and observed, and judged at the end if the test did not do so."""
    from pytest_kmigrate.plugin import living
    from pytest_kmigrate.plugin.requested import own_topology

    now_of_ours(request.node)
    with living.run_of(request.node, own_topology(request.node, topology)) as run:
        living.begin_late(request.node)
        yield run


@pytest.fixture
@needing(
    start=[Capability.START],
    stop=[Capability.START],
    start_together=[Capability.START],
    kill=[Capability.KILL],
    pause=[Capability.PAUSE],
    reconfigure=[Capability.RECONFIGURE],
    install=[Capability.INSTALL],
    wipe=[Capability.WIPE],
    fail_log_dir=[Capability.LOG_DIRS],
    run_tool=[Capability.TOOLS],
    hold_at=[Capability.CRASH_POINTS],
    peer=[Capability.REQUESTS],
    requests_received=[Capability.METRICS],
    metadata_log=[Capability.METADATA_LOG],
    zookeeper_log=[Capability.ZOOKEEPER_LOG],
)
def cluster(kmigrate_run: "Run") -> "Cluster":
    """The live cluster."""
    return kmigrate_run.cluster


@pytest.fixture
@needing(Capability.TRAFFIC)
def workload(kmigrate_run: "Run") -> "Traffic":
    """Clients that write and read during the whole test.

    ``workload.await_acked(500)`` and ``await_consumed(500)`` wait for so many further records to be acknowledged or
    read, ``await_committed(3)`` for so many offsets of partitions.
    """
    kmigrate_run.traffic.start()
    return kmigrate_run.traffic


@pytest.fixture
@needing(
    **SIDES,
    fill=[Capability.CHANGE],
    fill_with_reassignment=[Capability.CHANGE],
    take_back=[Capability.CHANGE],
    renew_tokens=[Capability.CHANGE],
    make=[Capability.CHANGE],
    change=[Capability.CHANGE],
    changing=[Capability.CHANGE],
)
def cluster_metadata(kmigrate_run: "Run") -> "Metadata":
    """Fills the cluster with metadata, changes it during the test, takes images of every side."""
    return kmigrate_run.metadata


@pytest.fixture
@needing(
    at_crash_point=[Capability.CRASH_POINTS],
    on_metric=[Capability.METRICS],
    on_znode_change=[Capability.ZNODES],
)
def inject(kmigrate_run: "Run") -> "Inject":
    """Begins a fault, at once or at its trigger; the end of the block heals it.

    ``with inject(Kill(targets.active_controller()), at=triggers.on_state("phase", Phase.COPYING)) as injection: ...``;
    ``injection.await_bitten()`` returns when the witness has seen the fault. A fault whose block is never entered is an
    error.
    """
    from pytest_kmigrate.plugin import living

    return living.injector(kmigrate_run)


@pytest.fixture
def expect(kmigrate_run: "Run") -> "Expect":
    """``expect("name", actual, equals=..., within_s=60, kind=Kind.LIVENESS)`` records whether the value is reached.

    ``verify`` judges it. The default kind is ``Kind.SAFETY``; with ``kind=None`` the test only asks, and nothing is
    judged by the answer. ``requirements=[...]`` names the requirements it speaks for; without it, all of the test.
    """
    from pytest_kmigrate.plugin import living

    return living.expecting(kmigrate_run)


@pytest.fixture
def verify(request: pytest.FixtureRequest, kmigrate_run: "Run") -> "Verify":
    """``verify(checks.no_acked_record_lost(), ...)`` ends the traffic, completes the evidence and judges the run.

    The test fails unless every verdict conforms, or if it ends without calling ``verify`` or ``verify_clients``.
    """
    from pytest_kmigrate.plugin import living

    return living.verifier(request.node, kmigrate_run)
