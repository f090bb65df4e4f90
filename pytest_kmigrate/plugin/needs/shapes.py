"""Shapes: whether a test can run on the topology of ``--kmigrate-topology`` in place of the one it was written for.

A test of a suite needs what is special about its own topology. A test of somebody else says what it is about by its
marker ``topology``: numbers of nodes such as ``controllers=1``, or the whole of it by ``subject=True``.
"""

import re
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate.plugin.asking import subject_of, written_for
from pytest_kmigrate.plugin.needs.needing import names_in
from pytest_kmigrate.plugin.options import options_of
from pytest_kmigrate.providers.choosing import OF_ONE_FILE
from pytest_kmigrate.recording.identity import module_in_suites

_BROKER = "broker"
_NUMBERS = ((0, 1, 2), frozenset((0, 1, 2)))
"""How ``[0, 1, 2]`` and ``{0, 1, 2}`` stand among the constants of code."""
_BEGINNING = re.compile(r"(zookeeper|broker|combined|controller)-\d*")

if TYPE_CHECKING:
    from pytest_kmigrate.model.topology import Topology


def why_not_on_given(item: pytest.Item, given: "Topology") -> list[str]:
    """What the topology of the command line lacks for this test, as one reason; nothing without that option."""
    options = options_of(item.config)
    if options.topology is None:
        return []
    about, in_suite = subject_of(item), module_in_suites(item.path) is not None
    if not (in_suite or about):
        return []
    from pytest_kmigrate.model.topology import Role  # not at pytest's start
    from pytest_kmigrate.topology.standing_in import Wanted, counts_lacking, lacks

    counted = {"zookeepers": Role.ZOOKEEPER, "brokers": Role.BROKER, "controllers": Role.CONTROLLER}
    exactly = {role: about[key] for key, role in counted.items() if key in about}
    if not (in_suite or "subject" in about):
        lacking = counts_lacking(given, exactly)
    else:
        own = _loaded(written_for(item))
        wanted = Wanted(own, _names_called(item, {node.name for node in own.nodes}), exactly)
        lacking = lacks(given, wanted, is_known=options.provider not in OF_ONE_FILE)
    return [f"NOT_APPLICABLE: not on {given.name}: needs {'; '.join(lacking)}"] if lacking else []


@cache
def _loaded(name: str) -> "Topology":
    """The topology that tests were written for, by its own release: what else is special about it is the same."""
    from pytest_kmigrate.topology.loading import find, load  # not at pytest's start

    return load(find(name))


def _names_called(item: pytest.Item, known: set[str]) -> set[str]:
    """The nodes that the code of a test names, with that of functions and constants of its module that it uses.

    A text that only begins a name, as in ``f"broker-{number}"``, is taken for all of these nodes, and so is a list of
    the brokers' numbers.
    """
    named = {each for each in _names_of(getattr(item, "function", None), set()) if _BEGINNING.fullmatch(each)}
    return {node for node in known if node in named or any(node.startswith(each) for each in named - known)}


def _names_of(function: object, seen: set[object]) -> Iterator[str]:
    if not isinstance(function, FunctionType) or function in seen:
        return
    seen.add(function)
    named = set(names_in(function.__code__))
    yield from named
    if any(each in _NUMBERS for each in _constants_in(function.__code__)):
        yield f"{_BROKER}-"
    for used in (function.__globals__[each] for each in named & function.__globals__.keys()):
        if isinstance(used, FunctionType) and used.__module__ == function.__module__:
            yield from _names_of(used, seen)
        texts = used if isinstance(used, tuple) else (used,)
        yield from (text for text in texts if isinstance(text, str))


def _constants_in(code: CodeType) -> Iterator[object]:
    for each in code.co_consts:
        yield from _constants_in(each) if isinstance(each, CodeType) else (each,)
