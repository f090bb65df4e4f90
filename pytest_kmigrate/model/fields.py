"""Fields of events: what a dataclass declares of its keys, by which they are checked and read back from JSON."""

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_EMPTY: Mapping[object, object] = {str: "", int: 0, float: 0.0, bool: False, Sequence: (), Mapping: {}, Literal: ""}
"""What stands for a key that a folder lacks although it must not: the empty value of its type; None for any other."""

_JSON: Mapping[Any, tuple[type, ...]] = {
    object: (),
    **{each: (each,) for each in (str, int, bool, NoneType)},
    float: (int, float),
}
"""What JSON has for a type; empty: anything."""

_WORDS = {str: "text", int: "whole number", float: "number", bool: "boolean", NoneType: "null"}


@dataclass(frozen=True)
class EventField:
    """One field of an event: the key of that name in its ``data``."""

    name: str
    is_optional: bool
    """Whether the key is left out while it is None."""
    missing: object
    """What stands for the key where it is missing."""
    enumerated: type[enum.Enum] | None
    """The enumeration that its text names a member of."""
    expected: str
    """What the key holds, in words: ``a list of texts``."""
    fits: Callable[[object], bool]
    """Whether a value read from JSON is of the field's type."""

    def read(self, data: Mapping[str, object]) -> object:
        """The field's value; a text that the enumeration does not have stays as it is."""
        value = data.get(self.name, self.missing)
        members = self.enumerated._value2member_map_ if self.enumerated is not None else {}
        return members.get(value, value) if members else value


_KNOWN: dict[type[Any], tuple[EventField, ...]] = {}


def fields_of(kind: type[Any]) -> tuple[EventField, ...]:
    """The fields of the dataclass of an event, in their order; derived once, as every event that is read needs them."""
    if kind not in _KNOWN:
        hints = get_type_hints(kind)
        _KNOWN[kind] = tuple(_field(each.name, hints[each.name], each.default) for each in fields(kind))
    return _KNOWN[kind]


def _field(name: str, hint: Any, default: object) -> EventField:
    missing = _empty(hint) if default is MISSING else default
    return EventField(name, default is None, missing, _enumerated(hint), _with_article(_words(hint)), _fits(hint))


def _with_article(words: str) -> str:
    return f"{'an' if words.startswith('o') else 'a'} {words}"


def _options(hint: Any) -> tuple[Any, ...]:
    """The types that a hint allows: those of a union, or itself."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _enumerated(hint: Any) -> type[enum.Enum] | None:
    return next((each for each in _options(hint) if isinstance(each, type) and issubclass(each, enum.Enum)), None)


def _empty(hint: Any) -> object:
    return None if NoneType in _options(hint) else _EMPTY.get(get_origin(hint) or hint)


def _words(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Sequence:
        return f"list of {_words(inner[0])}s"
    if origin is Mapping:
        return "object" if inner[1] is object else f"object of {_words(inner[1])}s"
    if len(_options(hint)) > 1:
        return " or ".join(_words(each) for each in _options(hint))
    return _WORDS.get(hint, "value" if hint is object else "text")


def _plain(hint: Any) -> frozenset[type]:
    """The types of the values of a hint that has no parts; empty for one that has, and for any value."""
    options = [() if get_origin(each) else _JSON.get(each, (str,)) for each in _options(hint)]
    return frozenset(each for types in options for each in types) if all(options) else frozenset()


def _fits(hint: Any) -> Callable[[object], bool]:
    """The test for values of this type; those of an enumeration or of literals may be of a later release."""
    origin, inner = get_origin(hint), get_args(hint)
    if plain := _plain(hint):
        return lambda value: type(value) in plain or isinstance(value, enum.Enum)
    if len(_options(hint)) > 1:
        options = [_fits(each) for each in _options(hint)]
        return lambda value: any(fits(value) for fits in options)
    if origin is Sequence:
        of_element = _fits(inner[0])
        if elements := _plain(inner[0]):  # of a log of thousands of batches, each number
            return lambda value: (
                isinstance(value, list | tuple)
                and (elements.issuperset(map(type, value)) or all(map(of_element, value)))
            )
        return lambda value: isinstance(value, list | tuple) and all(map(of_element, value))
    if origin is Mapping:
        of_value = _fits(inner[1])
        return lambda value: isinstance(value, Mapping) and all(map(of_value, value.values()))
    types = _JSON.get(hint, (str,))
    return lambda value: not types or type(value) in types or isinstance(value, enum.Enum)
