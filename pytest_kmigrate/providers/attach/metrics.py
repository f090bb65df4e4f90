"""The metrics of a standing cluster, wherever its file says that they are read."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.providers.attach.file.loading import Site
from pytest_kmigrate.providers.attach.prometheus import PrometheusReader
from pytest_kmigrate.providers.jolokia import JolokiaClient

_VERSION = ("kafka.server:type=app-info,id={id}", "Version")


class MetricsReader(Protocol):
    """One way to read them; closed by ``close``."""

    def read(self, node: str, names: Iterable[str]) -> Mapping[str, float | None]:
        """Those of these metrics that nodes of this role have; None for each that cannot be read now."""
        ...

    def requests(self, node: str) -> Mapping[tuple[str, int], int]:
        """How many requests the node has received since its start; ClusterError where these metrics do not say."""
        ...

    def release(self, node: str) -> str | None:
        """The release that the node says it runs; None where these metrics do not say, or it does not answer."""
        ...

    def close(self) -> None:
        """End; safe to call twice."""
        ...


class NoMetrics:
    """Stands where a file names none."""

    def read(self, node: str, names: Iterable[str]) -> Mapping[str, float | None]:
        """Nothing."""
        return dict.fromkeys(names)

    def requests(self, node: str) -> Mapping[tuple[str, int], int]:
        """Not known."""
        raise ClusterError(f"{node}: expected its counts of requests; the attach file names no metrics")

    def release(self, node: str) -> str | None:
        """Not known."""
        return None

    def close(self) -> None:
        """Nothing is open."""


class JolokiaReader:
    """By a Jolokia agent in each node."""

    def __init__(self, site: Site, url: str) -> None:
        self._site = site
        self._url = url
        self._jolokia = JolokiaClient()

    def read(self, node: str, names: Iterable[str]) -> Mapping[str, float | None]:
        """Many in one request."""
        return self._jolokia.metrics_at(self._at(node), self._site.topology.node(node).role, names)

    def requests(self, node: str) -> Mapping[tuple[str, int], int]:
        """As the node counts them."""
        try:
            return self._jolokia.requests_at(self._at(node))
        except OSError as error:
            raise ClusterError(f"{node}: expected its counts of requests; got {error}") from error

    def release(self, node: str) -> str | None:
        """As Kafka reports it of itself."""
        mbean, attribute = _VERSION
        named = mbean.format(id=self._site.topology.node(node).node_id)
        try:
            return self._jolokia.text_at(self._at(node), (named, attribute))
        except (OSError, ClusterError):
            return None

    def close(self) -> None:
        """Close the idle connections."""
        self._jolokia.close()

    def _at(self, node: str) -> str:
        return self._site.filled(self._url, node)


def reader_of(site: Site) -> MetricsReader:
    """What reads the metrics of this site."""
    metrics = site.file.metrics
    if metrics is None:
        return NoMetrics()
    if metrics.kind == "jolokia":
        return JolokiaReader(site, metrics.url)
    assert metrics.dialect is not None, "a file without it is refused"
    return PrometheusReader(site, metrics.url, metrics.dialect, metrics.series)
