"""Marks: the names that pytest knows them by, and the tests that they count for.

Each mark has a long name, ``kmigrate_topology``, which is registered in every session, and a short one, ``topology``.
Both count only for a test that uses a fixture of this package. A project may have marks of its own by the short names:
it registers them, and they stay its own. The short names are registered where a conftest imports from this package.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

PREFIX = "kmigrate_"

MARKS = (
    ("requirement", "(*ids)", "the requirements that a test judges, by id; `kmigrate requirements` lists them"),
    (
        "topology",
        "(file, zookeepers=N, brokers=N, controllers=N, subject=True)",
        "the topology file a test runs on, or the name of a shipped one, and what of it the test is about",
    ),
    ("since", "(release)", "the test needs a feature that older releases of Kafka lack; on these it is skipped"),
    ("until", "(release)", "the test needs what this release of Kafka and newer ones lack; on these it is skipped"),
    ("scene", "", "of a module or class: its tests share a cluster, and each leaves it as it found it"),
    ("spoils", "", "the test does not restore the cluster of its scene; the next one gets a new cluster"),
    ("sample", "", "the test is one of a few that represent its suite, for a short run with -m sample"),
    ("nightly", "", "one of so many cases that only --kmigrate-nightly runs them all"),
    (
        "starts_at",
        "(state, filled=False)",
        "the phase in which a test begins, such as HYBRID, filled with metadata or not",
    ),
    ("start_condition", "(*znodes)", "znodes that exist before the test begins: Znode(path, data=None)"),
    ("schedules", "(file)", "the test runs once for each schedule of a file; --kmigrate-schedules names another"),
    (
        "needs",
        "(*capabilities)",
        "what the provider must offer and no fixture shows, such as kill; else the test is skipped",
    ),
    (
        "known_bug",
        "(id)",
        "the test meets this bug: on the releases that have it, it is expected to fail because of it alone",
    ),
)
"""Short name, arguments and meaning of each."""

_SHORT = tuple(f"{name}{arguments}: {text}" for name, arguments, text in MARKS)
_OF_OTHERS = pytest.StashKey[frozenset[str]]()
_OURS = pytest.StashKey[bool]()
_PACKAGE = "pytest_kmigrate"


def register(config: pytest.Config) -> None:
    """Register the long names."""
    for line in _SHORT:
        config.addinivalue_line("markers", f"{PREFIX}{line}")


def register_short_names_for(plugin: object, config: pytest.Config) -> None:
    """Register the short names if this plugin is a conftest that imports from this package."""
    if Path(getattr(plugin, "__file__", None) or "").name == "conftest.py" and imports_from_us(plugin):
        known = config.getini("markers")
        for line in _SHORT:
            if line not in known:
                config.addinivalue_line("markers", line)


def is_of_ours(item: pytest.Item) -> bool:
    """Whether a test uses a fixture of this package: by an argument, through another fixture, by itself (autouse).

    True as well of a test that has asked for one while it ran.
    """
    if _OURS not in item.stash:
        item.stash[_OURS] = any(_is_from_us(each) for each in _fixture_functions(item))
    return item.stash[_OURS]


def now_of_ours(item: pytest.Item) -> None:
    """The test has asked for a fixture of this package while it ran."""
    item.stash[_OURS] = True


def marks_of(item: pytest.Item, name: str) -> Iterator[tuple[pytest.Item | pytest.Collector, pytest.Mark]]:
    """The marks that go by this short name, or its long one, with the nodes that have them, the nearest first."""
    names = {f"{PREFIX}{name}", *({name} - _names_of_others(item))}
    for node, mark in item.iter_markers_with_node():
        if mark.name in names:
            assert isinstance(node, pytest.Item | pytest.Collector)
            yield node, mark


def nearest_mark(item: pytest.Item, name: str) -> pytest.Mark | None:
    """The nearest of them; None if there is none."""
    return next((mark for _, mark in marks_of(item, name)), None)


def marks_left_to_others(items: Iterable[pytest.Item]) -> list[str]:
    """The short names on tests of ours that mean something else in this project, sorted."""
    return sorted({mark.name for item in items for mark in item.iter_markers() if mark.name in _names_of_others(item)})


def _names_of_others(item: pytest.Item) -> frozenset[str]:
    """Short names that a project registers for marks of its own; the suites of this package mean ours by them."""
    from pytest_kmigrate.recording.identity import module_in_suites  # not at pytest's start

    if module_in_suites(item.path):
        return frozenset()
    if _OF_OTHERS not in item.config.stash:
        lines = {line for line in item.config.getini("markers") if line not in _SHORT}
        named = {line.partition(":")[0].partition("(")[0].strip() for line in lines}
        item.config.stash[_OF_OTHERS] = frozenset(named & {name for name, *_ in MARKS})
    return item.config.stash[_OF_OTHERS]


def _fixture_functions(item: pytest.Item) -> Iterator[object]:
    """The functions behind a test's fixtures; of those that override each other only what is used."""
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})  # it has no public name
    for name, definitions in known.items():
        for definition in reversed(definitions):
            yield definition.func
            if name not in definition.argnames:
                break


def _is_from_us(each: object) -> bool:
    return str(getattr(each, "__module__", "")).partition(".")[0] == _PACKAGE


def imports_from_us(module: object) -> bool:
    """Whether a module has a name that is defined in this package."""
    values = list(getattr(module, "__dict__", {}).values())
    return any(_is_from_us(each) or str(getattr(each, "__name__", "")).partition(".")[0] == _PACKAGE for each in values)
