"""Reads metrics of live nodes: where the node of a provider meets the JMX probe."""

from collections.abc import Iterable, Mapping

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.protocols import Node
from pytest_kmigrate.probes.jmx import CATALOGUES, read_many
from pytest_kmigrate.providers.process.readiness import zookeeper_mode

_ANSWER_WITHIN_S = 1.0


def read_metrics(node: Node, names: Iterable[str]) -> Mapping[str, float | None]:
    """Metrics of a broker or controller by the catalogue's names; None for each when it does not answer in time."""
    catalogue = CATALOGUES[node.spec.role.value]
    known = {name: catalogue[name] for name in names if name in catalogue}
    try:
        return read_many(node.metrics_url, known, _ANSWER_WITHIN_S)
    except (OSError, ClusterError):  # paused, starting or gone: that is a fact of the series, not an error
        return dict.fromkeys(known)


def zookeeper_mode_of(node: Node) -> str | None:
    """``leader``, ``follower`` or ``standalone``; None when the server does not serve."""
    return zookeeper_mode(node.address)
