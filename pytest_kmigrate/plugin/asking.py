"""What a test asks for, by its markers and the command line; reported at collection if it is not available."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate.model.checkpoint import Start, Znode
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.plugin.display import terminal_of
from pytest_kmigrate.plugin.marks import marks_of, nearest_mark
from pytest_kmigrate.plugin.options import DEFAULT_TOPOLOGY, options_of
from pytest_kmigrate.providers.choosing import provider_named, topology_named

if TYPE_CHECKING:
    from pytest_kmigrate.model.provider import Provider
    from pytest_kmigrate.model.topology import Topology

_PROVIDER = pytest.StashKey["Provider"]()

_EXAMPLES = {
    "requirement": "ID",
    "topology": DEFAULT_TOPOLOGY,
    "since": "3.7.0",
    "until": "4.0.0",
    "known_bug": "kmigrate-1",
}
_OF_MANY = ("requirement",)
_BY_NAME: dict[str, dict[str, type]] = {
    "topology": {"zookeepers": int, "brokers": int, "controllers": int, "subject": bool}
}
"""What a marker may hold by name, beside its text or alone."""
_MORE = {"topology": " (beside it or alone: zookeepers=1, brokers=3, controllers=1, subject=True)"}
_BARE = ("spoils", "sample")
_ZNODE = re.compile(r"(/(?!\.{1,2}(/|$))[^/\0]+)+")


def marked(item: pytest.Item, name: str) -> list[str]:
    """What a test's markers of this name hold, the nearest first; WrongUseError when one holds something else."""
    found: list[str] = []
    for _, mark in marks_of(item, name):
        is_right_many = (
            len(mark.args) == 1
            or (mark.args and name in _OF_MANY)
            or (name in _BY_NAME and mark.kwargs and not mark.args)
        )
        if (
            not is_right_many
            or not _are_right(name, mark)
            or not all(isinstance(each, str | Path) for each in mark.args)
        ):
            raise WrongUseError(
                f"marker {mark.name}: expected {'texts' if name in _OF_MANY else 'one text'}, got {_shown(mark)}: "
                f'write @pytest.mark.{mark.name}("{_EXAMPLES[name]}"){_MORE.get(name, "")}'
            )
        found += map(str, mark.args)
    return found


def _are_right(name: str, mark: pytest.Mark) -> bool:
    """Whether what a marker holds by name is what it may hold."""
    expected = _BY_NAME.get(name, {})
    return all(
        isinstance(value, int) and type(value) is expected.get(key) and value > 0 for key, value in mark.kwargs.items()
    )


def provider_of(config: pytest.Config) -> "Provider":
    """The provider that the command line chose, one for the session: some ask a cluster what can be done with it."""
    if _PROVIDER not in config.stash:
        options = options_of(config)
        config.stash[_PROVIDER] = provider_named(
            options.provider, terminal_of(config).line, options.topology, options.kafka
        )
    return config.stash[_PROVIDER]


def topology_of(item: pytest.Item) -> "Topology":
    """The command line's topology, the marker's, or the default; with the distribution under test, if one is given."""
    notify, kafka = terminal_of(item.config).line, options_of(item.config).kafka
    return topology_named(provider_of(item.config), notify, chosen_topology(item), kafka)


def named_topology(item: pytest.Item, name: str, by: str) -> "Topology":
    """The topology of this name, or file beside the test; ``by`` names it, for errors."""
    notify, kafka = terminal_of(item.config).line, options_of(item.config).kafka
    return topology_named(provider_of(item.config), notify, _beside(item.path, name, by), kafka)


def chosen_topology(item: pytest.Item) -> str:
    """The file or name that the command line or the marker chose, or the default."""
    marker = _marked_topology(item)
    return options_of(item.config).topology or (DEFAULT_TOPOLOGY if marker is None else marker)


def written_for(item: pytest.Item) -> str:
    """The file or name of the topology that a test was written for: the marker's, or the default."""
    return _marked_topology(item) or DEFAULT_TOPOLOGY


def subject_of(item: pytest.Item) -> dict[str, int]:
    """What its markers ``topology`` say that a test is about: numbers of nodes, and ``subject`` for the whole of it."""
    found: dict[str, int] = {}
    for _, mark in marks_of(item, "topology"):
        found = dict(mark.kwargs) | found
    return found


def _marked_topology(item: pytest.Item) -> str | None:
    """The nearest marker's; a class stands before those that it is derived from, which pytest lists first.

    A path is relative to the test's file. WrongUseError when the test's own function has two markers, or when the file
    does not exist.
    """
    marked(item, "topology")  # whether each is right
    found = [(node, mark) for node, mark in marks_of(item, "topology") if mark.args]
    nodes = {node: mark for node, mark in found if node is not item}
    own = [str(mark.args[0]) for node, mark in found if node is item]
    if len(own) > 1:
        raise WrongUseError(f"marker topology: expected one on a test, got {', '.join(map(repr, own))}: leave one")
    nearest = next(iter([*own, *(str(mark.args[0]) for mark in nodes.values())]), None)
    return None if nearest is None else _beside(item.path, nearest, "marker topology")


