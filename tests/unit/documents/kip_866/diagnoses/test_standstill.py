"""Facts about a migration that stands still: named where nothing else can hold it, on releases that have the bug."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.copying.beginning import migration_begins_when_every_node_is_ready
from pytest_kmigrate.documents.kip_866.diagnoses import standstill
from pytest_kmigrate.documents.kip_866.diagnoses.standstill import standing_still_at
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Sample, ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation
from tests.unit.checkers.histories import MS, event, fault, znode
from tests.unit.documents.kip_866.diagnoses.naming import named, named_of_steps, timed
from tests.unit.documents.kip_866.diagnoses.standstill import (
    ACTIVE,
    BROKERS,
    FAILED_MS,
    MIGRATION,
    STANDBY,
    flagged,
    in_charge,
    registered,
    reported,
    started,
    stuck,
)

Changed = Callable[[History], History]


def with_events(*more: Event) -> Changed:
    """The same run, in which this happened, too."""
    return lambda run: replace(run, events=sorted([*run.events, *more], key=lambda each: each.at_ns))


def with_samples(change: Callable[[Sample], Sample | None]) -> Changed:
    """The same run with other samples; None: without that one."""
    return lambda run: replace(run, samples=[new for each in run.samples if (new := change(each)) is not None])


def with_metric(name: str, value: float | None, after_ms: int = 0, before_ms: int = FAILED_MS) -> Changed:
    """The same run, in which the active controller reports this for some time."""

    def changed(each: Sample) -> Sample:
        is_then = each.node == ACTIVE and after_ms <= each.at_ns // MS < before_ms
        return replace(each, values={**each.values, name: value}) if is_then else each

    return with_samples(changed)


def with_znodes(*changes: ZnodeChange) -> Changed:
    """The same run with more changes of znodes, in the order of time."""
    return lambda run: replace(run, znodes=sorted([*run.znodes, *changes], key=lambda each: each.at_ns))


def without_znode(path: str) -> Changed:
    """The same run, in which this path was never seen."""
    return lambda run: replace(run, znodes=[each for each in run.znodes if each.path != path])


def of_another_release(run: History) -> History:
    """The controllers run a release of their own."""
    return with_events(event(EventKind.NODE_STARTED, 20_000, ACTIVE, role="controller", kafka="3.9.1"))(
        with_events(event(EventKind.NODE_READY, 20_100, ACTIVE))(run)
    )


ABORTED = "ERROR Encountered fatal fault: Aborting the ZK migration (ProcessTerminatingFaultHandler)"


def taken_over_and_given_up(said: str) -> History:
    """The same run, in which another controller claimed, could not copy, and ended with these words."""
    died = event(EventKind.NODE_DIED, 26_000, STANDBY, exit_code=1, said=said)
    claimed = in_charge(25_000, int(STANDBY.rpartition("-")[2]), kraft_epoch=1)
    return with_znodes(claimed)(with_events(died)(stuck()))


@pytest.mark.parametrize(("said", "bugs"), [(ABORTED, ("KAFKA-16563",)), ("ERROR out of memory", ())])
def test_a_controller_that_gave_the_copy_up_holds_no_other(said: str, bugs: tuple[str, ...]) -> None:
    """It ended as it is meant to, so that the next one begins again."""
    run = replace(taken_over_and_given_up(said), logs={ACTIVE: FAILED_POLL, STANDBY: ""})
    assert named_of_steps(run) == bugs


HEALED = event(EventKind.FAULT_HEALED, 60_000, fault_id="kill(active-controller)")


DRIVER = "INFO [KRaftMigrationDriver id=3000] "
IN_VAIN = f"{DRIVER}Still waiting for all controller nodes ready to begin the migration. Not ready due to: "
UNKNOWN_VERSION = f"{IN_VAIN}Missing apiVersion from nodes: [3002]\n"
UNREGISTERED = f"{IN_VAIN}No registration found for controller 3002\n"
FAILED_POLL = f"{DRIVER}Encountered ZooKeeper error during event PollEvent. Will retry.\n"
BROKERS_MISSING = f"{DRIVER}Still waiting for ZK brokers [2] to register with KRaft.\n"


@pytest.mark.parametrize(
    ("log", "kafka", "bugs"),
    [
        (BROKERS_MISSING + FAILED_POLL, "3.6.0", ("KAFKA-16563",)),
        (FAILED_POLL, "3.9.1", ()),
        (UNKNOWN_VERSION, "3.6.0", ("KAFKA-15369",)),
        (UNKNOWN_VERSION, "3.9.1", ()),
        (UNREGISTERED, "3.9.1", ("KAFKA-20247",)),
        (UNREGISTERED, "3.6.0", ()),
        (FAILED_POLL + UNREGISTERED, "3.9.1", ("KAFKA-20247",)),
        (UNREGISTERED + BROKERS_MISSING, "3.9.1", ()),
        ("", "3.6.0", ()),
    ],
)
def test_a_standstill_is_named_by_what_the_driver_logged_last(log: str, kafka: str, bugs: tuple[str, ...]) -> None:
    """On releases that have the bug; a driver that stands still and logs something else is another defect."""
    run = replace(stuck(kafka), logs={ACTIVE: log, STANDBY: UNREGISTERED + FAILED_POLL})
    assert named_of_steps(run) == bugs


@pytest.mark.parametrize(
    ("before", "after", "bugs"),
    [
        (UNREGISTERED, UNREGISTERED, ("KAFKA-20247",)),
        (UNREGISTERED, FAILED_POLL, ("KAFKA-20247",)),
        (BROKERS_MISSING, UNREGISTERED, ()),
        ("", UNREGISTERED, ()),
    ],
    ids=["on and on", "until nodes were stopped", "for another reason", "nothing"],
)
def test_what_the_driver_logs_once_the_step_has_failed_is_no_cause(
    before: str, after: str, bugs: tuple[str, ...]
) -> None:
    """As a controller that is stopped then is not registered."""
    later = event(EventKind.NODE_STOPPED, FAILED_MS + 10_000, "controller-3002", how="killed")
    log = "".join(f"2026-11-30 08:0{time} {line}" for time, line in (("2:20,000", before), ("2:35,000", after)) if line)
    run = timed(replace(with_events(later)(stuck("3.9.1")), logs={ACTIVE: log}))
    assert named_of_steps(run) == bugs


def test_a_build_stands_still_as_its_release_does() -> None:
    """Its nodes record the version of their jars, and its header the build."""
    run = replace(stuck("3.9.1"), logs={ACTIVE: UNREGISTERED})
    build = replace(run, header=replace(run.header, kafka="3.9.1+acme.0a1b2c3d"))
    assert named_of_steps(build) == ("KAFKA-20247",)


@pytest.mark.parametrize(("log", "bugs"), [(UNKNOWN_VERSION, ("KAFKA-15369",)), ("", ())])
def test_a_migration_that_does_not_begin_by_itself_is_named_by_the_same(log: str, bugs: tuple[str, ...]) -> None:
    """What the step waited for in vain is what the check of the beginning misses."""
    run = replace(with_events()(stuck("3.6.2")), logs={ACTIVE: log, STANDBY: UNKNOWN_VERSION})
    assert named(run, migration_begins_when_every_node_is_ready.judge(run)) == bugs


def without_step(run: History) -> History:
    """The same run, in which the step took its moves only, and the test waited for something else."""
    stopped = event(EventKind.STEP_ENDED, FAILED_MS, step="roll-brokers-into-migration", outcome="stopped", reason="")
    return replace(run, events=[stopped if each.kind is stopped.kind else each for each in run.events])


@pytest.mark.parametrize(("log", "bugs"), [(UNKNOWN_VERSION, ("KAFKA-15369",)), ("", ())])
def test_it_is_named_without_a_step_too(log: str, bugs: tuple[str, ...]) -> None:
    """A test may wait for a fault that the copy sets off."""
    run = replace(without_step(stuck("3.6.2")), logs={ACTIVE: log, STANDBY: UNKNOWN_VERSION})
    assert named(run, migration_begins_when_every_node_is_ready.judge(run)) == bugs


def claimed_and_killed(*, killed_ms: int = 31_000, kraft_epoch: int = 1) -> History:
    """The same run, in which another controller claimed at 30 s, was killed, and came back soon."""
    ends = event(EventKind.NODE_STOPPED, killed_ms, STANDBY, how="killed")
    claim = in_charge(30_000, int(STANDBY.rpartition("-")[2]), kraft_epoch=kraft_epoch)
    run = with_events(ends, *started(killed_ms + 1, STANDBY))(stuck())
    return replace(with_znodes(claim)(run), logs={ACTIVE: UNKNOWN_VERSION, STANDBY: ""})


def of_clients(check: str, at_ms: int, observed: str = "broker-2 in ZooKeeper mode does not") -> Verdict:
    """A broker in ZooKeeper mode reported something else than others at that time."""
    seen = Violation("both brokers report the same", observed, at_ns=at_ms * MS)
    return Verdict(check, Outcome.VIOLATES, Kind.LIVENESS, count=1, violations=(seen,))


@pytest.mark.parametrize(
    ("run", "bugs"),
    [
        (claimed_and_killed(), ("KAFKA-15369",)),
        (claimed_and_killed(killed_ms=29_000), ()),
        (replace(claimed_and_killed(), logs={ACTIVE: BROKERS_MISSING}), ()),
    ],
    ids=["met", "ended before it claimed", "the driver waits for something else"],
)
def test_a_claim_of_a_controller_that_was_killed_holds_no_other(run: History, bugs: tuple[str, ...]) -> None:
    """Its successor claims again; brokers in ZooKeeper mode hear of no controller meanwhile."""
    assert named_of_steps(run) == bugs
    for check in ("clients_are_told_the_same", "clients_are_told_of_brokers_only"):
        assert named(run, of_clients(check, 40_000)) == bugs
    assert named(run, of_clients("clients_are_told_the_same", 20_000)) == ()
    assert named(run, of_clients("clients_are_told_of_every_broker", 40_000)) == ()
    for observed in ("broker-2 in KRaft mode does not", "broker-2 in ZooKeeper mode gives controller-3001"):
        assert named(run, of_clients("clients_are_told_of_brokers_only", 40_000, observed)) == ()


def test_clients_are_told_otherwise_for_another_reason_without_such_a_claim() -> None:
    """While the controller of ZooKeeper is in charge, brokers hear from it."""
    run = replace(stuck(), logs={ACTIVE: UNKNOWN_VERSION, STANDBY: ""})
    assert named(run, of_clients("clients_are_told_the_same", 40_000)) == ()


@pytest.mark.parametrize(("brokers", "bugs"), [((0, 1, 2), ("KAFKA-16563",)), ((0, 1, 1), ()), ((), ())])
def test_before_3_6_the_log_counts_the_brokers(brokers: tuple[int, ...], bugs: tuple[str, ...]) -> None:
    """3.5 reports no MigratingZkBrokerCount, but says of each broker that it registered as one to migrate."""
    record = "Registered new broker: RegisterBrokerRecord(brokerId={}, isMigratingZkBroker=true, incarnationId=x"
    lines = [record.format(each) for each in brokers]
    run = with_metric("MigratingZkBrokerCount", None)(stuck("3.5.2"))
    assert named_of_steps(replace(run, logs={ACTIVE: "\n".join([*lines, FAILED_POLL]), STANDBY: ""})) == bugs


def test_a_log_is_not_read_again_for_each_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have megabytes, and a controller that waits is sampled for minutes."""
    read: list[str] = []
    monkeypatch.setattr(standstill, "registered_for_migration", lambda log: read.append(log) or set("012"))
    run = replace(stuck("3.5.2"), logs={ACTIVE: "of the active one", STANDBY: "of the standby"})
    assert standing_still_at(run, FAILED_MS * MS) == ACTIVE
    assert sorted(read) == ["of the active one", "of the standby"]


