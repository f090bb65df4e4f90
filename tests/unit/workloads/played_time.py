"""Time that passes only while a played client waits for its broker."""

from dataclasses import dataclass


@dataclass
class PlayedTime:
    """Stands for the module ``time``, however slow this machine is."""

    now_s: float = 0.0

    def monotonic(self) -> float:
        """Seconds."""
        return self.now_s
