"""Stops of the quorum by an operator: no controller can lead then, and control may be taken back by hand."""

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER
from pytest_kmigrate.checkers.controllers.lives import plays, roles
from pytest_kmigrate.checkers.controllers.znode_changes import held_in, untampered
from pytest_kmigrate.checkers.evidence.moments import faults_during
from pytest_kmigrate.checkers.evidence.replicas import Spans
from pytest_kmigrate.model.event import is_a
from pytest_kmigrate.model.events.nodes import NodeStarted, NodeStopped
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.topology import Role

_SEEN_WITHIN_NS = 5_000_000_000
"""A node of somebody else's cluster is seen to be gone at most so much later."""
_GONE = "gone"


def taken_back_ns(history: History) -> list[int]:
    """When ``/controller`` was seen deleted, or held by a broker, while an operator had stopped the quorum.

    Stopped: fewer controllers run than are needed to elect one, none of those that are missing died by itself, and no
    fault was in force meanwhile.
    """
    stopped = without_quorum(history)
    changes = [each for each in untampered(history, CONTROLLER) if _is_given_up(history, each)]
    return [
        each.at_ns
        for each in changes
        if any(s <= each.at_ns < to and not faults_during(history, s, each.at_ns) for s, to in stopped)
    ]


def _is_given_up(history: History, change: ZnodeChange) -> bool:
    holder = held_in(change).get("brokerid")
    return change.data is None or roles(history).get(f"broker-{holder}") == Role.BROKER


@kept
def without_quorum(history: History) -> Spans:
    """From when to when stops left too few controllers of those that ever ran to elect one.

    Those that die by themselves, or are paused, count as if they ran.
    """
    known = {node for node, role in roles(history).items() if plays(role, Role.CONTROLLER)}
    stopped: set[str] = set()
    since_ns: int | None = None
    found: list[tuple[int, int]] = []
    for event in history.of(NodeStarted, NodeStopped):
        node = str(event.node)
        if node not in known:
            continue
        stopped = stopped | {node} if is_a(event, NodeStopped) else stopped - {node}
        is_lost = len(known - stopped) <= len(known) // 2
        if is_lost and since_ns is None:
            since_ns = event.at_ns - (_SEEN_WITHIN_NS if is_a(event, NodeStopped) and event.what.how == _GONE else 0)
        elif not is_lost and since_ns is not None:
            found.append((since_ns, event.at_ns))
            since_ns = None
    return [*found, *([] if since_ns is None else [(since_ns, history.end_ns + 1)])]
