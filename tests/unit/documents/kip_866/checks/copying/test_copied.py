"""Check of what the copy holds, on an image of the metadata log."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.checks.copying.copied import copy_holds_what_was_acknowledged
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import change
from tests.unit.documents.kip_866.checks.migrated import LOG, migrated
from tests.unit.documents.kip_866.checks.outcomes import looked_at

BEFORE = [
    change(1_000, "create-topic", "orders", wanted={"partitions": 2, "replication": 2}),
    change(2_000, "alter-config", "broker:1", wanted={"a": "b"}),
    change(3_000, "set-quota", "user=a", wanted={"producer_byte_rate": 1024.0}),
    change(4_000, "set-scram", "a:SCRAM-SHA-256", wanted={"iterations": 4096}),
    change(5_000, "set-acl", "Topic:LITERAL:orders", wanted={"binding": "User:a|*|READ|ALLOW"}),
]
ROWS = {row.partition("-")[2] for row in copy_holds_what_was_acknowledged.requirements}


def test_everything_that_was_acknowledged_before_and_is_in_the_log_conforms() -> None:
    """Conforming: each family by its own changes."""
    assert looked_at(copy_holds_what_was_acknowledged.judge(migrated(BEFORE))) == dict.fromkeys(ROWS, "CONFORMS")


@pytest.mark.parametrize(
    ("lacking", "row"),
    [
        ({"topics": {}}, "PROC-copy-topics"),
        ({"partitions": {}}, "PROC-copy-topics"),
        ({"configs": {"broker:1": {"a": "encoded"}}}, "PROC-copy-configs"),
        ({"quotas": {"user=": {"producer_byte_rate": 1024.0}}}, "PROC-copy-quotas-scram"),
        ({"scram": {}}, "PROC-copy-quotas-scram"),
        ({"acls": {}}, "PROC-copy-acls"),
    ],
)
def test_what_the_copy_lost_violates_its_own_row(lacking: dict[str, Any], row: str) -> None:
    """Violating: also where ZooKeeper was made equal afterwards, so that both sides agree."""
    verdict = copy_holds_what_was_acknowledged.judge(migrated(BEFORE, log=replace(LOG, **lacking)))
    assert looked_at(verdict) == {**dict.fromkeys(ROWS, "CONFORMS"), row: "VIOLATES"}


def test_what_was_changed_after_the_take_over_says_nothing_of_the_copy() -> None:
    """Vacuous: dual write has to answer for it, here or where it was changed again."""
    after = [replace(each, at_ns=each.at_ns + 11_000_000_000) for each in BEFORE]
    verdict = copy_holds_what_was_acknowledged.judge(migrated(after, log=replace(LOG, acls={})))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert not looked_at(verdict)
