"""Typical events: a typed event of a kind from the few fields a test is about; all other fields get plain values."""

import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pytest_kmigrate.model import events
from pytest_kmigrate.model.event import EventData, EventKind
from pytest_kmigrate.model.topology import Role

_PLAIN: dict[Any, object] = {str: "", int: 0, float: 0.0, bool: False, Role: Role.BROKER, object: None}


def event_classes() -> Iterator[type[EventData]]:
    """The dataclass of every kind, in the order of their files; a kind of workload has several."""
    for file in pkgutil.iter_modules(events.__path__):
        for member in vars(import_module(f"{events.__name__}.{file.name}")).values():
            if isinstance(member, type) and issubclass(member, EventData) and member is not EventData:
                yield member


def typical(kind: EventKind, **known: Any) -> EventData:
    """An event of this kind with these fields; LookupError when no dataclass of this kind has all of them."""
    candidates = _classes_of(kind)
    for each in candidates:
        if known.keys() <= {field.name for field in fields(each)}:
            return typical_of(each, **known)
    raise LookupError(f"{kind}: expected fields of {', '.join(each.__name__ for each in candidates)}; got {known}")


def typical_of(data: type[EventData], /, **known: Any) -> EventData:
    """An event of this dataclass with these fields."""
    return data(**{**_plain_fields(data), **known})


@cache
def _classes_of(kind: EventKind) -> tuple[type[EventData], ...]:
    return tuple(each for each in event_classes() if each.event_kind is kind)


def _plain_fields(data: type[EventData]) -> dict[str, object]:
    return {name: _plain(hint) for name, hint in _hints(data).items()}


@cache
def _hints(data: type[EventData]) -> dict[str, Any]:
    hints = get_type_hints(data)
    return {field.name: hints[field.name] for field in fields(data)}


def _plain(hint: Any) -> object:
    if isinstance(hint, UnionType) or get_origin(hint) is Union:  # of a Literal and None it is the latter
        return None if NoneType in get_args(hint) else _plain(get_args(hint)[0])
    if get_origin(hint) is Literal:
        return get_args(hint)[0]
    return {} if get_origin(hint) is Mapping else [] if get_origin(hint) is Sequence else _PLAIN[hint]
