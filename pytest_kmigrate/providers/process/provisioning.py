"""From a Topology to a cluster of JVMs on one leased loopback block, and everything gone at its end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.provider import NOTHING_LOADED, Instruments
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.owned.cluster import OwnedCluster
from pytest_kmigrate.providers.owned.commands import Command
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.providers.owned.network.proxies import start_toxiproxy
from pytest_kmigrate.providers.owned.provisioning import assembled, record_loss, surroundings_of
from pytest_kmigrate.providers.owned.software import Software
from pytest_kmigrate.providers.owned.supervision import ON_EXIT, Supervision
from pytest_kmigrate.providers.process import lease as leases


@contextmanager
def provision(
    topology: Topology,
    software: Software,
    recorder: Recorder,
    logs: Path,
    *,
    instruments: Instruments = NOTHING_LOADED,
    keep: Callable[[], bool] = lambda: False,
) -> Iterator[OwnedCluster]:
    """A cluster whose links work and whose nodes are not started yet; nothing of it is left when the block ends.

    ``logs`` gets a folder per node; ``keep``, asked at the end, lets the cluster outlive us.
    """
    lease = leases.take(topology)
    supervision = None
    try:
        supervision = Supervision(lease.scratch, lease.lock.filenos, partial(record_loss, recorder))
        addresses = Addresses(topology, lease.block)
        around = surroundings_of(
            addresses, software, supervision, recorder, scratch=lease.scratch, logs=logs, instruments=instruments
        )

        def start(command: list[str], log: Path, on_exit: ON_EXIT) -> None:
            supervision.spawn(Command(tuple(command)), cwd=lease.scratch, log=log, on_exit=on_exit)

        start_toxiproxy(software.toxiproxy, addresses.toxiproxy, logs, recorder, start)
        with assembled(software, around, {"block": lease.block}) as cluster:
            yield cluster
    finally:
        if supervision is not None:
            if keep():
                supervision.keep()
            else:
                supervision.end()
        lease.lock.close()
