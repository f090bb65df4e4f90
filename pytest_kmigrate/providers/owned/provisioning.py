"""What is the same about every cluster of JVMs, wherever these run: its files, its links, its description."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from pytest_kmigrate.distributions.cache import cache_dir
from pytest_kmigrate.distributions.java import unpacking_in
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.model.provider import Instruments
from pytest_kmigrate.providers.owned.cluster import OwnedCluster
from pytest_kmigrate.providers.owned.commands import Run, run_here
from pytest_kmigrate.providers.owned.jvm import Jvm
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.providers.owned.network.namespaces import HERE, Namespace
from pytest_kmigrate.providers.owned.protection.security import client_file, protect
from pytest_kmigrate.providers.owned.software import Software
from pytest_kmigrate.providers.owned.state import STATE_FILE
from pytest_kmigrate.providers.owned.surroundings import Supervised, Surroundings


def record_loss(recorder: Recorder, ended: str) -> None:
    """Record that the supervisor is gone, and the nodes with it."""
    recorder.record(HarnessTrouble("the supervisor of the cluster is gone", ended, lost="supervisor"))


def surroundings_of(  # noqa: PLR0913 - each a thing of its own
    addresses: Addresses,
    software: Software,
    supervision: Supervised,
    recorder: Recorder,
    *,
    scratch: Path,
    logs: Path,
    instruments: Instruments,
    network: Namespace = HERE,
    run: Run = run_here,
) -> Surroundings:
    """What nodes share, with the files that their command lines name written into ``scratch``."""
    scratch.chmod(0o700)  # passwords lie there, of the nodes and of their clients
    protection = protect(addresses, scratch / "security")
    etc = scratch / "etc"
    unpacking = unpacking_in(scratch, cache_dir()) if network is HERE else ()
    jvm = Jvm(
        software.java,
        software.jolokia,
        software.byteman,
        instruments.rules,
        etc,
        protection.zookeeper,
        run,
        unpacking,
        software.jacoco,
        instruments.watched,
        software.planter,
        instruments.mutant,
        instruments.clocks,
    )
    jvm.write_files()
    return Surroundings(addresses, protection, supervision, jvm, recorder, scratch, logs, software.resolve, network)


@contextmanager
def assembled(software: Software, around: Surroundings, description: Mapping[str, object]) -> Iterator[OwnedCluster]:
    """The cluster with its links, its proxies' server being up; ``description``: what ``kmigrate ps`` needs besides."""
    cluster = OwnedCluster(around.addresses.topology, software, around)
    with closing(cluster.jolokia):
        cluster.links.create()
        _describe(cluster, around, description)
        yield cluster


def _describe(cluster: OwnedCluster, around: Surroundings, description: Mapping[str, object]) -> None:
    """For ``kmigrate ps``, ``logs``, ``down`` and ``gc``."""
    for_tools = client_file(around.protection, around.scratch)
    state = {
        **description,
        "supervisor": cluster.supervision.pid,
        "topology": cluster.topology.name,
        "kafka": cluster.topology.kafka,
        "bootstrap": cluster.bootstrap_servers(),
        "client_file": str(for_tools) if for_tools else None,
        "client_protocol": cluster.topology.security.client,
        "logs": str(around.logs.resolve()),
        "scratch": str(around.scratch),
        "nodes": {node.name: node.address for node in cluster.nodes()},
    }
    state_file = around.scratch / STATE_FILE
    partial = state_file.with_suffix(".partial")
    partial.write_text(json.dumps(state, indent=1))
    partial.replace(state_file)
