"""A migration in dual write, of whose metadata both sides were taken at one moment."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from tests.unit.checkers.histories import event, history, phase, snapshot, znode
from tests.unit.checkers.images import FULL

LOG = replace(FULL, source="metadata-log", extra={"migration_states": [], "record_counts": {}})
CLAIM = '{"version":2,"brokerid":3000,"timestamp":"1","kraftControllerEpoch":1}'
TAKEOVER_MS, HYBRID_MS, SETTLED_MS = 10_000, 11_000, 30_000


def zookeeper(log: MetadataImage = LOG, **unlike: Any) -> MetadataImage:
    """What ZooKeeper holds: what the log does, but for these families."""
    known = tuple(family for family in log.known if family != "features")
    return replace(log, source="zookeeper", known=known, features={}, extra={}, **unlike)


def settled(at_ms: int, label: str, *sides: str) -> list[Event]:
    """Images of these sides were taken together."""
    labels = [f"{label}-{side}" for side in sides]
    return [*(snapshot(at_ms, each) for each in labels), event(EventKind.SETTLED, at_ms, images=labels, took_s=0.5)]


def migrated(
    events: Iterable[Event] = (),
    *,
    log: MetadataImage = LOG,
    other: MetadataImage | None = None,
    in_phase: str = "HYBRID",
    requirements: tuple[str, ...] = (),
    **more: Any,
) -> History:
    """A run that took over after 10 s, reached dual write after 11 s, and settled after 30 s."""
    sides = {"after-log": log, "after-zookeeper": zookeeper(log) if other is None else other}
    more.setdefault("znodes", [])
    more["znodes"] = [znode(TAKEOVER_MS, "/controller", CLAIM), *more["znodes"]]
    edges = [phase(0, "ZOOKEEPER"), phase(HYBRID_MS, "HYBRID")]
    edges += [phase(20_000, in_phase)] if in_phase != "HYBRID" else []
    all_events = [*edges, *settled(SETTLED_MS, "after", "log", "zookeeper"), *events]
    return history(events=all_events, images={**sides, **more.pop("images", {})}, requirements=requirements, **more)
