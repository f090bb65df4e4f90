"""Metrics by an exporter of Prometheus in each node; how it names them is a dialect, a table of ``dialects.toml``."""

import math
import re
import threading
import time
from collections.abc import Iterable, Mapping
from http.client import HTTPException

from prometheus_client.parser import text_string_to_metric_families

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.metrics import CATALOGUES, MBean
from pytest_kmigrate.past_proxies import opened
from pytest_kmigrate.providers.attach.file.dialects import Series, series, series_of
from pytest_kmigrate.providers.attach.file.loading import Site

_ANSWER_WITHIN_S = 5.0
"""An exporter without rules looks at a thousand MBeans of a node, for the first time in more than a second."""
_KEPT_FOR_S = 0.4
"""A scrape has all metrics of a node and costs it more than a question about one."""

Scraped = Mapping[str, list[tuple[frozenset[tuple[str, str]], float]]]
"""Values by name, each with all of its labels."""
_AFTER_NAME = re.compile(r"[{\s]")


class PrometheusReader:
    """Implements ``MetricsReader``."""

    def __init__(self, site: Site, url: str, dialect: str, overrides: Mapping[str, str]) -> None:
        self._site = site
        self._url = url
        self._dialect = dialect
        self._overrides = {name: series(text) for name, text in overrides.items()}
        self._locks = {spec.name: threading.Lock() for spec in site.topology.nodes}
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
        wanted = self._wanted(name, mbean)
        if wanted is None:
            return None
        values = [value for labels, value in found.get(wanted[0], ()) if wanted[1] <= labels]
        return values[0] if len(values) == 1 and math.isfinite(values[0]) else None

    def _wanted(self, name: str, mbean: MBean) -> Series | None:
        return self._overrides.get(name) or series_of(self._dialect, mbean)

    def _all(self, node: str) -> Scraped:
        """All of the catalogue that it shows; who asks meanwhile waits for the same scrape."""
        with self._locks[node]:
            at_s, found = self._scraped.get(node, (-_KEPT_FOR_S, {}))
            if time.monotonic() - at_s < _KEPT_FOR_S:
                return found
            catalogue = CATALOGUES[self._site.topology.node(node).role.value]
            wanted = [self._wanted(name, mbean) for name, mbean in catalogue.items()]
            found = _scraped(self._site.filled(self._url, node), frozenset(each[0] for each in wanted if each))
            self._scraped[node] = (time.monotonic(), found)
            return found


def _scraped(url: str, names: frozenset[str]) -> Scraped:
    """Every series of these names, in small letters; nothing of a node that does not answer, or not in this format."""
    found: dict[str, list[tuple[frozenset[tuple[str, str]], float]]] = {}
    try:
        with opened(url, _ANSWER_WITHIN_S) as answer:
            text = answer.read().decode()
        for family in text_string_to_metric_families(_only(text, names)):
            for sample in family.samples:
                labels = frozenset((key.lower(), value.lower()) for key, value in sample.labels.items())
                found.setdefault(sample.name.lower(), []).append((labels, sample.value))
    except (OSError, HTTPException, ValueError):  # paused, starting or gone: a fact of the series, not an error
        return {}
    return found


def _only(text: str, names: frozenset[str]) -> str:
    """The lines of series of these names: a node shows 50 times as many, and to parse them takes half a second."""
    return "\n".join(line for line in text.splitlines() if _AFTER_NAME.split(line, 1)[0].lower() in names) + "\n"
