"""Mistakes of a test in making a fault: each is one error that names what to write instead."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from pytest_kmigrate.faults.targets import Target
from pytest_kmigrate.faults.triggers import Trigger
from pytest_kmigrate.model.errors import WrongUseError


def check_fault(fault: object) -> None:
    """WrongUseError for anything but a fault, and for one with anything but targets where it takes targets."""
    if isinstance(fault, type) or not hasattr(fault, "applied_to"):
        raise WrongUseError(
            f"inject: expected a fault, such as Kill(targets.random_broker()); got {_shown(fault)}{_call(fault)}"
        )
    path = getattr(fault, "path", None)
    if path is not None and not (isinstance(path, str) and path.startswith("/") and path != "/"):
        raise WrongUseError(f"{type(fault).__name__}: path: expected a znode, such as /migration; got {path!r}")
    for key, value in _targets_of(fault):
        if not isinstance(value, Target):
            raise WrongUseError(
                f'{type(fault).__name__}: {key}: expected a target, such as targets.node("broker-1"); '
                f"got {_shown(value)}{_node(value) or _call(value)}"
            )


def check_trigger(key: str, given: object) -> None:
    """WrongUseError for anything but a trigger or None; ``key`` is the argument of ``inject``."""
    if given is not None and not isinstance(given, Trigger):
        raise WrongUseError(
            f'inject: {key}: expected a trigger, such as triggers.on_state("phase", Phase.COPYING); '
            f"got {_shown(given)}{_call(given)}"
        )


def _targets_of(fault: object) -> Iterator[tuple[str, object]]:
    for each in fields(fault) if is_dataclass(fault) else ():
        value = getattr(fault, each.name)
        if each.type is Target:
            yield each.name, value
        elif each.type == tuple[Target, ...]:
            if not isinstance(value, tuple | list):
                raise WrongUseError(
                    f"{type(fault).__name__}: {each.name}: expected several targets, got one: write ({value}, ...)"
                )
            yield from ((each.name, member) for member in value)


def _shown(value: object) -> str:
    name = getattr(value, "__name__", None)
    return f"{'the class' if isinstance(value, type) else 'the function'} {name}" if name else repr(value)


def _node(value: object) -> str:
    return f": write targets.node({value!r})" if isinstance(value, str) else ""


def _call(value: object) -> str:
    name = getattr(value, "__name__", None)
    return f": write {name}(...)" if name else ""
