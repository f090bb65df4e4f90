"""What a session does with a topology that the command line names: said before any cluster is started."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate.plugin.options import options_of
from pytest_kmigrate.plugin.scenes import clusters_of
from pytest_kmigrate.providers.choosing import OF_ONE_FILE

if TYPE_CHECKING:
    from pytest_kmigrate.model.topology import Topology

_START_S_A_NODE = 4.3
"""Eleven nodes with SASL_SSL and ACLs took 47 s on two cores."""
_TEST_S = 30
_MINUTE_S = 60
_MOST_REASONS = 5


def forecast(
    config: pytest.Config, topology: "Topology", items: Sequence[pytest.Item], left_out: Mapping[pytest.Item, str]
) -> list[str]:
    """Lines about what runs on this topology, and what does not and why.

    ``items``: all tests that need a cluster; ``left_out``: those that are about another shape, each with the reason.
    """
    runs = [item for item in items if item.get_closest_marker("skip") is None]
    by_file = Counter(item.path.name for item in runs)
    place, effort = f"{topology.name} ({len(topology.nodes)} nodes)", _effort(config, topology, runs)
    lines = [f"kmigrate: on {place} {_counted(len(runs), 'test')} of {len(items)} can run{effort}"]
    if runs:
        lines.append(f"kmigrate:   {', '.join(f'{name} {count}' for name, count in sorted(by_file.items()))}")
    if left_out:
        lines.append(f"kmigrate: {_counted(len(left_out), 'test')} written for another shape (-rs lists each):")
        reasons = Counter(left_out.values()).most_common()
        lines += [f"kmigrate:   {count} {reason.rpartition(': ')[2]}" for reason, count in reasons[:_MOST_REASONS]]
        rest = sum(count for _, count in reasons[_MOST_REASONS:])
        lines += [f"kmigrate:   {rest} for other reasons"] if rest else []
    return lines


def _effort(config: pytest.Config, topology: "Topology", runs: Sequence[pytest.Item]) -> str:
    """How many clusters, and roughly how long; nothing where none is started."""
    if options_of(config).provider in OF_ONE_FILE or not runs:
        return ""
    clusters, workers = clusters_of(runs), getattr(config, "workerinput", {}).get("workercount", 1)
    seconds = clusters * len(topology.nodes) * _START_S_A_NODE + len(runs) * _TEST_S
    minutes = max(1, round(seconds / _MINUTE_S / workers))
    return f": {_counted(clusters, 'cluster')}, roughly {_counted(minutes, 'minute')} on a machine with 2 cores"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
