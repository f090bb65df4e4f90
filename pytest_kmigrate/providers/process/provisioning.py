"""From a Topology to a cluster of JVMs on one leased loopback block, and everything gone at its end."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.process import lease as leases
from pytest_kmigrate.providers.process.cluster import ProcessCluster
from pytest_kmigrate.providers.process.jvm import Jvm
from pytest_kmigrate.providers.process.network.addresses import Addresses
from pytest_kmigrate.providers.process.network.proxies import start_toxiproxy
from pytest_kmigrate.providers.process.protection.security import client_file, protect
from pytest_kmigrate.providers.process.software import Software
from pytest_kmigrate.providers.process.supervision import Supervision
from pytest_kmigrate.providers.process.surroundings import Surroundings


@contextmanager
def provision(
    topology: Topology,
    software: Software,
    recorder: Recorder,
    logs: Path,
    *,
    rules: Path | None = None,
    keep: Callable[[], bool] = lambda: False,
) -> Iterator[ProcessCluster]:
    """A cluster whose links work and whose nodes are not started yet; nothing of it is left when the block ends.

    ``logs`` gets a folder per node; ``rules`` is a Byteman script for every Kafka JVM; ``keep``, asked at the end,
    lets the cluster outlive us.
    """
    lease = leases.take(topology)
    supervision = None
    try:
        supervision = Supervision(lease.scratch, lease.lock)
        lease.scratch.chmod(0o700)  # passwords lie there, of the nodes and of their clients
        addresses = Addresses(topology, lease.block)
        protection = protect(addresses, lease.scratch / "security")
        etc = lease.scratch / "etc"
        jvm = Jvm(software.java, software.jolokia, software.byteman, rules, etc, protection.zookeeper)
        jvm.write_files()
        around = Surroundings(addresses, protection, supervision, jvm, recorder, lease.scratch, logs, software.resolve)
        _start_toxiproxy(software.toxiproxy, around)
        cluster = ProcessCluster(topology, software, around)
        with closing(cluster.jolokia):
            cluster.links.create()
            _describe(lease, cluster, logs, client_file(protection, lease.scratch))
            yield cluster
    finally:
        if supervision is not None:
            if keep():
                supervision.keep()
            else:
                supervision.end()
        lease.lock.close()


def _start_toxiproxy(program: Path, around: Surroundings) -> None:
    def gone(code: int) -> None:
        around.recorder.record(HarnessTrouble("the links' proxies are gone", f"exit code {code}"))

    log = around.logs / "toxiproxy" / "server.log"
    start_toxiproxy(program, around.addresses.toxiproxy, around.supervision, around.scratch, log, gone)


def _describe(lease: leases.Lease, cluster: ProcessCluster, logs: Path, for_tools: Path | None) -> None:
    """For ``kmigrate ps``, ``logs``, ``down`` and ``gc``."""
    state = {
        "block": lease.block,
        "supervisor": cluster.supervision.pid,
        "topology": cluster.topology.name,
        "kafka": cluster.topology.kafka,
        "bootstrap": cluster.bootstrap_servers(),
        "client_file": str(for_tools) if for_tools else None,
        "client_protocol": cluster.topology.security.client,
        "logs": str(logs.resolve()),
        "scratch": str(lease.scratch),
        "nodes": {node.name: node.address for node in cluster.nodes()},
    }
    partial = lease.state_file.with_suffix(".partial")
    partial.write_text(json.dumps(state, indent=1))
    partial.replace(lease.state_file)
