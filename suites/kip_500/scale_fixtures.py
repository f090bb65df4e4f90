"""Fixtures of KIP-500 tests that measure what metadata of many partitions costs."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate.model.capabilities import Capability, needing

if TYPE_CHECKING:
    from pytest_kmigrate.running import Run

__all__ = ["costs"]


@pytest.fixture
@needing(Capability.START, Capability.METRICS)
def costs(
    kmigrate_run: "Run",
    standby: Callable[[], str],
    formatted_anew: Callable[[str], None],
    figure: Callable[..., None],
) -> Callable[[int], None]:
    """``costs(10_000)`` measures what so many partitions cost: log, heaps, and how long it takes to load them."""
    from time import monotonic

    from pytest_kmigrate.model.errors import ClusterError

    cluster = kmigrate_run.cluster

    def seconds(action: Callable[[], None]) -> float:
        began = monotonic()
        action()
        return monotonic() - began

    def measured(partitions: int) -> None:
        def of_partitions(measure: str, value: float, unit: str) -> None:
            figure(measure, value, unit, at=partitions, of="partitions")

        name = standby()
        log_bytes = kmigrate_run.view.metric(name, "MetadataLogBytes")
        if log_bytes is None:
            raise ClusterError(f"{name}: expected the metric MetadataLogBytes, got none")
        of_partitions("metadata log of a controller", log_bytes, "B")
        of_partitions("heap of a standby controller", cluster.live_heap(name), "B")
        of_partitions("heap of a broker", cluster.live_heap("broker-0"), "B")
        for node in (name, "broker-0"):
            cluster.node(node).stop()
            of_partitions(f"start of a {node.partition('-')[0]}", seconds(cluster.node(node).start), "s")
        of_partitions("start of a controller with an empty disk", seconds(lambda: formatted_anew(name)), "s")

    return measured
