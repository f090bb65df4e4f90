"""What a run says was there before it began: nothing of that is judged in it, so it cannot be more than there was."""

from collections.abc import Iterator

from pytest_kmigrate.checkers.controllers.raft_logs import logs
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.history import History
from pytest_kmigrate.recording.disagreement import Disagreement


def inherited_was_there(history: History) -> Iterator[Disagreement]:
    """What ZooKeeper and the metadata log hold at the end goes on behind what the run began with."""
    header = history.header
    first = min((each.zxid for each in history.transactions), default=None)
    if first is not None and first <= header.inherited_zxid:
        yield Disagreement(
            f"run.json has the transactions up to {header.inherited_zxid} from before the run",
            f"ZooKeeper logged {first} since it began",
        )
    ends = [each.end for each in logs(history)]
    if ends and max(ends) <= header.inherited_offset:
        yield Disagreement(
            f"run.json has the metadata log up to offset {header.inherited_offset} from before the run",
            f"no node has more than {max(ends)} records at the end",
        )


def scenes_have_a_cluster(history: History) -> Iterator[Disagreement]:
    """Nodes that were up before a run began are those of a cluster that it took over."""
    inherited = next((each for each in history.of(NodeStarted) if each.what.inherited), None)
    if inherited is not None and history.header.circumstances.scene is None:
        yield Disagreement(f"event {inherited.seq} has {inherited.node} from before the run", "run.json has no scene")
