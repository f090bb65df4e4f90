"""Facts about a write whose answer was lost: the controller expects a former version of ``/migration`` for ever."""

import json
from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.checkers.clients.availability import longest_time_without_acked_write
from pytest_kmigrate.checkers.evidence.expectations import CLIENTS_SERVED
from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.documents.kip_866.checks.metrics.distance import lag_is_the_distance
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import zookeeper_lag_grows_and_falls_back
from pytest_kmigrate.documents.kip_866.checks.transactions.following import raised_by
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Write, ZnodeChange
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation
from tests.unit.checkers.histories import (
    MS,
    Row,
    change,
    event,
    fault,
    history,
    phase,
    sample,
    sent,
    snapshot,
    unsure,
    znode,
)
from tests.unit.checkers.images import FULL
from tests.unit.documents.kip_866.checks.transactions.logged import FIRST, logged
from tests.unit.documents.kip_866.diagnoses.naming import CONTROLLERS, named, named_of_expectations, started, unmet

CUT_OFF = "WARN Session 0x10003bbc4e60007 for server zookeeper-1/127.1.7.1:2181, Closing socket connection.\n"


def refused(version: int = 33, after: str = CUT_OFF) -> str:
    """What a controller logs when its connection was lost, and of each write then."""
    return after + (
        "ERROR Encountered zk migration fault: Unhandled error in MetadataChangeEvent (LoggingFaultHandler)\n"
        f"java.lang.RuntimeException: Check op on KRaft Migration ZNode failed. Sent zkVersion = {version}. This "
        "indicates that another KRaft controller is making writes to ZooKeeper.\n"
    )


AWAY = event(EventKind.FAULT_APPLIED, 15_000, fault_id="fault-1", targets=["zookeeper-1", "controller-3001"])
BACK = event(EventKind.FAULT_HEALED, 18_000, fault_id="fault-1")
OUTAGE = [phase(5, "HYBRID"), AWAY, BACK]
HELD = json.dumps({"kraft_metadata_offset": 87, "kraft_metadata_epoch": 1, "kraft_controller_id": 3001})


def after_an_outage(*events: Event, log: str | None = None, by: str = "controller-3001", **more: Any) -> History:
    """A run in which ZooKeeper was away, and ``/migration`` has version 34 since before."""
    began = [*started("zookeeper-1", *CONTROLLERS), *started("broker-1", mode="zookeeper"), *OUTAGE, *events]
    znodes = [znode(14_000, "/migration", HELD, version=34)]
    return history(events=began, znodes=znodes, logs={by: refused() if log is None else log}, **more)


LOST = [change(20_000, "alter-config", "broker:1", wanted={"a": "2"}), snapshot(60_000, "after", took_ms=0)]


def lacking(source: str = "zookeeper", *events: Event, **more: Any) -> History:
    """ZooKeeper lacks a change that was made when it was back."""
    return after_an_outage(*LOST, *events, images={"after": MetadataImage(source, known=FULL.known)}, **more)


def test_what_zookeeper_lacks_since_is_kmigrate_7() -> None:
    """The same controller is active, and sent a version that its own write had raised."""
    run = lacking()
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == ("kmigrate-7",)


@pytest.mark.parametrize(("written_ms", "bugs"), [(65_000, ("kmigrate-7",)), (40_000, ())], ids=["later", "before"])
def test_what_the_next_controller_writes_after_the_image_was_missing_in_it(
    written_ms: int, bugs: tuple[str, ...]
) -> None:
    """A write before the image refutes that none came: something else took it away."""
    run = lacking(transactions=[logged(written_ms, FIRST, Write("set-data", "/config/brokers/1", "{}", 3))])
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs


def test_a_write_that_nothing_disturbed_is_another_defect() -> None:
    """Its answer was there, as no connection was lost and no fault was in force: the controller took no version."""
    verdict = acknowledged_metadata_changes_present.judge(undisturbed := lacking(log=refused(after="")), "after")
    assert named(undisturbed, verdict) == ()
    under_a_fault = lacking("zookeeper", *fault(15_000), log=refused(after=""))
    assert named(under_a_fault, acknowledged_metadata_changes_present.judge(under_a_fault, "after")) == ("kmigrate-7",)


