"""An exporter of Prometheus in each node of an operator."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_kmigrate.distributions.jars import cached_jars
from pytest_kmigrate.distributions.manifest import Jar, Manifest
from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.topology.loading import find, load

_JAR = Jar(
    "jmx_prometheus_javaagent-1.0.1.jar",
    2886599,
    "7d61f737fd661610ccc14aea79764faa1ea94a340cbc8f0029b3d2edea3d80c1",
    "io.prometheus.jmx:jmx_prometheus_javaagent:1.0.1",
)
_EXPORTER = Manifest("jmx-exporter", "1.0.1", (_JAR,))
_PORT = 9404
RULES = {
    "jmx-exporter": "{}\n",
    "strimzi": r"""
lowercaseOutputName: true
rules:
- pattern: kafka\.(\w+)<type=(\w+), name=([^,>]+)><>Value
  name: kafka_$1_$2_$3
- pattern: kafka\.(\w+)<type=(\w+), name=([^,>]+)><>Count
  name: kafka_$1_$2_$3_count
- pattern: kafka\.server<type=raft-metrics><>([^:]+)
  name: kafka_server_raftmetrics_$1
""",
}
"""By the dialect that comes of them; those of the second are few, in the same style."""


def exporting(topology: str, dialect: str, folder: Path) -> Topology:
    """The cluster, with an exporter in each node of Kafka."""
    config, jar = folder / "exporter.yaml", cached_jars(_EXPORTER, print) / _JAR.name
    config.write_text(RULES[dialect])

    def agent(name: str) -> Sequence[str]:
        return (f"-javaagent:{jar}={name}:{_PORT}:{config}",)

    wish = load(find(topology))
    nodes = [
        node if node.role is Role.ZOOKEEPER else replace(node, jvm=(*node.jvm, *agent(node.name)))
        for node in wish.nodes
    ]
    return replace(wish, nodes=tuple(nodes))


def metrics_table(dialect: str) -> str:
    """What an attach file has of it."""
    return f'[metrics]\nkind = "prometheus"\ndialect = "{dialect}"\nurl = "http://{{host}}:{_PORT}/metrics"\n'
