"""From a Topology to a cluster of containers on a bridge of its own, and everything gone at its end."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.provider import NOTHING_LOADED, Instruments
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.docker.addresses import NETWORKS, BridgeAddresses, range_of_links
from pytest_kmigrate.providers.docker.containers import Containers, Site
from pytest_kmigrate.providers.docker.engine import EMPTY_ROOT, Engine
from pytest_kmigrate.providers.docker.mounts import Mounts
from pytest_kmigrate.providers.docker.standing import FOLDER, LABEL, LOCK, OWNER
from pytest_kmigrate.providers.owned.cluster import OwnedCluster
from pytest_kmigrate.providers.owned.network.namespaces import Namespace
from pytest_kmigrate.providers.owned.network.proxies import start_toxiproxy
from pytest_kmigrate.providers.owned.provisioning import assembled, record_loss, surroundings_of
from pytest_kmigrate.providers.owned.software import Software
from pytest_kmigrate.providers.owned.state import claim_state_dir, state_dir, try_hold
from pytest_kmigrate.providers.owned.supervision import Supervision

_ROOT = 'ip link set lo up && ip route add local "$0" dev lo && exec cat >/dev/null'


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
    """A cluster whose links work and whose nodes are not started yet; nothing of it is left when the block ends."""
    if shutil.which("ip") is None:
        raise EnvironmentLackError("expected the program ip, got none on PATH; on Debian: apt-get install -y iproute2")
    engine = Engine()
    claim_state_dir()
    # In its name who made it: that distinguishes what is in use from what a dead run left.
    scratch = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-", dir=state_dir()))
    lock = try_hold(scratch / LOCK)
    assert lock is not None, "the folder has just been made"
    logs.mkdir(parents=True, exist_ok=True)
    supervision = Supervision(scratch, [lock.fileno()], partial(record_loss, recorder))
    ends: Supervision | Containers = supervision
    try:
        mounts = Mounts(software, topology, [scratch, logs])
        site, pid = _site(engine, supervision, topology, scratch, mounts)
        ends = containers = Containers(engine, supervision, site, recorder)
        with_mounts = replace(software, resolve=lambda kafka: mounts.add(software.resolve(kafka)))
        start_toxiproxy(software.toxiproxy, site.addresses.toxiproxy, logs, recorder, containers.start_beside)
        around = surroundings_of(
            site.addresses,
            with_mounts,
            containers,
            recorder,
            scratch=scratch,
            logs=logs,
            instruments=instruments,
            network=Namespace(pid),
            run=containers.run,
        )
        with assembled(software, around, {"block": scratch.name, "engine": str(engine.socket)}) as cluster:
            yield cluster
    finally:
        if keep():
            ends.keep()
        else:
            ends.end()
        lock.close()
        engine.close()


def _site(
    engine: Engine, supervision: Supervision, topology: Topology, scratch: Path, mounts: Mounts
) -> tuple[Site, int]:
    """The network and the root container, running, and the process of that on this machine."""
    labels = {LABEL: str(scratch), OWNER: str(os.getpid())}
    engine.make_empty_root()
    addresses = BridgeAddresses(topology, _leased(engine, scratch.name, labels))
    root = engine.create(
        EMPTY_ROOT,
        ["/bin/sh", "-c", _ROOT, range_of_links(addresses.block)],
        (scratch.name, addresses.toxiproxy[0]),
        labels=labels,
        stdin_open=True,
        StdinOnce=True,
        CapDrop=["ALL"],
        CapAdd=["NET_ADMIN"],
        LogConfig={"Type": "none"},
        **mounts.options(),
    )
    supervision.hold(engine.socket, root, f"{LABEL}={scratch}")
    pid = engine.start(root)
    if not Path(f"/proc/{pid}").exists():
        raise EnvironmentLackError(
            f"{engine.socket}: expected an engine whose containers are processes of this machine, got process {pid}, "
            "which is none here; run pytest where the engine is, not in a container or beside a virtual machine"
        )
    return Site(scratch.name, root, labels, addresses, mounts), pid


def _leased(engine: Engine, name: str, labels: dict[str, str]) -> int:
    """The number of the first free network; the engine lends it once, also of two that ask at the same time."""
    for block, network in enumerate(NETWORKS):
        if engine.make_network(name, str(network), labels):
            return block
    raise EnvironmentLackError(
        f"no free network: expected one of {len(NETWORKS)} in 198.18.0.0/15 to be free at {engine.socket}; "
        "`kmigrate ps` shows who has them, `kmigrate gc` clears what dead runs left"
    )
