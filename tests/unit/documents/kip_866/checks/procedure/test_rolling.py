"""Check of brokers that are rolled in dual write."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.procedure.rolling import brokers_are_rolled_one_by_one
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import MS, Row, copies, event, fault, history, phase, sent, snapshot
from tests.unit.documents.kip_866.checks.nodes import broker, migrating, stopped
from tests.unit.documents.kip_866.checks.outcomes import looked_at

CHANGE = "BROKER_REGISTRATION_CHANGE_RECORD"
BEFORE = [*migrating(0, 0), *migrating(0, 1), phase(5_000, "HYBRID")]
UP = broker(21_000, mode="kraft")
SHUTS_DOWN = "the controllers record that a leader shuts down as soon as broker-1 is stopped"


def write(at_ms: int, took_ms: int = 10) -> Row:
    """An acknowledged write."""
    return sent(at_ms, began_ns=at_ms * MS, ended_ns=(at_ms + took_ms) * MS)


def logged(*shutdowns: int, registered: tuple[int, ...] = (31,)) -> MetadataImage:
    """The metadata log: the epochs of registrations of broker-1, and of those that asked for a shutdown."""
    records = [
        *(("REGISTER_BROKER_RECORD", {"brokerEpoch": epoch, "isMigratingZkBroker": True}) for epoch in registered),
        *((CHANGE, {"brokerEpoch": epoch, "fenced": -1, "inControlledShutdown": 0}) for epoch in registered),
        *((CHANGE, {"brokerEpoch": epoch, "fenced": 0, "inControlledShutdown": 1}) for epoch in shutdowns),
    ]
    announced = [
        {"offset": offset, "type": kind, "version": 1, "data": {"brokerId": 1, **data}}
        for offset, (kind, data) in enumerate(records)
    ]
    return MetadataImage("metadata-log", extra={"announced": announced})


def rolled(
    *events: Event,
    rows: tuple[Row, ...] = (write(20_000),),
    replicas: str = "0,1",
    leader: int = 1,
    image: MetadataImage | None = None,
) -> History:
    """Broker-1, which leads, is rolled in dual write, after 20 s; these writes were acknowledged; the log is read."""
    answers = [copies(1_000, replicas, leader=leader)]
    return history(
        rows,
        events=[*BEFORE, *events, snapshot(50_000, "a-log")],
        client_metadata=answers,
        images={"a-log": image or logged(31)},
    )


def test_a_broker_that_hands_over_and_comes_up_conforms() -> None:
    """Conforming: one row by the writes, the other by its start."""
    verdict = brokers_are_rolled_one_by_one.judge(rolled(stopped(20_000), *UP))
    assert looked_at(verdict) == dict.fromkeys(("PROC-roll-one-by-one", "FWD-controlled-shutdown"), "CONFORMS")


def test_a_shutdown_that_the_controllers_were_not_asked_for_violates() -> None:
    """Violating: leaders moved soon enough, but as the broker came back, and not because it asked for it."""
    verdict = brokers_are_rolled_one_by_one.judge(rolled(stopped(20_000), *UP, image=logged()))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.violations[0].expected == SHUTS_DOWN
    twice = [stopped(20_000), *migrating(22_000), stopped(40_000)]
    once = brokers_are_rolled_one_by_one.judge(rolled(*twice, image=logged(31, registered=(31, 47))))
    assert [each.expected for each in once.violations] == [SHUTS_DOWN]
    both = brokers_are_rolled_one_by_one.judge(rolled(*twice, image=logged(31, 47, registered=(31, 47))))
    assert looked_at(both) == {"FWD-controlled-shutdown": "CONFORMS"}


def test_a_broker_that_registered_before_the_run_is_shut_down_in_it() -> None:
    """Conforming: on the cluster of an earlier run. Violating: the one shutdown in the log is of that run."""
    run = rolled(stopped(20_000), *UP)
    for offset, outcome in ((0, "CONFORMS"), (2, "VIOLATES")):
        began_with = replace(run.header, extra={"scene": {"log_offset": offset}})
        judged = brokers_are_rolled_one_by_one.judge(replace(run, header=began_with))
        assert looked_at(judged).get("FWD-controlled-shutdown") == outcome


def test_a_broker_that_led_nothing_is_let_go_without_a_record() -> None:
    """Conforming: of two stops the first one needed none."""
    led_later = [copies(1_000, "0,1", leader=0), copies(30_000, "0,1", leader=1)]
    events = [stopped(20_000), *migrating(22_000), stopped(40_000)]
    run = rolled(*events, rows=(write(20_000), write(40_000)), image=logged(47, registered=(31, 47)))
    verdict = brokers_are_rolled_one_by_one.judge(replace(run, client_metadata=led_later))
    assert looked_at(verdict) == {"FWD-controlled-shutdown": "CONFORMS"}


def test_a_shutdown_without_a_leader_or_without_a_log_proves_nothing() -> None:
    """Vacuous: another broker leads; the answers did not agree for long; no later log lists changes."""
    snapshotted = replace(logged(), extra={**logged().extra, "begins_with_snapshot": True})
    unlisted = replace(logged(), extra={"announced": []})
    before = rolled(stopped(20_000), *UP)
    early = [snapshot(10_000, "a-log") if each.kind is EventKind.SNAPSHOT else each for each in before.events]
    for run in (
        rolled(stopped(20_000), *UP, leader=0),
        replace(before, client_metadata=[copies(19_000, "0,1", leader=1)]),
        replace(before, events=sorted(early, key=lambda each: each.at_ns)),
        rolled(stopped(20_000), *UP, image=snapshotted),
        rolled(stopped(20_000), *UP, image=unlisted),
    ):
        assert looked_at(brokers_are_rolled_one_by_one.judge(run)) == {"PROC-roll-one-by-one": "CONFORMS"}


@pytest.mark.parametrize(
    ("stop", "rows"),
    [(stopped(20_000), (write(20_000, 9_500),)), (stopped(20_000, how="hung", took_ms=2_000), (write(20_000),))],
)
def test_leaders_that_are_not_handed_over_violate(stop: Event, rows: tuple[Row, ...]) -> None:
    """Violating: a write waited for the session to end, or the broker did not end."""
    verdict = brokers_are_rolled_one_by_one.judge(rolled(stop, rows=rows))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert looked_at(verdict) == {"FWD-controlled-shutdown": "VIOLATES"}


@pytest.mark.parametrize("restarted_ms", [21_000, 35_000])
def test_partitions_that_no_other_broker_has_cannot_be_handed_over(restarted_ms: int) -> None:
    """Vacuous, however long the restart takes; with another replica in sync a slow one violates."""
    rows = (write(20_000, restarted_ms - 20_000 + 400),)
    events = [stopped(20_000), *broker(restarted_ms, mode="kraft")]
    alone = brokers_are_rolled_one_by_one.judge(rolled(*events, rows=rows, replicas="1"))
    assert looked_at(alone) == {"PROC-roll-one-by-one": "CONFORMS"}
    beside = brokers_are_rolled_one_by_one.judge(rolled(*events, rows=rows))
    is_slow = restarted_ms > 30_000
    assert looked_at(beside)["FWD-controlled-shutdown"] == ("VIOLATES" if is_slow else "CONFORMS")


def test_a_broker_that_is_rolled_alone_proves_nothing() -> None:
    """Vacuous: there is no other broker to hand over to, and none beside which it comes up."""
    events = [*migrating(0, 1), phase(5_000, "HYBRID"), stopped(20_000), *broker(35_000, mode="kraft")]
    run = history((write(20_000, 15_400),), events=events, client_metadata=[copies(1_000, "1", node="broker-1")])
    assert not looked_at(brokers_are_rolled_one_by_one.judge(run))


def test_a_broker_that_dies_in_kraft_mode_violates() -> None:
    """Violating: the other row."""
    died = event(EventKind.NODE_DIED, 22_000, "broker-1", exit_code=1, said="")
    verdict = brokers_are_rolled_one_by_one.judge(rolled(stopped(20_000), *broker(21_000, 1, "kraft", None), died))
    assert looked_at(verdict) == {"FWD-controlled-shutdown": "CONFORMS", "PROC-roll-one-by-one": "VIOLATES"}


@pytest.mark.parametrize(
    "run",
    [
        rolled(stopped(20_000, how="killed")),
        rolled(stopped(20_000), rows=()),
        rolled(stopped(20_000), rows=(write(50_000),)),
        rolled(*fault(19_000), stopped(20_000), *UP),
        rolled(phase(6_000, "PREPARING"), stopped(20_000)),
        rolled(stopped(8_000, "broker-0", how="killed"), stopped(20_000, how="killed"), *UP),
        rolled(
            stopped(20_000, how="killed"),
            *broker(21_000, 1, "kraft", None),
            event(EventKind.NODE_DIED, 22_000, "broker-1", exit_code=1, said=""),
            event(EventKind.EXPECTED_END, 23_000, nodes=["broker-1"], within_s=5, naming=None, began_ns=20_500 * MS),
        ),
    ],
    ids=[
        "killed",
        "no writes",
        "no writes then",
        "under a fault",
        "before dual write",
        "another one is away",
        "must die",
    ],
)
def test_what_is_no_roll_proves_nothing(run: History) -> None:
    """Vacuous."""
    assert not looked_at(brokers_are_rolled_one_by_one.judge(run))
