"""What a loop has to do later; for use by the loop's thread only."""

import heapq
import itertools
import time
from collections.abc import Callable

Action = Callable[[], None]


class Timers:
    """Actions, each with its time."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Action]] = []
        self._counter = itertools.count()

    def later(self, delay_s: float, action: Action) -> None:
        """Do something after a while."""
        heapq.heappush(self._due, (time.monotonic() + delay_s, next(self._counter), action))

    def every(self, seconds: float, action: Action) -> None:
        """Do something again and again, for the first time after so many seconds."""

        def act() -> None:
            self.later(seconds, act)
            action()

        self.later(seconds, act)

    def run(self) -> None:
        """Do what is due."""
        while self._due and self._due[0][0] <= time.monotonic():
            heapq.heappop(self._due)[2]()