def _beside(test: Path, topology: str, by: str) -> str:
    """The file that ``by`` of this test means, or the name of a shipped topology."""
    from pytest_kmigrate.topology.loading import meant_by, shipped

    file = test.parent / topology
    if file.is_file():
        return str(file)
    if topology.removesuffix(".toml") in shipped():
        return topology
    raise WrongUseError(
        f"{by}: expected a file, relative to {test.name}, or the name of a shipped topology; "
        f"got {topology!r}{meant_by(topology)}"
    )


def start_of(item: pytest.Item) -> Start | None:
    """Where the nearest marker ``starts_at`` has a test begin; WrongUseError when it holds something else."""
    mark = nearest_mark(item, "starts_at")
    if mark is None:
        return None
    state, filled = mark.args[0] if len(mark.args) == 1 else None, mark.kwargs.get("filled", False)
    if not isinstance(state, str) or mark.kwargs.keys() - {"filled"} or not isinstance(filled, bool):
        raise WrongUseError(
            f"marker {mark.name}: expected a state, and filled=True or nothing, got {_shown(mark)}: "
            f'write @pytest.mark.{mark.name}("HYBRID", filled=True)'
        )
    return Start(state, filled)


def conditions_of(item: pytest.Item) -> list[Znode]:
    """The start conditions of a test's markers; WrongUseError when one is something else."""
    marks = [mark for _, mark in marks_of(item, "start_condition")]
    for mark in marks:
        if not mark.args or mark.kwargs or not all(isinstance(each, Znode) for each in mark.args):
            raise WrongUseError(
                f"marker {mark.name}: expected znodes, got {_shown(mark)}: "
                f'write @pytest.mark.{mark.name}(Znode("/migration"))'
            )
    conditions = [each for mark in marks for each in mark.args]
    for number, each in enumerate(conditions):
        is_again = any(other.path == each.path for other in conditions[:number])
        is_text = each.data is None or isinstance(each.data, str)
        if is_again or not is_text or not (isinstance(each.path, str) and _ZNODE.fullmatch(each.path)):
            raise WrongUseError(
                "marker start_condition: expected each znode once, a path such as /migration, text or None as data; "
                f"got {each!r}"
            )
    return conditions


def check_bare(item: pytest.Item) -> None:
    """WrongUseError when a marker without arguments has some."""
    for name in _BARE:
        for _, mark in marks_of(item, name):
            if mark.args or mark.kwargs:
                raise WrongUseError(
                    f"marker {mark.name}: expected no arguments, got {_shown(mark)}: write @pytest.mark.{mark.name}"
                )


def check_start(item: pytest.Item, topology: "Topology") -> None:
    """WrongUseError when no test can begin so: in a state the document has not, or that this topology never reaches.

    A start condition is of a cluster that has ZooKeeper and was just started.
    """
    start, conditions = start_of(item), conditions_of(item)
    if conditions and (start is not None or not topology.has_zookeeper):
        lacking = "no marker starts_at" if start else f"a topology with ZooKeeper, and {topology.name} has none"
        raise WrongUseError(f"marker start_condition: expected {lacking}: {conditions[0]} is there before any step")
    from pytest_kmigrate.documents import document

    of = document(options_of(item.config).profile)
    if start is None:
        walked = set(of.walked_by) & set(getattr(item, "fixturenames", ()))
        if walked and of.check_topology is not None and of.procedure:
            of.check_topology(topology, of.procedure[0].reaches[1])
        return
    if start.state not in of.starts:
        known = f"one of {', '.join(of.starts)}" if of.starts else f"none, as {of.id} has none"
        raise WrongUseError(f"marker starts_at: expected {known}; got {start.state}")
    if of.check_topology is not None:
        of.check_topology(topology, start.state)


def _shown(mark: pytest.Mark) -> str:
    return ", ".join([*map(repr, mark.args), *(f"{key}={value!r}" for key, value in mark.kwargs.items())]) or "nothing"


def needs_cluster(item: pytest.Item) -> bool:
    """Whether a test's topology comes from our fixture; a suite may have put one of its own in its place."""
    if not isinstance(item, pytest.Function):
        return False
    definitions = item._fixtureinfo.name2fixturedefs.get("topology", ())  # noqa: SLF001 - it has no public name
    return bool(definitions) and definitions[-1].func.__module__ == "pytest_kmigrate.plugin.fixtures"


def check_runs(runs: Path) -> None:
    """WrongUseError when run folders cannot lie there, as far as can be seen; nothing is made."""
    there = next(each for each in (runs.absolute(), *runs.absolute().parents) if each.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        got = "a folder that may not be written to" if there.is_dir() else "a file"
        raise WrongUseError(
            f"--kmigrate-runs: expected a folder to put run folders in, got {runs}, but {there} is {got}: name another"
        )
