"""Which requirements a run of a group is about."""

import pytest

from pytest_kmigrate.documents import document
from pytest_kmigrate.documents.kip_125.evidence.situations import SITUATIONS
from pytest_kmigrate.documents.kip_125.kinds import NEW, OLD, WITHOUT
from pytest_kmigrate.model.event import Event, EventKind
from tests.unit.checkers.histories import event, history
from tests.unit.documents.kip_125.groups import ended, follows, member, owns, paused, worked_until, wrote

END = worked_until(60_000)
TWO = [member(1), member(2), follows(1, 10, "zookeeper")]
KILLED = {"K125-FAIL-kill-zk-mode"}
SLOWED = event(EventKind.FAULT_APPLIED, 5000, fault_id="fault-1", targets=["MEZKCC-1", "zookeeper-1"])
FORWARD = [member(1, OLD), member(2, at_ms=5000), ended(1, 6000, kind=OLD)]
BY_KAFKA = follows(1, 20, "kafka")
THREE = [member(1), member(2, WITHOUT), member(3, OLD)]


@pytest.mark.parametrize(
    ("events", "rows"),
    [
        (TWO, set()),
        ([*TWO, ended(1, 5000, "killed")], {"K125-FAIL-kill-zk-mode"}),
        ([*TWO, follows(1, 20, "kafka"), ended(1, 5000, "killed")], {"K125-FAIL-kill-kafka-mode"}),
        ([*TWO, paused(1, 5000)], {"K125-FAIL-freeze"}),
        (
            [member(1), member(3, NEW), follows(1, 20, "kafka"), paused(1, 5000)],
            {"K125-FAIL-freeze", "K125-FAIL-ekc-evicted"},
        ),
        ([*TWO, event(EventKind.NODE_PAUSED, 5000, "zookeeper-1")], set()),
        ([*TWO, BY_KAFKA, event(EventKind.NODE_PAUSED, 5000, "zookeeper-1")], {"K125-FAIL-zk-outage-kafka-mode"}),
        ([*TWO, event(EventKind.NODE_PAUSED, 5000, "broker-0")], set()),
        ([*TWO, wrote(1000, "kafka")], {"K125-FAIL-toggle-during-rebalance"}),
        ([member(1, WITHOUT), paused(1, 5000, WITHOUT)], {"K125-FAIL-freeze"}),
        ([member(1, OLD), paused(1, 5000, OLD)], set()),  # it has no lease
        (FORWARD, {"K125-OWN-mixed-roll"}),
        (
            [*FORWARD, member(3, NEW, 9000), ended(2, 10_000)],
            {"K125-OWN-mixed-roll", "K125-AVL-no-downtime-roll", "K125-OWN-kc-roll", "K125-PLAN-e2e"},
        ),
        (
            [member(1, NEW), member(2), ended(1, 5000, kind=NEW), member(3, OLD, 6000), ended(2, 7000)],
            {"K125-RBK-kc-to-mezkcc", "K125-RBK-mezkcc-to-old", "K125-RBK-e2e", "K125-AVL-no-downtime-roll"},
        ),
        (
            [member(1, NEW), member(2), ended(1, 5000, kind=NEW), member(3, WITHOUT, 6000), ended(2, 7000)],
            {"K125-RBK-kc-to-mezkcc", "K125-RBK-mezkcc-to-old"},  # not to the real old consumer
        ),
        ([*THREE, owns(1, 20, 0), owns(2, 20, 1), owns(3, 20, 2)], {"K125-CMP-mix-old-mig"}),
        ([*THREE, owns(1, 20, 0), owns(2, 20, 1)], set()),
        ([member(1), member(2, NEW), follows(1, 10, "kafka"), owns(1, 20, 0)], {"K125-CMP-mix-mig-kc"}),
        ([*TWO, wrote(9000, "zookeeper"), ended(1, 9500, "killed")], {*KILLED, "K125-FAIL-kill-during-toggle"}),
        ([*TWO, SLOWED, wrote(9000, "kafka")], {"K125-OWN-toggle-zk-to-kafka"}),
        ([*TWO, SLOWED, wrote(9000, "zookeeper")], {"K125-OWN-toggle-kafka-to-zk"}),
        ([*TWO, event(EventKind.NODE_STOPPED, 5000, "broker-0", how="killed")], {"K125-FAIL-coordinator-failover"}),
        ([*TWO, member(3), *(ended(each, 5000 + each) for each in (1, 2, 3))], {"K125-PLAN-any-number"}),
    ],
)
def test_a_run_is_about_what_happened_in_it(events: list[Event], rows: set[str]) -> None:
    """No more, no less: a claim that nothing put to the test is not judged."""
    run = history(events=[*events, END])
    assert {row for row, happened in SITUATIONS.items() if happened(run)} == rows


def test_what_holds_for_every_group_speaks_for_situations() -> None:
    """And only where they came about."""
    (bound,) = [each for each in document("kip-125").checks if each.name == "one_owner_at_a_time"][-1:]
    assert bound.speaks_for(history(events=[*TWO, END])) == ("K125-OWN-exactly-one",)
    assert "K125-FAIL-freeze" in bound.speaks_for(history(events=[*TWO, paused(1, 5000), END]))
