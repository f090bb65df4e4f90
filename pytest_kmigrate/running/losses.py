"""Losses of a live run: waits end as soon as a part of the harness is known to be gone."""

from typing import TypeGuard

from pytest_kmigrate.model.errors import HarnessLostError
from pytest_kmigrate.model.event import Event, Recorded, Recorder, is_a
from pytest_kmigrate.model.events.evidence import HarnessTrouble


class Losses:
    """Looks at what a run recorded since the last look; safe to ask from any thread, and cheap to ask often."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._looked = 0
        self._first: Recorded[HarnessTrouble] | None = None

    def first(self) -> Recorded[HarnessTrouble] | None:
        """Return the event of the first part that was lost; None while all parts are there."""
        events = self._recorder.events
        for number in range(self._looked, len(events)):
            event = events[number]
            if self._first is None and _is_loss(event):
                self._first = event
            self._looked = number + 1
        return self._first

    def require_none(self) -> None:
        """HarnessLostError once a part is gone."""
        if (loss := self.first()) is not None:
            raise HarnessLostError(f"{loss.what.what} ({loss.what.error})")


def _is_loss(event: Event) -> TypeGuard[Recorded[HarnessTrouble]]:
    return is_a(event, HarnessTrouble) and bool(event.what.lost)
