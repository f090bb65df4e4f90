"""The same three stretches by a provider of ours, with everything a run of a test has around it."""

import time
from pathlib import Path

from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.provider import Provider
from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.running import Claim, RunSettings, open_run
from pytest_kmigrate.waiting import until
from tests.bench.provider.bare import in_dual_write
from tests.bench.timings import Timings

_DUAL_WRITE_WITHIN_S = 60


def measure(provider: Provider, topology: Topology, runs: Path) -> Timings:
    """One round: provision and serve, advance to HYBRID, leave.

    The migration is timed to the end point of the bare script too: the state metric, by which we know HYBRID, may be
    there a moment before the driver's log shows dual write.
    """
    began = time.perf_counter()
    with open_run(RunSettings(runs, seed=1), provider, topology, Claim("bench"), lambda _: None) as run:
        ready = time.perf_counter()
        run.driver.advance_to(Phase.HYBRID)
        hybrid = time.perf_counter()
        logs = [node.log for node in run.cluster.nodes(Role.CONTROLLER)]
        until(lambda: in_dual_write(logs), awaited="dual write in a controller's log", within_s=_DUAL_WRITE_WITHIN_S)
        migrated = time.perf_counter()
    gone = time.perf_counter()
    return Timings(ready - began, migrated - ready, gone - migrated, {"advance_to_hybrid_s": hybrid - ready})
