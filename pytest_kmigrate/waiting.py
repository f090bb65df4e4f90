"""The one room that waits: polls a condition until it holds, and says what it last saw when it never does."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TypeVar

from pytest_kmigrate.model.errors import AwaitTimeoutError

T = TypeVar("T")

PATIENCE_S = 180
"""Default timeout for steps that must succeed but are not themselves under test, sized for slow machines.

One machine needed more than a minute to elect a controller. A healthy run never waits this long.
"""


_ENDING: list[Callable[[], None]] = []
"""What is called between the polls of every wait, and may raise."""


@contextmanager
def ended_early_by(check: Callable[[], None]) -> Iterator[None]:
    """Call ``check`` between the polls of every wait in the block, of all threads; what it raises ends the wait."""
    _ENDING.append(check)
    try:
        yield
    finally:
        _ENDING.remove(check)


class NotYet:
    """What a condition may return instead of a falsy value, to say how far things are."""

    def __init__(self, seen: object) -> None:
        self.seen = seen

    def __bool__(self) -> bool:
        return False


def until(
    condition: Callable[[], T | NotYet | None],
    *,
    awaited: str,
    within_s: float,
    every_s: float = 0.05,
    abort: Callable[[], None] | None = None,
    ends_anyway: bool = False,
) -> T:
    """Return the first truthy value of ``condition``; it is asked at least once, and last of all at the limit.

    ``awaited`` completes the message of the AwaitTimeoutError, together with the last value seen (a ``NotYet`` reports
    it in words). ``abort`` is called between polls and may raise: a node that died ends the wait at once. So may
    what ``ended_early_by`` has, unless the wait ``ends_anyway``: for a process that is being ended, say.
    """
    deadline = time.monotonic() + within_s
    while True:
        late = time.monotonic() >= deadline
        value = condition()
        if value:
            return value  # type: ignore[return-value]  # a NotYet is falsy, so this is T
        if late:
            raise AwaitTimeoutError(awaited, within_s, value.seen if isinstance(value, NotYet) else value)
        for check in () if ends_anyway else tuple(_ENDING):
            check()
        if abort is not None:
            abort()
        time.sleep(min(every_s, max(0.0, deadline - time.monotonic())))


def answered(future: Future[T], *, awaited: str, within_s: float) -> T:
    """Return the result of a future, or raise its error; AwaitTimeoutError at the limit. Ends early as ``until``."""
    until(future.done, awaited=awaited, within_s=within_s, every_s=0.01)
    return future.result()


def repeat(action: Callable[[], None], every_s: float, over: threading.Event) -> None:
    """Call ``action`` every ``every_s`` seconds until ``over`` is set; a slow call delays the next, never piles up."""
    while not over.wait(every_s):
        action()
