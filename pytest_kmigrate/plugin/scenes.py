"""Scenes: modules and classes whose tests share a cluster, one after the other."""

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.plugin.asking import chosen_topology, conditions_of, start_of
from pytest_kmigrate.plugin.marks import is_of_ours, marks_of

if TYPE_CHECKING:
    from pytest_kmigrate.running import SharedCluster

_SHARED = pytest.StashKey[tuple[Hashable, "SharedCluster"]]()
_DIGEST_LENGTH = 12


def scene_of(item: pytest.Item) -> pytest.Collector | None:
    """The module or class whose marker ``scene`` counts for a test; WrongUseError when it stands elsewhere."""
    for node, mark in marks_of(item, "scene"):
        if mark.args or mark.kwargs or not isinstance(node, pytest.Module | pytest.Class):
            raise WrongUseError(
                f"marker {mark.name}: expected on a module or a class, and nothing in it; "
                f"write pytestmark = pytest.mark.{mark.name}, or @pytest.mark.{mark.name} before a class"
            )
        return node
    return None


def shared_by(item: pytest.Item) -> "SharedCluster | None":
    """The cluster that a test's scene has now, if the test is in one and has been given it."""
    scene = scene_of(item)
    held = scene.stash.get(_SHARED, None) if scene else None
    return held[1] if held else None


def shared_as(item: pytest.Item, scene: pytest.Collector, make: Callable[[], "SharedCluster"]) -> "SharedCluster":
    """The cluster of a scene, made for the first of those of its tests that want the same one, and ended after them."""
    wanted = _wanted(item)
    held = scene.stash.get(_SHARED, None)
    if held is None or held[0] != wanted:
        if held is not None:
            held[1].close()
        held = wanted, make()
        scene.stash[_SHARED] = held
        scene.addfinalizer(held[1].close)
    return held[1]


def _wanted(item: pytest.Item) -> Hashable:
    """Tests of a scene share a cluster when these are equal: its topology, and how they find it when they begin."""
    return chosen_topology(item), start_of(item), tuple(conditions_of(item))


def clusters_of(items: Iterable[pytest.Item]) -> int:
    """How many clusters these tests start: one each, or one for all tests of a scene that want the same."""
    wanted = {(scene.nodeid if (scene := scene_of(item)) else item.nodeid, _wanted(item)) for item in items}
    return len(wanted)


class _Grouped:
    """A test as pytest-xdist's ``loadgroup`` wants to see it: its name ends with that of its group."""

    def __init__(self, item: pytest.Item, group: str) -> None:
        self.nodeid = f"{item.nodeid}@{group}"
        self._item = item

    def __getattr__(self, name: str) -> object:
        return getattr(self._item, name)


@contextmanager
def grouped(session: pytest.Session) -> Iterator[None]:
    """Show the tests of a session with their groups while the block runs.

    The tests themselves keep their names, or ``--lf`` would not know them again.
    """
    items = session.items
    session.items = [_grouped(item) for item in items]
    try:
        yield
    finally:
        session.items = items


def _grouped(item: pytest.Item) -> pytest.Item:
    scene = scene_of(item) if is_of_ours(item) else None
    if scene is None:
        return item
    digest = hashlib.sha256(repr((scene.nodeid, _wanted(item))).encode()).hexdigest()
    return cast("pytest.Item", _Grouped(item, f"scene-{digest[:_DIGEST_LENGTH]}"))