@pytest.mark.parametrize(
    "change",
    [
        with_metric("MigratingZkBrokerCount", 2),
        with_metric("MigratingZkBrokerCount", 2, before_ms=60_000),
        with_metric("MigratingZkBrokerCount", None),
        with_metric("ZkMigrationState", MIGRATION),
        with_metric("ZkMigrationState", None),
        with_metric("ActiveControllerCount", 0, after_ms=60_000, before_ms=62_000),
        with_samples(lambda each: replace(each, node=STANDBY if each.at_ns > 80_000 * MS else each.node)),
        with_samples(lambda each: reported(each.at_ns // MS, each.node)),
        with_samples(lambda each: None if 60_000 < each.at_ns // MS < 75_000 else each),
        lambda run: replace(run, samples=()),
        with_events(event(EventKind.NODE_STOPPED, 60_000, STANDBY)),
        with_events(event(EventKind.NODE_DIED, 31_000, "zookeeper-1", exit_code=1)),
        with_events(event(EventKind.NODE_PAUSED, 31_000, BROKERS[1])),
        with_events(event(EventKind.NODE_STOPPED, 60_000, BROKERS[1]), *started(61_000, BROKERS[1])),
        with_events(flagged(20_000, STANDBY, None), *started(20_001, STANDBY)),
        with_events(*fault(50_000), HEALED),
        of_another_release,
        with_znodes(in_charge(40_000, broker=3000, kraft_epoch=1)),
        with_znodes(znode(31_000, "/controller", None)),
        with_znodes(in_charge(60_000, broker=1)),
        with_znodes(registered(31_000, 0, 1)),
        with_znodes(registered(60_000, 0, 1), registered(70_000, 0, 1, 2)),
        without_znode("/controller"),
        without_znode("/brokers/ids"),
    ],
    ids=[
        "a broker is not registered",
        "a broker registered late",
        "a release that does not count them",
        "the migration has begun",
        "a release without the state",
        "another election",
        "another controller",
        "two that say they are active",
        "no look for long",
        "no look at all",
        "a controller is down",
        "ZooKeeper is down",
        "a broker stands still",
        "a broker was away",
        "a controller without the flag",
        "a fault was healed not long ago",
        "controllers of another release",
        "KRaft took over",
        "no controller in ZooKeeper",
        "ZooKeeper's controller changed",
        "a broker lost its session",
        "a broker lost its session for a while",
        "the controller is unknown",
        "the brokers are unknown",
    ],
)
def test_a_step_that_something_else_may_hold_is_not_named(change: Changed) -> None:
    """The step has failed as before, and no bug explains it, whatever the driver logged."""
    run = change(stuck())
    found = [named_of_steps(replace(run, logs={ACTIVE: log})) for log in (FAILED_POLL, UNKNOWN_VERSION, UNREGISTERED)]
    assert found == [(), (), ()]


def test_it_may_stand_as_long_as_a_driver_may_wait_between_two_looks() -> None:
    """Counted to when the step failed: what came later was the end of the run."""
    run = stuck()
    assert standing_still_at(run, 131_000 * MS) is None
    assert standing_still_at(run, 133_000 * MS) is not None


@pytest.mark.parametrize(
    "change",
    [
        with_events(*fault(20_000), replace(HEALED, at_ns=25_000 * MS)),
        with_samples(lambda each: replace(each, values=dict.fromkeys(each.values)) if each.at_ns % 9 else each),
        with_samples(lambda each: None if 60_000 < each.at_ns // MS < 68_000 else each),
        with_znodes(znode(60_000, "/migration", "{}")),
    ],
    ids=["a fault long before", "answers that were missed", "no look for a moment", "another znode"],
)
def test_what_holds_no_driver_excuses_none(change: Changed) -> None:
    """Trouble with ZooKeeper that is over may be what set the bug off."""
    assert standing_still_at(change(stuck()), FAILED_MS * MS) is not None
