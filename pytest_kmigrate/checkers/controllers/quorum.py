"""Who led the quorum in which epoch, as controllers report it of themselves; works without ZooKeeper."""

from collections.abc import Iterator

from pytest_kmigrate.checkers.controllers.claims import Claim, kraft_series
from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns, processes
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.metrics import RAFT_STATES

_EPOCH, _STATE = "RaftCurrentEpoch", "RaftCurrentState"


def quorum_claims(history: History) -> Iterator[Claim]:
    """Each sighting of a leader in an epoch that is certain.

    State and epoch are not read at one moment. But a process never goes back to an epoch: where the sample before and
    the sample after hold the same one, what was reported between them was reported in it.
    """
    starts = life_starts_ns(history)
    for samples in processes(history, "controller"):
        telling = [each for each in samples if each.values.get(_EPOCH) is not None]
        for before, sample, after in zip(telling, telling[1:], telling[2:], strict=False):
            is_certain = before.values[_EPOCH] == after.values[_EPOCH]
            if is_certain and sample.values.get(_STATE) == RAFT_STATES["leader"]:
                series = kraft_series(life_at(starts, sample.at_ns))
                controller = int(sample.node.rpartition("-")[2])
                epoch = int(before.values[_EPOCH] or 0)
                yield Claim(sample.at_ns, series, controller, epoch, f"metrics {_STATE} of {sample.node}")