CHANGE_FAILED = (
    "2026-11-30 12:00:{} INFO [KRaftMigrationDriver id=3001] Encountered ZooKeeper error during event "
    "MetadataChangeEvent{{provenance=x, isSnapshot=false}}. Will retry. (KRaftMigrationDriver)\n"
)


AS_IT_WROTE = CHANGE_FAILED.format("15,000")
BELOW = refused(33, after="")


@pytest.mark.parametrize(
    ("log", "active", "bugs"),
    [
        (AS_IT_WROTE + BELOW, "controller-3001", ("kmigrate-7",)),
        (CHANGE_FAILED.format("25,000") + BELOW, "controller-3001", ()),
        (CHANGE_FAILED.format("05,000") + BELOW, "controller-3001", ()),
        (AS_IT_WROTE + refused(34, after=""), "controller-3001", ()),
        (AS_IT_WROTE, "controller-3001", ()),
        (refused(3, after="") + AS_IT_WROTE, "controller-3001", ()),
        (AS_IT_WROTE + BELOW, "controller-3002", ()),
    ],
    ids=[
        "as it wrote",
        "long after",
        "long before",
        "the version is right",
        "it sends none since",
        "an earlier version was refused before",
        "another one is active",
    ],
)
def test_a_change_that_failed_for_another_part_of_it_is_kmigrate_7(
    log: str, active: str, bugs: tuple[str, ...]
) -> None:
    """No fault and no lost connection: the first part of the change was written, and its version forgotten."""
    elected = event(EventKind.ACTIVE_CONTROLLER, 10_000, active, controller=active)
    run = history(
        events=[*started("zookeeper-1", *CONTROLLERS), phase(5, "HYBRID"), elected, *LOST],
        znodes=[znode(14_000, "/migration", HELD, version=34)],
        logs={"controller-3001": log},
        images={"after": MetadataImage("zookeeper", known=FULL.known)},
    )
    run = replace(run, header=replace(run.header, started_at="2026-11-30T12:00:00+00:00"))
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs


@pytest.mark.parametrize(
    "run",
    [
        lacking("metadata-log"),
        lacking("zookeeper", event(EventKind.ACTIVE_CONTROLLER, 30_000, "controller-3002")),
        lacking(log=""),
        lacking(log=refused(34)),
        lacking(by="controller-3002"),
    ],
    ids=["the log lacks it", "another took over", "it just stopped", "the version is right", "another controller"],
)
def test_a_controller_that_stopped_writing_for_another_reason_is_not_kmigrate_7(run: History) -> None:
    """A driver that hangs after an outage shows the same to ZooKeeper."""
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == ()


@pytest.mark.parametrize(("seen_ms", "bugs"), [(35_000, ("kmigrate-7",)), (45_000, ())])
def test_the_last_write_may_be_seen_when_the_ensemble_has_elected(seen_ms: int, bugs: tuple[str, ...]) -> None:
    """A watcher hears of it as late as that; a controller that has just written has not stopped."""
    run = lacking()
    run = replace(run, znodes=[replace(each, at_ns=seen_ms * MS) for each in run.znodes])
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs


SENDS: list[Row] = [sent(0, 0, began_ns=0, ended_ns=10 * MS), sent(6, 1, began_ns=19_000 * MS, ended_ns=19_010 * MS)]
WAITING = unsure(7, began_ns=20_000 * MS, ended_ns=80_000 * MS)
LONG_BEFORE = sent(5, 2, began_ns=100 * MS, ended_ns=9_000 * MS)


@pytest.mark.parametrize(
    ("rows", "events", "log", "bugs"),
    [
        ([], [], None, ("kmigrate-7",)),
        ([], [], "", ()),
        ([], [phase(6, "ALL_KRAFT")], None, ()),
        ([LONG_BEFORE], [], None, ()),
    ],
    ids=["not told", "nothing is logged", "in KRaft mode", "one gap of another reason"],
)
def test_clients_that_are_not_served_since_are_kmigrate_7(
    rows: list[Row], events: list[Event], log: str | None, bugs: tuple[str, ...]
) -> None:
    """In HYBRID, where brokers learn whom they lead when ZooKeeper has been written: as gaps, and as a wait."""
    ended = unmet(80_000, CLIENTS_SERVED, expected="500 acknowledged sends", observed="41")
    run = after_an_outage(*events, ended, log=log, rows=[*SENDS, *rows, WAITING])
    assert named(run, longest_time_without_acked_write.judge(run, at_most_s=5)) == bugs
    if not rows:
        assert named_of_expectations(run) == bugs


