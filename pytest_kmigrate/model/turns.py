"""Turns: those who act on the same node do so one after the other."""

import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager


class Turns:
    """A lock for each name, made when it is first needed. Who has a turn may take it again."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[str, threading.RLock] = {}

    @contextmanager
    def of(self, names: Collection[str]) -> Iterator[None]:
        """Have all of these names alone while the block runs; taken in one order, they never block each other."""
        with ExitStack() as held:
            for name in sorted(set(names)):
                held.enter_context(self._lock(name))
            yield

    def _lock(self, name: str) -> threading.RLock:
        with self._guard:
            return self._locks.setdefault(name, threading.RLock())
