"""What a test needs of the provider, as far as its markers, fixtures, parameters and code show it before it runs.

A need that nothing shows is met when the test comes to it: its run, whose cluster was started, is NOT_APPLICABLE.
"""

from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType

import pytest

from pytest_kmigrate.model.capabilities import Capability, Needs
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.plugin.asking import conditions_of, start_of
from pytest_kmigrate.plugin.marks import marks_of
from pytest_kmigrate.plugin.options import options_of


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
