"""Check that counters go on after the copy."""

import json
from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.copying.counters import counters_go_on_after_the_copy as check
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.documents.kip_866.checks.migrated import LOG, TAKEOVER_MS, migrated
from tests.unit.documents.kip_866.checks.outcomes import looked_at
from tests.unit.documents.kip_866.checks.transactions.logged import BROKER, logged

PLACE = next(iter(LOG.partitions))
TOPIC, _, NUMBER = PLACE.rpartition("-")
EPOCH, NEXT = LOG.partitions[PLACE]["leader_epoch"], LOG.producer_ids["next"]
BOTH = {"PROC-copy-tokens-pids": "CONFORMS", "PROC-copy-topics": "CONFORMS"}


def ids(at_ms: int, until: int) -> Transaction:
    """A broker takes a block of producer ids, up to this one."""
    content = json.dumps({"version": 1, "broker": 0, "block_start": str(until - 999), "block_end": str(until)})
    return logged(at_ms, BROKER, Write("set-data", "/latest_producer_id_block", content, 1))


def state(at_ms: int, epoch: int) -> Transaction:
    """A partition gets a leader epoch."""
    path = f"/brokers/topics/{TOPIC}/partitions/{NUMBER}/state"
    return logged(at_ms, BROKER, Write("set-data", path, json.dumps({"leader_epoch": epoch}), 1))


def run(*transactions: Transaction) -> History:
    """A migration before and after which ZooKeeper logged these."""
    return migrated(transactions=transactions)


def test_counters_that_go_on_conform() -> None:
    """Conforming: as far as they were, or further; what was logged after the take-over is not compared."""
    for epoch, following in ((EPOCH, NEXT), (EPOCH - 1, NEXT - 1_000)):
        later = (ids(TAKEOVER_MS + 5_000, NEXT + 5_000), state(TAKEOVER_MS + 5_000, EPOCH + 5))
        verdict = check.judge(run(ids(1_000, following - 1), state(2_000, epoch), *later))
        assert looked_at(verdict) == BOTH


@pytest.mark.parametrize(
    ("transaction", "row"),
    [(ids(1_000, NEXT), "PROC-copy-tokens-pids"), (state(2_000, EPOCH + 1), "PROC-copy-topics")],
)
def test_a_counter_that_begins_anew_violates(transaction: Transaction, row: str) -> None:
    """Violating: ids and epochs would be given twice."""
    verdict = check.judge(run(transaction))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.SAFETY)
    assert looked_at(verdict) == {row: "VIOLATES"}


@pytest.mark.parametrize("operation", ["create", "delete"])
def test_a_topic_that_was_made_or_deleted_since_is_left_out(operation: str) -> None:
    """Vacuous: its epochs begin anew."""
    made = logged(TAKEOVER_MS + 1_000, BROKER, Write(operation, f"/brokers/topics/{TOPIC}", "{}", 0))
    assert not looked_at(check.judge(run(state(2_000, EPOCH + 1), made)))


def test_without_a_counter_on_both_sides_nothing_is_proved() -> None:
    """Vacuous: none before the take-over, or none in the image."""
    assert check.judge(run(ids(TAKEOVER_MS + 1_000, NEXT))).outcome is Outcome.INCONCLUSIVE
    without = replace(LOG, partitions={})
    assert check.judge(migrated(log=without, transactions=[state(2_000, EPOCH)])).outcome is Outcome.INCONCLUSIVE


def test_a_log_without_producer_ids_begins_with_the_first_one() -> None:
    """Violating: nothing was copied of them."""
    found = migrated(log=replace(LOG, producer_ids={}), transactions=[ids(1_000, 999)])
    assert looked_at(check.judge(found)) == {"PROC-copy-tokens-pids": "VIOLATES"}
