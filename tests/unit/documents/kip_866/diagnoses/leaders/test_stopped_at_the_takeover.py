"""Facts about brokers that are stopped as KRaft takes over."""

import json

import pytest

from pytest_kmigrate.documents.kip_866.checks.procedure.rolling import AS_SOON_AS
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation
from tests.unit.checkers.histories import MS, event, history, znode
from tests.unit.documents.kip_866.diagnoses.naming import BROKERS, named, started, timed

ASKED = "INFO [KafkaServer id=0] Controlled shutdown request returned after 2ms with error STALE_CONTROLLER_EPOCH\n"
GRANTED = "INFO [KafkaServer id=0] Controlled shutdown request returned successfully after 97ms (KafkaServer)\n"
UNCLEAN = (
    "2026-11-30 08:00:{},000 WARN [KafkaServer id=0] Proceeding to do an unclean shutdown as all the controlled "
    "shutdown attempts failed\n"
)
NAMED = ("kmigrate-26",)
WRITES = "writes to orders-2 are acknowledged again as soon as broker-0 is stopped"
CLAIM = znode(10_000, "/controller", json.dumps({"brokerid": 3000, "kraftControllerEpoch": 1}))


def without_writes(at_ms: int, expected: str = WRITES) -> Verdict:
    """The check of the rolling, about a stop at this time."""
    violation = Violation(expected, "none was for 10.5 s", at_ms * MS)
    return Verdict("brokers_are_rolled_one_by_one", Outcome.VIOLATES, Kind.LIVENESS, violations=(violation,), count=1)


def stop(at_ms: int, how: str = "controlled") -> Event:
    """A broker that ended 10.5 s after it had been asked to stop."""
    return event(EventKind.NODE_STOPPED, at_ms, "broker-0", how=how, took_ms=10_500)


def with_stops(log: str, *stops: Event) -> History:
    """A run in which KRaft took over and a broker was stopped."""
    events = [*started(*BROKERS, "controller-3000"), *stops]
    return timed(history(events=events, znodes=[CLAIM], logs={"broker-0": log}))


@pytest.mark.parametrize(
    ("log", "stopped_ms", "how", "bugs"),
    [
        (GRANTED + ASKED * 3 + UNCLEAN, 23_000, "controlled", NAMED),
        (ASKED * 3 + GRANTED, 23_000, "controlled", ()),
        (ASKED * 2 + GRANTED + UNCLEAN, 23_000, "controlled", ()),
        (UNCLEAN, 23_000, "controlled", ()),
        (ASKED * 3 + UNCLEAN, 60_000, "controlled", ()),
        (ASKED * 3 + UNCLEAN, 19_000, "controlled", ()),
        (ASKED * 3 + UNCLEAN, 23_000, "killed", ()),
    ],
    ids=["asked in vain", "let go at last", "for another reason", "not asked", "long after", "before", "killed"],
)
def test_a_broker_that_asks_the_former_controller_is_named(
    log: str, stopped_ms: int, how: str, bugs: tuple[str, ...]
) -> None:
    """Stopped later, before, or with another answer, a broker that keeps its leaders is another defect."""
    stopped = stop(stopped_ms, how)
    run = with_stops(log.format(stopped_ms // 1000 - 1), stopped)
    assert named(run, without_writes(stopped_ms)) == bugs
    recorded = f"the controllers record that a leader shuts down {AS_SOON_AS.format('broker-0')}"
    assert named(run, without_writes(stopped_ms, recorded)) == bugs


@pytest.mark.parametrize(("target", "bugs"), [("broker-0", NAMED), ("broker-1", ())])
def test_a_broker_whose_clock_a_fault_has_set_logs_the_time_of_that_clock(target: str, bugs: tuple[str, ...]) -> None:
    """A hundred seconds ahead; another broker's says nothing."""
    name = f"clock({target}, +100 s)"
    events = [
        event(EventKind.FAULT_BEGAN, 8_000, fault=name, fault_id="1", effect="clock", trigger="now"),
        event(EventKind.FAULT_APPLIED, 8_500, fault_id="1", targets=[target]),
    ]
    run = with_stops(ASKED * 3 + UNCLEAN.format("02").replace("08:00", "08:02"), *events, stop(23_000))
    assert named(run, without_writes(23_000)) == bugs


def test_another_stop_of_the_same_broker_is_not_named() -> None:
    """It is rolled again much later, or asked in vain then only."""
    first, second = stop(23_000), stop(55_000)
    run = with_stops((ASKED * 3 + UNCLEAN).format(22), first, second)
    assert named(run, without_writes(23_000)) == NAMED
    assert named(run, without_writes(55_000)) == ()
    run = with_stops((ASKED * 3 + UNCLEAN).format(54), first, second)
    assert named(run, without_writes(23_000)) == ()
    assert named(run, without_writes(55_000)) == ()


@pytest.mark.parametrize(
    ("target", "healed_ms", "offsets", "bugs"),
    [
        ("zookeeper-1", 55_000, [-1, 40, 40], NAMED),
        ("controller-3000", 55_000, [-1, 40], NAMED),
        ("zookeeper-1", None, [-1, 40], NAMED),
        ("zookeeper-1", 30_000, [-1, 40], ()),
        ("zookeeper-1", None, [-1, 40, 41], ()),
        ("broker-1", 55_000, [-1, 40], ()),
        ("controller-3001", 55_000, [-1, 40], ()),
    ],
    ids=[
        "without ZooKeeper",
        "the controller itself",
        "never healed",
        "long healed",
        "one server of ZooKeeper",
        "of a broker",
        "of another controller",
    ],
)
def test_the_takeover_takes_as_long_as_the_controller_lacks_zookeeper(
    target: str, healed_ms: int | None, offsets: list[int], bugs: tuple[str, ...]
) -> None:
    """Brokers hear of it when ZooKeeper has what was copied. Stopped longer afterwards it is another defect."""
    held = [json.dumps({"kraft_metadata_offset": each, "kraft_controller_id": 3000}) for each in offsets]
    places = [znode(12_000 + 1_000 * number, "/migration", each) for number, each in enumerate(held)]
    events = [
        *started(*BROKERS, "controller-3000"),
        event(EventKind.FAULT_BEGAN, 11_000, fault="kill(x)", fault_id="1", effect="kill", trigger="now"),
        event(EventKind.FAULT_APPLIED, 11_500, fault_id="1", targets=[target]),
        event(EventKind.FAULT_HEALED, healed_ms or 900_000, fault_id="1" if healed_ms else "2", fault="kill(x)"),
        stop(66_000),
    ]
    logs = {"broker-0": ASKED * 3 + UNCLEAN.format("01").replace("08:00", "08:01")}
    run = timed(history(events=events, znodes=[CLAIM, *places], logs=logs))
    assert named(run, without_writes(66_000)) == bugs


def test_a_broker_that_does_not_come_up_again_is_another_defect() -> None:
    """The check is about more than the handing over."""
    run = with_stops((ASKED * 3 + UNCLEAN).format(22), stop(23_000))
    assert named(run, without_writes(23_000, "broker-0 comes up in KRaft mode beside the others")) == ()