@pytest.mark.parametrize(
    ("rows", "events", "bugs"),
    [
        ([*SENDS, WAITING], [], ("kmigrate-7",)),
        ([SENDS[0], {**WAITING, "began_ns": 1_000 * MS}], [], ()),
        ([*SENDS, WAITING], started("broker-1", mode="kraft", at_ms=15_500), ()),
    ],
    ids=["since the write", "since before", "all in KRaft mode"],
)
def test_clients_that_were_not_served_before_have_another_trouble(
    rows: list[Row], events: list[Event], bugs: tuple[str, ...]
) -> None:
    """Brokers had all that was written by then, and those in KRaft mode need no more."""
    run = after_an_outage(*events, event(EventKind.CHECKS, 81_000), rows=rows)
    assert named(run, longest_time_without_acked_write.judge(run, at_most_s=5)) == bugs


def test_another_expectation_is_not_kmigrate_7() -> None:
    """Of what the run shows beside it that bug explains nothing."""
    run = after_an_outage(unmet(80_000, "topics that live on", expected=[], observed=["doomed"]))
    assert named_of_expectations(run) == ()


@pytest.mark.parametrize(("log", "bugs"), [(None, ("kmigrate-7",)), ("", ())])
def test_a_lag_that_does_not_fall_back_is_named_by_the_log(log: str | None, bugs: tuple[str, ...]) -> None:
    """It grows for ever where a driver hangs for another reason, too."""
    claimed = znode(10_000, "/controller", json.dumps({"brokerid": 3001, "kraftControllerEpoch": 1}))
    reported = {"ActiveControllerCount": 1, "ZkMigrationState": 1}
    samples = [sample(at, "controller-3001", ZkWriteBehindLag=at // 100, **reported) for at in range(0, 70_000, 100)]
    run = after_an_outage(event(EventKind.CHECKS, 70_000), log=log, samples=samples)
    run = history(events=run.events, znodes=[claimed, *run.znodes], samples=samples, logs=run.logs)
    assert named(run, zookeeper_lag_grows_and_falls_back.judge(run)) == bugs
    flat = [replace(each, values={**each.values, "ZkWriteBehindLag": 0}) for each in run.samples]
    never_grew = zookeeper_lag_grows_and_falls_back.judge(replace(run, samples=flat))
    assert never_grew.kind is Kind.SAFETY
    assert named(replace(run, samples=flat), never_grew) == ()


WRITTEN_AGAIN = znode(62_000, "/migration", HELD.replace("87", "88"), version=35)
SUCCEEDED = znode(62_000, "/migration", HELD.replace("3001", "3000"), version=35)


@pytest.mark.parametrize(
    ("log", "written", "ended_ms", "bugs"),
    [
        (None, [], 70_000, ("kmigrate-7",)),
        ("", [], 70_000, ()),
        (None, [WRITTEN_AGAIN], 70_000, ()),
        (None, [SUCCEEDED], 70_000, ("kmigrate-7",)),
        ("", [SUCCEEDED], 70_000, ()),
        (None, [], 30_000, ()),
    ],
    ids=["given up", "nothing is logged", "written again", "succeeded", "succeeded otherwise", "the run is too short"],
)
def test_a_lag_that_is_not_the_distance_is_named_by_the_log(
    log: str | None, written: list[ZnodeChange], ended_ms: int, bugs: tuple[str, ...]
) -> None:
    """It is brought up to date before the write that fails: where another lag is wrong, that bug explains nothing."""
    values = {"ActiveControllerCount": 1, "ZkWriteBehindLag": 1, "LastCommittedRecordOffset": 144}
    samples = [sample(at, "controller-3001", **values) for at in range(13_000, 26_000, 500)]
    run = after_an_outage(event(EventKind.CHECKS, ended_ms), log=log, samples=samples)
    run = replace(run, znodes=[*run.znodes, *written])
    verdict = lag_is_the_distance.judge(run)
    assert verdict.outcome is Outcome.VIOLATES
    assert named(run, verdict) == bugs


@pytest.mark.parametrize(
    ("log", "written", "raised", "bugs"),
    [
        (None, [], 0, ("kmigrate-7",)),
        (None, [SUCCEEDED], 0, ()),
        (None, [], 1, ()),
        ("", [], 0, ()),
        (refused(34), [], 0, ()),
    ],
    ids=["given up", "another controller wrote", "raised later", "nothing is logged", "the version is right"],
)
def test_an_offset_that_no_later_write_raises_is_named_by_the_log(
    log: str | None, written: list[ZnodeChange], raised: int, bugs: tuple[str, ...]
) -> None:
    """The write that would have raised it was never made, and none after it."""
    run = after_an_outage(event(EventKind.CHECKS, 70_000), log=log)
    run = replace(run, znodes=[*run.znodes, *written])
    observed = f"3 of 3 writes leave the offset as it was, {raised_by(raised)}; the first is zxid 0x7"
    left = Violation("each write puts the offset of its record into /migration", observed, 14_000 * MS)
    verdict = Verdict("zookeeper_follows_the_log", Outcome.VIOLATES, Kind.SAFETY, violations=(left,), count=1)
    assert named(run, verdict) == bugs


@pytest.mark.parametrize(
    ("fault", "targets", "bugs"),
    [
        ("expire-session(active-controller)", ["controller-3001"], ("kmigrate-7",)),
        ("expire-session(broker-0)", ["broker-0"], ()),
        ("pause(active-controller)", ["controller-3001"], ()),
    ],
    ids=["its session", "the session of a broker", "no session"],
)
def test_an_answer_is_lost_with_the_session_too(fault: str, targets: list[str], bugs: tuple[str, ...]) -> None:
    """ZooKeeper was there all the time, and ended the session of the controller that had just written."""
    values = {"ActiveControllerCount": 1, "ZkWriteBehindLag": 1, "LastCommittedRecordOffset": 144}
    samples = [sample(at, "controller-3001", **values) for at in range(13_000, 26_000, 500)]
    expired = {"fault": fault, "fault_id": "fault-1", "effect": "x", "trigger": "now"}
    events = [
        *started("zookeeper-1", *CONTROLLERS),
        phase(5, "HYBRID"),
        event(EventKind.FAULT_BEGAN, 14_900, **expired),
        event(EventKind.FAULT_APPLIED, 15_000, fault_id="fault-1", targets=targets),
        event(EventKind.FAULT_HEALED, 18_000, fault_id="fault-1"),
        event(EventKind.CHECKS, 70_000),
    ]
    znodes = [znode(14_000, "/migration", HELD, version=34)]
    run = history(events=events, znodes=znodes, samples=samples, logs={"controller-3001": refused()})
    assert named(run, lag_is_the_distance.judge(run)) == bugs


OF_ZOOKEEPER_MODE = "broker-0 in KRaft mode reports more; broker-1 in ZooKeeper mode reports nothing more, for 11 s"


@pytest.mark.parametrize(
    "check",
    [
        "brokers_are_rolled_one_by_one",
        "clients_are_told_of_every_broker",
        "clients_are_told_the_same",
        "partitions_stay_available",
    ],
)
@pytest.mark.parametrize(
    ("at_ms", "events", "log", "bugs"),
    [
        (50_000, [], None, ("kmigrate-7",)),
        (25_000, [], None, ("kmigrate-7",)),
        (25_000, [], "", ()),
        (50_000, [], "", ()),
        (50_000, [phase(45_000, "ALL_KRAFT")], None, ()),
        (14_500, [], None, ()),
        (None, [], None, ()),
    ],
    ids=[
        "given up",
        "as it begins",
        "it begins otherwise",
        "nothing is logged",
        "in KRaft mode",
        "before",
        "at no time",
    ],
)
def test_writes_that_stop_with_a_broker_since_are_kmigrate_7(
    check: str, at_ms: int | None, events: list[Event], log: str | None, bugs: tuple[str, ...]
) -> None:
    """In HYBRID the others do not hear what they lead."""
    run = after_an_outage(*events, event(EventKind.CHECKS, 80_000), log=log)
    violation = Violation("a", OF_ZOOKEEPER_MODE, None if at_ms is None else at_ms * MS)
    verdict = Verdict(check, Outcome.VIOLATES, Kind.LIVENESS, violations=(violation,), count=1)
    assert named(run, verdict) == bugs


@pytest.mark.parametrize(
    ("check", "expected", "observed", "bugs"),
    [
        ("clients_are_told_the_same", "both brokers report the same topic a", OF_ZOOKEEPER_MODE, ("kmigrate-7",)),
        (
            "clients_are_told_the_same",
            "both brokers report the same topic a",
            OF_ZOOKEEPER_MODE.replace("ZooKeeper", "KRaft"),
            (),
        ),
        (
            "clients_are_told_of_every_broker",
            "broker-1 in ZooKeeper mode lists broker-0 in KRaft mode",
            "it lists 1, 11 s after broker-0 was ready",
            ("kmigrate-7",),
        ),
        (
            "clients_are_told_of_every_broker",
            "broker-0 in KRaft mode lists broker-1 in ZooKeeper mode",
            "it lists 0, 11 s after broker-1 was ready",
            (),
        ),
    ],
    ids=["unlike in ZooKeeper mode", "unlike in KRaft mode", "lacking in ZooKeeper mode", "lacking in KRaft mode"],
)
def test_brokers_in_kraft_mode_learn_from_the_log(
    check: str, expected: str, observed: str, bugs: tuple[str, ...]
) -> None:
    """What they do not report has another cause, also while nothing is written to ZooKeeper."""
    run = after_an_outage(event(EventKind.CHECKS, 80_000))
    violation = Violation(expected, observed, 50_000 * MS)
    assert named(run, Verdict(check, Outcome.VIOLATES, Kind.LIVENESS, violations=(violation,), count=1)) == bugs


@pytest.mark.parametrize(
    ("events", "bugs"),
    [
        ([], ("kmigrate-7",)),
        ([event(EventKind.NODE_STOPPED, 40_000, "broker-1", how="killed", took_ms=0)], ()),
        (
            [
                event(EventKind.NODE_STOPPED, 40_000, "broker-1", how="killed", took_ms=0),
                *started("broker-1", mode="zookeeper", at_ms=60_000),
            ],
            ("kmigrate-7",),
        ),
        (started("broker-1", mode="kraft", at_ms=40_000), ()),
    ],
    ids=["one runs", "none runs", "it comes back", "all in KRaft mode"],
)
@pytest.mark.parametrize("check", ["brokers_are_rolled_one_by_one", "partitions_stay_available"])
def test_only_brokers_in_zookeeper_mode_do_not_hear_what_they_lead(
    check: str, events: list[Event], bugs: tuple[str, ...]
) -> None:
    """Where none of them runs ZooKeeper is not what keeps a partition from its writes."""
    run = after_an_outage(*events, event(EventKind.CHECKS, 90_000))
    gap = (50_000 * MS, 80_000 * MS)
    violation = Violation("some write is acknowledged", "none was for 30 s", gap[0], awaited=gap)
    assert named(run, Verdict(check, Outcome.VIOLATES, Kind.LIVENESS, violations=(violation,), count=1)) == bugs


EARLIER = [
    event(EventKind.ACTIVE_CONTROLLER, at_ms, f"controller-{number}", controller=f"controller-{number}")
    for at_ms, number in ((500, 3001), (5_000, 3000), (10_000, 3001))
]


@pytest.mark.parametrize(
    ("sent", "bugs"), [(33, ("kmigrate-7",)), (4, ())], ids=["in this reign", "in an earlier reign"]
)
def test_a_version_that_was_sent_in_an_earlier_reign_explains_nothing_now(sent: int, bugs: tuple[str, ...]) -> None:
    """A controller that is elected again reads the znode again; why it writes nothing now is another matter."""
    run = lacking("zookeeper", *EARLIER, log=refused(sent))
    before = [
        znode(1_000, "/migration", HELD, version=5),
        znode(6_000, "/migration", HELD.replace("3001", "3000"), version=20),
    ]
    run = replace(run, znodes=[*before, *run.znodes])
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs


@pytest.mark.parametrize(("offset", "bugs"), [(88, ("kmigrate-7",)), (87, ())], ids=["behind it", "at it"])
def test_what_the_position_had_come_to_is_lacking_for_another_reason(offset: int, bugs: tuple[str, ...]) -> None:
    """The last record of the log about it says so, whenever it was acknowledged."""
    data = {"resourceType": 4, "resourceName": "1", "name": "a", "value": "2"}
    record = {"offset": offset, "type": "CONFIG_RECORD", "version": 0, "data": data}
    run = lacking()
    log = MetadataImage("metadata-log", known=FULL.known, configs={"broker:1": {"a": "2"}}, read_from=[record])
    run = replace(run, images={**run.images, "log": log})
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs
