"""Situations that requirements are about: what happened to the group in a run, so that a claim was put to the test."""

from collections.abc import Callable, Iterator, Mapping

from pytest_kmigrate.checkers.evidence.ownership import happened_ns
from pytest_kmigrate.checkers.evidence.spans import owned_at, spans
from pytest_kmigrate.documents.kip_125.evidence.cuts import link_faults
from pytest_kmigrate.documents.kip_125.evidence.lives import Life, horizon_ns, lives
from pytest_kmigrate.documents.kip_125.evidence.modes import KAFKA, ZOOKEEPER, modes_at
from pytest_kmigrate.documents.kip_125.kinds import MODE, OLD, WITH, WITHOUT
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.events.members import MemberOwns, MemberPaused, ZnodeWritten
from pytest_kmigrate.model.events.nodes import NodePaused, NodeStopped
from pytest_kmigrate.model.history import History

_SOON_NS = 3_000_000_000
Situation = Callable[[History], bool]


def _killed_in(mode: str) -> Situation:
    return lambda history: any(
        life.how == "killed" and life.is_migrating and modes_at(history, life.ended_ns).get(life.client) == mode
        for life in lives(history).values()
    )


def _paused(history: History) -> Iterator[tuple[Event, Life]]:
    """Members that stood still."""
    for event in history.of(MemberPaused):
        for life in lives(history).values():
            if life.member == event.what.member and life.began_ns < event.at_ns < life.ended_ns:
                yield event, life


def _frozen(history: History) -> bool:
    """A member of a build that knows the document stood still: older ones have no lease."""
    return any(life.kind in (WITH, WITHOUT) for _, life in _paused(history))


def _evicted(history: History) -> bool:
    """A member stood still in Kafka mode beside a plain consumer."""
    return any(
        modes_at(history, event.at_ns).get(life.client) == KAFKA and _alive(history, event.at_ns, "new")
        for event, life in _paused(history)
    )


def _kind(life: Life) -> str:
    return "migrating" if life.is_migrating else "old" if life.is_of_zookeeper else "new"


def _alive(history: History, at_ns: int, kind: str) -> list[Life]:
    known = lives(history).values()
    return [each for each in known if each.began_ns <= at_ns < each.ended_ns and _kind(each) == kind]


def _replaced(history: History, before: str, after: str) -> bool:
    """A member of one kind left in order while one of the other was there, and the group went on."""
    end = horizon_ns(history)
    return any(
        each.how == "stopped"
        and each.ended_ns < end
        and _kind(each) == before
        and _alive(history, each.ended_ns, after)
        for each in lives(history).values()
    )


def _whole_way(first: str, last: str) -> Situation:
    """All members of the first kind gave way to migrating ones, and these to the last kind.

    Older members are consumers of an older build, not new ones without migration.
    """

    def happened(history: History) -> bool:
        end = horizon_ns(history)
        at_end = {_kind(each) for each in lives(history).values() if each.began_ns <= end < each.ended_ns}
        if not any(each.kind == OLD for each in lives(history).values()):
            return False
        steps = _replaced(history, first, "migrating") and _replaced(history, "migrating", last)
        return steps and at_end == {last}

    return happened


def _together(history: History, one: str, other: str, mode: str) -> bool:
    """Members of both kinds lived at the same time, and those with migration followed this mode then."""
    for event in history.of(MemberOwns):
        at_ns = happened_ns(event)
        migrating = _alive(history, at_ns, "migrating")
        both = _alive(history, at_ns, one) and _alive(history, at_ns, other)
        modes = modes_at(history, at_ns)
        if both and migrating and all(modes.get(each.client) == mode for each in migrating):
            return True
    return False


def _three_kinds(history: History) -> bool:
    """A consumer of an older build, one without and one with migration owned partitions at the same time."""
    for event in history.of(MemberOwns):
        owned = owned_at(spans(history), happened_ns(event)).values()
        kinds = {lives(history)[client].kind for clients in owned for client in clients if client in lives(history)}
        if kinds >= {OLD, WITHOUT, WITH}:
            return True
    return False


def _zookeeper_stood_still(history: History) -> bool:
    """While members with migration followed Kafka."""
    return any(
        str(event.node).startswith(ZOOKEEPER)
        and any(
            modes_at(history, event.at_ns).get(e.client) == KAFKA for e in _alive(history, event.at_ns, "migrating")
        )
        for event in history.of(NodePaused)
    )


def _toggled_while_joining(history: History) -> bool:
    written = [event.at_ns for event in history.of(ZnodeWritten) if event.what.path == MODE]
    began = [each.began_ns for each in lives(history).values()]
    return any(abs(one - other) < _SOON_NS for one in written for other in began)


def _killed_at_a_toggle(history: History) -> bool:
    written = [event.at_ns for event in history.of(ZnodeWritten) if event.what.path == MODE]
    killed = [each.ended_ns for each in lives(history).values() if each.how == "killed" and each.is_migrating]
    return any(0 < one - other < _SOON_NS for one in killed for other in written)


def _link_disturbed_at_a_toggle(mode: str) -> Situation:
    """Something was done to a member's link to ZooKeeper, and the mode was written meanwhile."""

    def happened(history: History) -> bool:
        faults, written = link_faults(history), history.of(ZnodeWritten)
        return any(
            e.what.data == mode and any(each.began_ns < e.at_ns < each.healed_ns for each in faults) for e in written
        )

    return happened


def _replaced_together(history: History) -> bool:
    """Several members of a kind left in order at the same time, while the group went on."""
    end = horizon_ns(history)
    left = [each for each in lives(history).values() if each.how == "stopped" and each.ended_ns < end]
    return any(
        sum(_kind(each) == _kind(one) and abs(each.ended_ns - one.ended_ns) < _SOON_NS for each in left) > 2
        for one in left
    )


def _coordinator_crashed(history: History) -> bool:
    stopped = history.of(NodeStopped)
    return any(str(event.node).startswith("broker") and event.what.how == "killed" for event in stopped)


SITUATIONS: Mapping[str, Situation] = {
    "K125-FAIL-kill-zk-mode": _killed_in(ZOOKEEPER),
    "K125-FAIL-kill-kafka-mode": _killed_in(KAFKA),
    "K125-FAIL-freeze": _frozen,
    "K125-FAIL-ekc-evicted": _evicted,
    "K125-FAIL-zk-outage-kafka-mode": _zookeeper_stood_still,
    "K125-FAIL-toggle-during-rebalance": _toggled_while_joining,
    "K125-FAIL-kill-during-toggle": _killed_at_a_toggle,
    "K125-FAIL-coordinator-failover": _coordinator_crashed,
    "K125-OWN-toggle-zk-to-kafka": _link_disturbed_at_a_toggle(KAFKA),
    "K125-OWN-toggle-kafka-to-zk": _link_disturbed_at_a_toggle(ZOOKEEPER),
    "K125-PLAN-any-number": _replaced_together,
    "K125-OWN-mixed-roll": lambda history: _replaced(history, "old", "migrating"),
    "K125-OWN-kc-roll": lambda history: _replaced(history, "migrating", "new"),
    "K125-RBK-kc-to-mezkcc": lambda history: _replaced(history, "new", "migrating"),
    "K125-RBK-mezkcc-to-old": lambda history: _replaced(history, "migrating", "old"),
    "K125-PLAN-e2e": _whole_way("old", "new"),
    "K125-RBK-e2e": _whole_way("new", "old"),
    "K125-CMP-mix-old-mig": _three_kinds,
    "K125-CMP-mix-mig-kc": lambda history: _together(history, "migrating", "new", KAFKA),
    "K125-AVL-no-downtime-roll": lambda history: _whole_way("old", "new")(history) or _whole_way("new", "old")(history),
}
"""By requirement, whether a run was about it: then what holds for every group speaks for it."""
