"""What the controllers of a quorum report of themselves."""

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import Sample
from pytest_kmigrate.model.metrics import RAFT_STATES
from tests.unit.checkers.histories import event, sample

LEADER, FOLLOWER = RAFT_STATES["leader"], RAFT_STATES["follower"]
QUORUM = [event(EventKind.NODE_STARTED, 0, f"controller-{each}", role="controller") for each in (3000, 3001)]


def reported(node: str, *rows: tuple[float, float], from_ms: int = 0) -> list[Sample]:
    """Epoch and state that a controller reports, every half second."""
    every = enumerate(rows)
    return [
        sample(from_ms + at * 500, node, RaftCurrentEpoch=epoch, RaftCurrentState=is_) for at, (epoch, is_) in every
    ]


def two_leaders() -> list[Sample]:
    """Both controllers lead in epoch 5."""
    return [each for node in ("controller-3000", "controller-3001") for each in reported(node, *[(5, LEADER)] * 3)]
