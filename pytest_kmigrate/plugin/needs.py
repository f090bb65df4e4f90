"""What a test needs, as far as its markers, fixtures, parameters and code show it before it runs.

A need that nothing shows is met when the test comes to it: its run, whose cluster was started, is NOT_APPLICABLE.

Shapes: whether a test can run on the topology of ``--kmigrate-topology`` in place of the one it was written for. A test
of a suite needs what is special about its own topology. A test of somebody else says what it is about by its marker
``topology``: numbers of nodes such as ``controllers=1``, or the whole of it by ``subject=True``.
"""

import re
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate.model.capabilities import Capability, Needs
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.plugin.asking import conditions_of, start_of, subject_of, written_for
from pytest_kmigrate.plugin.marks import marks_of
from pytest_kmigrate.plugin.options import options_of
from pytest_kmigrate.providers.choosing import OF_ONE_FILE
from pytest_kmigrate.recording.identity import module_in_suites


def needs_of(item: pytest.Item) -> Needs:
    """What it needs; WrongUseError for a marker ``needs`` that names no capability.

    A checker that lacks evidence makes its own verdict NOT_APPLICABLE, so it is no need of the test.
    """
    function = getattr(item, "function", None)  # an item that is no function asks for its fixtures while it runs
    named = frozenset(names_in(getattr(function, "__code__", None)))
    found = {*_marked(item), *_of_start(item), *_of_fixtures(item, named), *_of_code(function)}
    params = getattr(getattr(item, "callspec", None), "params", {})
    return frozenset(found.union(*map(_of_param, params.values())))


def names_in(code: CodeType | None) -> Iterator[str]:
    """The attributes and texts that code names, with those of functions inside it."""
    if code is None:
        return
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from names_in(each)
        else:
            yield from (text for text in (each if isinstance(each, tuple) else (each,)) if isinstance(text, str))


def _marked(item: pytest.Item) -> Iterator[Capability]:
    for _, mark in marks_of(item, "needs"):
        unknown = [each for each in mark.args if each not in list(Capability)]
        if unknown or mark.kwargs or not mark.args:
            got = ", ".join(map(repr, unknown or mark.kwargs)) or "nothing"
            raise WrongUseError(f"marker {mark.name}: expected some of {', '.join(Capability)}; got {got}")
        yield from map(Capability, mark.args)


def _of_start(item: pytest.Item) -> Needs:
    """What walking the procedure needs, and znodes that are there before."""
    from pytest_kmigrate.documents import document  # not at pytest's start: it brings every check

    of, found = document(options_of(item.config).profile), frozenset[Capability]()
    if start_of(item) is not None or set(of.walked_by) & set(getattr(item, "fixturenames", ())):
        found |= of.walking_needs
    return found | {Capability.ZNODES} if conditions_of(item) else found


def _of_fixtures(item: pytest.Item, named: frozenset[str]) -> Iterator[Capability]:
    """What its fixtures declare by ``needing``."""
    ends = {each.rpartition("-")[2] for each in named}
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})  # it has no public name
    for name in known:
        for definition in known[name][-1:]:
            yield from getattr(definition.func, "needs", ())
            where = getattr(definition.func, "needs_where_named", {})
            yield from (need for each in where.keys() & ends for need in where[each])


def _of_code(function: object, seen: frozenset[object] = frozenset()) -> Iterator[Capability]:
    """What faults, moves and the like need that a function names, or a function of its module that it calls."""
    if not isinstance(function, FunctionType) or function in seen:
        return
    known, named = function.__globals__, set(names_in(function.__code__))
    rooms = [known[each] for each in named & known.keys() if isinstance(known[each], ModuleType)]
    for name in named:
        for each in (known.get(name), *(vars(room).get(name) for room in rooms)):
            if isinstance(each, FunctionType) and each.__module__ == function.__module__:
                yield from _of_code(each, seen | {function})
            yield from _declared(each)


def _of_param(value: object) -> Needs:
    """What a parameter needs: a fault, or what holds a trigger among its fields."""
    return frozenset(need for each in (value, *getattr(value, "__dict__", {}).values()) for need in _declared(each))


def _declared(value: object) -> Needs:
    from pytest_kmigrate.model.checks import Checker  # not at pytest's start: it brings numpy

    needs = getattr(value, "needs", None)
    return needs if isinstance(needs, frozenset) and not isinstance(value, Checker) else frozenset()


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
