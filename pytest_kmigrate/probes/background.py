"""Background: what probes do again and again while a run lasts, each in a thread of its own."""

import threading
from collections.abc import Callable
from contextlib import suppress

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.waiting import repeat


class Background:
    """Repeats actions until ``stop``; one that fails ends, and is recorded as trouble of the harness."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []

    def repeat(self, name: str, every_s: float, action: Callable[[], None]) -> None:
        """Begin to call ``action`` every ``every_s`` seconds."""
        thread = threading.Thread(target=self._watch, args=(name, action, every_s), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def stop(self) -> None:
        """Return when every thread has ended."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _watch(self, name: str, action: Callable[[], None], every_s: float) -> None:
        try:
            repeat(action, every_s, self._over)
        # Whatever blinds us: what was not observed must not look as if nothing had happened.
        except Exception as error:  # noqa: BLE001
            with suppress(EnvironmentLackError):  # a recorder without room says so to the test as well
                self._recorder.record(HarnessTrouble(f"observing {name}", repr(error)))
