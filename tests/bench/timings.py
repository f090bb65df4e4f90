"""What one round of either side took."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Timings:
    """Seconds of wall time, in the order in which they passed; ``notes`` is what a reader should know besides."""

    ready_s: float
    """From nothing to ZooKeeper and every broker serving."""
    migration_s: float
    """From there until all brokers are rolled and the controller is in dual write."""
    teardown_s: float
    """From there until no process is left."""
    notes: dict[str, object]
    is_teardown_cut_off: bool = False
    """Whether what was left was killed in the end: the teardown then took at least so long, perhaps longer."""
