"""Parts of the harness that stand still, as a sleeping machine makes them: what waits meanwhile is not Kafka's."""

from collections.abc import Callable, Mapping

import psutil

from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.probes.background import Background

_LOOKED_EVERY_S = 0.5


class StandstillProbe:
    """Records each standstill of these processes once, when it is first seen."""

    def __init__(self, recorder: Recorder, parts: Callable[[], Mapping[str, int]]) -> None:
        """``parts``: processes by what they are, asked at each look."""
        self._recorder = recorder
        self._parts = parts
        self._still: set[int] = set()
        self._background = Background(recorder)

    def start(self) -> None:
        """Begin to look."""
        self._background.repeat("whether the harness stands still", _LOOKED_EVERY_S, self.look)

    def stop(self) -> None:
        """Look no more."""
        self._background.stop()

    def look(self) -> None:
        """Record those that have come to a stop since the last look."""
        still = {pid: name for name, pid in self._parts().items() if _is_still(pid)}
        for pid in still.keys() - self._still:
            text = f"process {pid} is stopped"
            self._recorder.record(HarnessTrouble(f"{still[pid]} of a cluster stand still", text, of_machine=True))
        self._still = set(still)


def _is_still(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:
        return False
