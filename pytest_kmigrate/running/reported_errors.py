"""Errors that a node has reported, wherever an operator would look for them."""

import re

from pytest_kmigrate.model.event import EventKind, Recorder
from pytest_kmigrate.model.protocols import Cluster

_COUNTER = "MetadataErrorCount"


def reported_errors(cluster: Cluster, recorder: Recorder, node: str, *, about: str) -> int:
    """How many errors a node has reported so far.

    Those that its metric counts since its last start, its deaths, and lines of its log at level ERROR or FATAL that
    have the word ``about``, in any case: others are about something else.
    """
    line = re.compile(rf"^\S+ \S+ (?:ERROR|FATAL) .*\b{re.escape(about)}\b", re.IGNORECASE | re.MULTILINE)
    log = cluster.node(node).log
    logged = line.findall(log.read_text(encoding="utf-8", errors="replace")) if log.exists() else []
    deaths = [each for each in recorder.events if each.kind is EventKind.NODE_DIED and each.node == node]
    return int(cluster.metrics(node, [_COUNTER])[_COUNTER] or 0) + len(deaths) + len(logged)
