"""Every piece of software a cluster of processes needs, on this machine, downloads included."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from pytest_kmigrate.distributions.agents import byteman_jar, jacoco_jar, jolokia_jar
from pytest_kmigrate.distributions.class_names import has_classes
from pytest_kmigrate.distributions.classes import digest_of_classes
from pytest_kmigrate.distributions.java import find_java
from pytest_kmigrate.distributions.java_tools.building import agent_jar
from pytest_kmigrate.distributions.kafka import Distribution, resolve
from pytest_kmigrate.distributions.steady_clients import have_steady_clients
from pytest_kmigrate.distributions.toxiproxy import toxiproxy_server
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.provider import Artifact, Instruments
from pytest_kmigrate.model.topology import Topology

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Software:
    """Everything that must be on disk before a cluster can be provisioned; distributions by version or path."""

    java: Path
    distributions: Mapping[str, Distribution]
    resolve: Callable[[str], Distribution]
    """Gets another one onto this machine."""
    jolokia: Path
    byteman: Path
    toxiproxy: Path
    jacoco: Path | None = None
    """The agent that records what is executed; None: nothing is recorded."""
    planter: Path | None = None
    """The agent that loads a changed class; None: none is."""

    @property
    def artifacts(self) -> dict[str, Artifact]:
        """The distributions as reports name them."""
        return {
            name: Artifact(
                each.version,
                each.digest,
                each.build,
                each.image.id if each.image else None,
                digest_of_classes(each.jars),
            )
            for name, each in self.distributions.items()
        }

    @property
    def lacking(self) -> frozenset[str]:
        """Capabilities that a cluster of these distributions lacks."""
        return frozenset[str]().union(*(each.image.cannot for each in self.distributions.values() if each.image))


@lru_cache
def resolved(kafka: str, progress: Progress) -> Distribution:
    """A distribution by version or path; what is verified once stays verified for this process."""
    return resolve(kafka, progress=progress)


def software_for(
    topology: Topology, progress: Progress, bring: Callable[[str, Progress], Distribution] = resolved
) -> Software:
    """Everything on disk that this topology's nodes run, and the topology's own Kafka, which nodes may be rolled to."""
    have_steady_clients(progress)
    named = {topology.kafka, *(node.kafka for node in topology.nodes)}
    return Software(
        java=find_java().path,
        distributions={kafka: bring(kafka, progress) for kafka in sorted(named)},
        resolve=lambda kafka: bring(kafka, progress),
        jolokia=jolokia_jar(progress),
        byteman=byteman_jar(progress),
        toxiproxy=toxiproxy_server(progress),
    )


def instrumented(software: Software, instruments: Instruments, progress: Progress) -> Software:
    """The same with the agents that these instruments need besides.

    WrongUseError if classes are to be watched of which no distribution has any, and for a mutant of such a class.
    """
    jars = tuple(jar for each in software.distributions.values() for jar in each.jars)
    if mutant := instruments.mutant:
        if jars and not has_classes(jars, (mutant.class_name,)):
            raise WrongUseError(
                f"--kmigrate-mutant: expected {mutant.class_name}, which {mutant.id} changes, in the jars of "
                f"{', '.join(sorted(software.distributions))}, got no such class; plant it in the Kafka it was made of"
            )
        software = replace(software, planter=agent_jar("MutantPlanter", progress))
    if not instruments.watched:
        return software
    if jars and not has_classes(jars, tuple(instruments.watched)):
        raise WrongUseError(
            f"--kmigrate-exercise: expected classes {', '.join(instruments.watched)} in the jars of "
            f"{', '.join(sorted(software.distributions))}, got none of them; if this Kafka has other packages, name "
            "them by --kmigrate-classes, such as com.acme.kafka.raft.*"
        )
    return replace(software, jacoco=jacoco_jar(progress))
