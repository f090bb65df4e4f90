"""Checks that ZooKeeper is left alone before the take-over and after finalization."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.transactions.left_alone import (
    provisioning_leaves_zookeeper_alone,
    zookeeper_is_left_alone_after_finalization,
)
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import event, history, phase, znode
from tests.unit.documents.kip_866.checks.nodes import broker, stopped
from tests.unit.documents.kip_866.checks.transactions.logged import (
    BROKER,
    FIRST,
    SECOND,
    TOPIC,
    claim,
    logged,
    place,
    run,
)

NONE_YET = Write("create", "/migration", '{"kraft_metadata_offset": -1}', 0)
END = event(EventKind.CHECKS, 60_000)


@pytest.mark.parametrize(
    "transaction",
    [
        logged(6_000, SECOND, NONE_YET),
        logged(6_000, SECOND, Write("create", "/config/ips", "", 0)),
        logged(6_000, SECOND, Write("create", "/config", "", 0)),
        logged(6_000, SECOND, error=-110),
        logged(6_000, SECOND, Write("create", "/kafka-acl/Topic/orders", "{}", 0)),
        logged(6_000, BROKER, TOPIC),
        logged(4_000, SECOND, TOPIC),
        logged(10_500, FIRST, TOPIC),
    ],
    ids=[
        "/migration",
        "of every cluster",
        "a parent",
        "refused",
        "an authorizer",
        "a broker",
        "before",
        "after the take-over",
    ],
)
def test_a_quorum_that_creates_migration_only_conforms(transaction: Transaction) -> None:
    """Conforming: what others write, and what was before and after, is not the quorum's."""
    assert provisioning_leaves_zookeeper_alone.judge(run(transaction)).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    "write",
    [
        TOPIC,
        replace(NONE_YET, operation="set-data"),
        Write("delete", "/controller"),
        Write("create", "/brokers/of-the-quorum", "", 0),
    ],
    ids=["a topic", "/migration again", "a deletion", "an empty znode of its own"],
)
def test_a_quorum_that_writes_more_before_the_takeover_violates(write: Write) -> None:
    """Violating: also where it never takes over."""
    assert provisioning_leaves_zookeeper_alone.judge(run(logged(6_000, SECOND, write))).outcome is Outcome.VIOLATES
    waits = run(logged(6_000, SECOND, write), before=[], events=[END])
    assert provisioning_leaves_zookeeper_alone.judge(waits).outcome is Outcome.VIOLATES


GONE = Write("delete", "/migration")


@pytest.mark.parametrize(
    ("data", "transactions", "outcome"),
    [
        ("", [logged(6_000, SECOND, GONE, NONE_YET)], Outcome.CONFORMS),
        (None, [logged(6_000, SECOND, GONE, NONE_YET)], Outcome.VIOLATES),
        ("{}", [logged(6_000, SECOND, GONE, NONE_YET)], Outcome.VIOLATES),
        ("", [logged(6_000, SECOND, GONE)], Outcome.VIOLATES),
        ("", [logged(6_000, SECOND, GONE), logged(6_100, SECOND, NONE_YET)], Outcome.VIOLATES),
        ("", [logged(6_000, SECOND, GONE, NONE_YET, TOPIC)], Outcome.VIOLATES),
    ],
    ids=["left empty", "not seen", "left with data", "only deleted", "not at once", "more"],
)
def test_a_znode_that_was_left_empty_may_be_made_anew(
    data: str | None, transactions: list[Transaction], outcome: Outcome
) -> None:
    """Kafka 3.9.2 does so (KAFKA-19480): to write what ``/migration`` begins with is all that it does."""
    left = [] if data is None else [znode(1_000, "/migration", data, mzxid=1_000)]
    assert provisioning_leaves_zookeeper_alone.judge(run(*transactions, znodes=left)).outcome is outcome


def test_what_a_quorum_writes_elsewhere_is_no_matter_of_the_cluster() -> None:
    """Conforming: below a path that a controller was given, and there only."""
    sent = event(EventKind.NODE_RECONFIGURED, 4_500, "controller-3000", changed={"zookeeper.connect": "z:1/else"})
    cases = [
        (Write("set-data", "/else/where", "{}", 1), Outcome.CONFORMS),
        (Write("create", "/else", "", 0), Outcome.CONFORMS),
        (Write("set-data", "/elsewhere", "{}", 1), Outcome.VIOLATES),
    ]
    for write, outcome in cases:
        assert provisioning_leaves_zookeeper_alone.judge(run(logged(6_000, SECOND, write), events=[sent])).outcome is (
            outcome
        )


def test_without_a_quorum_that_waits_nothing_is_proved() -> None:
    """Vacuous: none was started, or it took over at once, or that was before the run."""
    judge = provisioning_leaves_zookeeper_alone.judge
    assert judge(history(transactions=[logged(6_000, SECOND, TOPIC)])).is_vacuous
    assert judge(run(before=[claim(6_000)])).is_vacuous
    inherited = run(logged(6_000, SECOND, TOPIC))
    inherited = replace(inherited, header=replace(inherited.header, extra={"scene": {"log_offset": 9, "zxid": 5}}))
    assert judge(inherited).is_vacuous
    assert inherited.header.inherited_zxid == 5


def finalized(*transactions: Transaction, events: list[Event] | None = None) -> History:
    """A run that was finalized after 20 s, and ends after 60 s."""
    return run(*transactions, events=[phase(20_000, "FINALIZED"), END, *(events or [])])


def test_a_zookeeper_that_is_not_written_any_more_conforms() -> None:
    """Conforming: sessions that begin or are refused write nothing, and 5 s are for what was under way."""
    refused = [logged(30_000, SECOND), logged(31_000, SECOND, error=-110), logged(22_000, FIRST, place(200))]
    assert zookeeper_is_left_alone_after_finalization.judge(finalized(*refused)).outcome is Outcome.CONFORMS


@pytest.mark.parametrize("session", [FIRST, SECOND, BROKER])
def test_a_write_after_finalization_violates(session: int) -> None:
    """Violating: any session."""
    verdict = zookeeper_is_left_alone_after_finalization.judge(finalized(logged(26_000, session, TOPIC)))
    assert verdict.outcome is Outcome.VIOLATES
    hardly = [phase(20_000, "FINALIZED"), event(EventKind.CHECKS, 26_500)]
    in_a_second = run(logged(26_000, session, TOPIC), events=hardly)
    assert zookeeper_is_left_alone_after_finalization.judge(in_a_second).outcome is Outcome.VIOLATES
    assert verdict.violations[0].observed.startswith(
        f"zxid 0x6590 of session {session:#x}: set-data /brokers/topics/orders"
    )


@pytest.mark.parametrize(
    "there",
    [
        run(logged(26_000, SECOND, TOPIC), events=[END]),
        finalized(logged(26_000, SECOND, TOPIC), events=[stopped(24_000, "zookeeper-1")]),
        finalized(logged(26_000, SECOND, TOPIC), events=broker(23_000)),
        run(logged(26_000, SECOND, TOPIC), events=[phase(20_000, "FINALIZED"), event(EventKind.CHECKS, 24_000)]),
        run(events=[phase(20_000, "FINALIZED"), event(EventKind.CHECKS, 26_000)]),
    ],
    ids=["not finalized", "ZooKeeper down", "a broker is back", "just finalized", "a second"],
)
def test_without_a_zookeeper_to_write_to_nothing_is_proved(there: History) -> None:
    """Vacuous."""
    assert zookeeper_is_left_alone_after_finalization.judge(there).is_vacuous
