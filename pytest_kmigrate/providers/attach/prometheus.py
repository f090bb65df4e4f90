"""Metrics by an exporter of Prometheus in each node; how it names them is a dialect, a table of ``dialects.toml``."""

import math
import threading
import time
import urllib.request
from collections.abc import Iterable, Mapping
from http.client import HTTPException

from prometheus_client.parser import text_string_to_metric_families

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.metrics import CATALOGUES, MBean
from pytest_kmigrate.providers.attach.file.dialects import series, series_of
from pytest_kmigrate.providers.attach.file.loading import Site

_ANSWER_WITHIN_S = 1.0
_KEPT_FOR_S = 0.4
"""A scrape has all metrics of a node and costs it more than a question about one."""

Scraped = Mapping[str, list[tuple[frozenset[tuple[str, str]], float]]]
"""Values by name, each with all of its labels."""


class PrometheusReader:
    """Implements ``MetricsReader``."""

    def __init__(self, site: Site, url: str, dialect: str, overrides: Mapping[str, str]) -> None:
        self._site = site
        self._url = url
        self._dialect = dialect
        self._overrides = {name: series(text) for name, text in overrides.items()}
        self._lock = threading.Lock()
        self._scraped: dict[str, tuple[float, Scraped]] = {}

    def read(self, node: str, names: Iterable[str]) -> Mapping[str, float | None]:
        """Of one scrape, which is kept for a moment."""
        catalogue = CATALOGUES[self._site.topology.node(node).role.value]
        found = self._all(node)
        return {name: self._value(found, name, catalogue[name]) for name in names if name in catalogue}

    def requests(self, node: str) -> Mapping[tuple[str, int], int]:
        """Exporters name them in too many ways."""
        raise ClusterError(f"{node}: expected its counts of requests; an exporter of Prometheus shows none in one way")

    def release(self, node: str) -> str | None:
        """A text, which exporters leave out."""
        return None

    def close(self) -> None:
        """Nothing is open."""

    def _value(self, found: Scraped, name: str, mbean: MBean) -> float | None:
        wanted = self._overrides.get(name) or series_of(self._dialect, mbean)
        if wanted is None:
            return None
        values = [value for labels, value in found.get(wanted[0], ()) if wanted[1] <= labels]
        return values[0] if len(values) == 1 and math.isfinite(values[0]) else None

    def _all(self, node: str) -> Scraped:
        with self._lock:
            at_s, found = self._scraped.get(node, (0.0, {}))
        if time.monotonic() - at_s < _KEPT_FOR_S:
            return found
        found = _scraped(self._site.filled(self._url, node))
        with self._lock:
            self._scraped[node] = (time.monotonic(), found)
        return found


def _scraped(url: str) -> Scraped:
    """Every series by its name, in small letters; nothing of a node that does not answer, or not in this format."""
    found: dict[str, list[tuple[frozenset[tuple[str, str]], float]]] = {}
    try:
        with urllib.request.urlopen(url, timeout=_ANSWER_WITHIN_S) as answer:  # noqa: S310 - the format lets HTTP only
            text = answer.read().decode()
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                labels = frozenset((key.lower(), value.lower()) for key, value in sample.labels.items())
                found.setdefault(sample.name.lower(), []).append((labels, sample.value))
    except (OSError, HTTPException, ValueError):  # paused, starting or gone: a fact of the series, not an error
        return {}
    return found
