"""Keeping: what many checks derive from one history is derived once, and kept with it."""

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

Of = TypeVar("Of")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_KEPT = "_kept"
"""The attribute that has what was derived, by function and arguments."""


def kept(derive: Callable[Concatenate[Of, Arguments], Result]) -> Callable[Concatenate[Of, Arguments], Result]:
    """Decorate a pure function of a frozen dataclass and of plain values: its result lives as long as its instance.

    Whoever gets the result shares it, and leaves it as it is. TypeError for arguments without a hash.
    """
    name = f"{derive.__module__}.{derive.__qualname__}"  # a function of this name is the decorated one

    @wraps(derive)
    def derived(of: Of, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        found: dict[Hashable, Result] = vars(of).setdefault(_KEPT, {})  # which a frozen dataclass does not guard
        key = (name, *args, *kwargs.items())
        if key not in found:
            found[key] = derive(of, *args, **kwargs)
        return found[key]

    return derived
