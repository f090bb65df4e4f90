"""Brings every piece of software a topology needs onto this machine, downloads included."""

from collections.abc import Callable
from functools import lru_cache

from pytest_kmigrate.distributions.agents import byteman_jar, jolokia_jar
from pytest_kmigrate.distributions.java import find_java
from pytest_kmigrate.distributions.kafka import Distribution, resolve
from pytest_kmigrate.distributions.toxiproxy import toxiproxy_server
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.process.cluster import Software

Progress = Callable[[str], None]


def software_for(topology: Topology, progress: Progress) -> Software:
    """Everything on disk that this topology's nodes run; what is verified once stays verified for this process."""
    return Software(
        java=find_java().path,
        distributions={kafka: _resolved(kafka, progress) for kafka in {node.kafka for node in topology.nodes}},
        jolokia=jolokia_jar(progress),
        byteman=byteman_jar(progress),
        toxiproxy=toxiproxy_server(progress),
    )


@lru_cache
def _resolved(kafka: str, progress: Progress) -> Distribution:
    return resolve(kafka, progress=progress)
