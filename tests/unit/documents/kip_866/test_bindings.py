"""General claims speak for requirements of KIP-866 only in runs that could have violated them."""

from pytest_kmigrate.documents.kip_866.document import DOCUMENT
from pytest_kmigrate.model.checks import AnyChecker, by_name
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import ZnodeChange
from tests.unit.checkers.histories import MS, event, history, sent, znode
from tests.unit.documents.kip_866.checks.migrated import CLAIM

ROWS = [sent(number, began_ns=at_ms * MS, ended_ns=at_ms * MS) for number, at_ms in enumerate((1_000, 30_000))]
TAKEN = [znode(10_000, "/controller", CLAIM)]
REVERTED = [event(EventKind.STEP_ENDED, 20_000, step="deprovision-controllers", outcome="done", reason="")]


def bound(name: str) -> AnyChecker:
    """The general checker as KIP-866 binds it."""
    return by_name(DOCUMENT.checks)[name]


def spoken(name: str, events: list[Event], znodes: list[ZnodeChange], rows: int = 2) -> tuple[str, ...]:
    """The requirements it speaks for, of a run with these writes."""
    return bound(name).speaks_for(history(ROWS[:rows], events=events, znodes=znodes))


def test_records_speak_for_a_way_back_only_where_there_was_one() -> None:
    """And for clients where controllers took over; both only while records were written before and after."""
    assert spoken("no_acked_record_lost", [], []) == ()
    assert spoken("no_acked_record_lost", [], TAKEN) == ("K866-COMPAT-clients",)
    assert spoken("no_acked_record_lost", REVERTED, TAKEN) == ("K866-RB-data-kept", "K866-COMPAT-clients")
    assert spoken("no_acked_record_lost", REVERTED, TAKEN, rows=1) == ()
    assert spoken("no_record_passed_over", REVERTED, TAKEN) == ("K866-COMPAT-clients",)


def test_epochs_speak_for_elections_only_where_there_were_any() -> None:
    """Two epochs of one quorum."""
    again = [*TAKEN, znode(12_000, "/controller", CLAIM.replace('Epoch":1', 'Epoch":2'))]
    assert spoken("one_active_controller_per_epoch", [], TAKEN) == ()
    assert spoken("one_active_controller_per_epoch", [], again) == ("K866-ZNODE-controller-every-election",)


def test_traffic_speaks_for_an_outage_of_zookeeper_only_while_there_was_one() -> None:
    """All of the ensemble, and no other node, was taken away as records were sent."""
    started = event(EventKind.NODE_STARTED, 1, "zookeeper-1", role="zookeeper", mode=None, kafka="3.9.1")
    cut = event(EventKind.FAULT_APPLIED, 20_000, fault_id="cut", targets=["zookeeper-1", "controller-3000"])
    kill = event(EventKind.FAULT_APPLIED, 20_000, fault_id="kill", targets=["zookeeper-1"])
    healed = event(EventKind.FAULT_HEALED, 40_000, fault_id="kill")
    soon_healed = event(EventKind.FAULT_HEALED, 21_000, fault_id="kill")
    name, row = "longest_time_without_acked_write", "K866-FAIL-zk-down-data-plane"
    for each in (name, "longest_time_without_consumption"):
        assert spoken(each, [started, kill, healed], []) == (row,)
    assert spoken(name, [started, kill, soon_healed], []) == ()
    assert spoken(name, [started, cut, healed], []) == spoken(name, [kill, healed], []) == ()
