"""Facts about epochs that do not fit after a rollback."""

import json
from dataclasses import replace

import pytest

from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation
from tests.unit.checkers.histories import MS, history, znode
from tests.unit.documents.kip_866.diagnoses.naming import BROKERS, CLAIM, named, named_of_expectations, started, unmet

MONOTONIC = "K866-ZNODE-controller-epoch-monotonic"
LATER = unmet(60_000, "partitions of a later epoch", expected=[], observed=[0, 1, 2])


STARTED = started(*BROKERS, "controller-3000")


def claims(kraft_epoch: int, epoch: str) -> list[ZnodeChange]:
    """What a KRaft controller wrote at the take-over."""
    held = json.dumps({"version": 2, "brokerid": 3000, "kraftControllerEpoch": kraft_epoch})
    return [znode(1000, "/controller_epoch", epoch), znode(1000, "/controller", held)]


@pytest.mark.parametrize(
    ("kraft_epoch", "claimed", "bugs"),
    [
        (10, (MONOTONIC,), ("kmigrate-11",)),
        (4, (MONOTONIC,), ()),
        (10, ("K866-DW-isr-leader",), ()),
    ],
    ids=["the quorum's epoch is higher", "it is not", "another requirement"],
)
def test_partitions_of_a_later_epoch_are_kmigrate_11(
    kraft_epoch: int, claimed: tuple[str, ...], bugs: tuple[str, ...]
) -> None:
    """If the epoch of the quorum is above that of ZooKeeper's controllers, which is what dual write mixes up."""
    run = history(events=[*STARTED, LATER], znodes=claims(kraft_epoch, "4"), requirements=claimed)
    assert named_of_expectations(run) == bugs


OLD_LISR = (
    "WARN [Broker id=0] Ignoring LeaderAndIsr request from controller 2 with correlation id 1 since its controller "
    "epoch 1 is old. Latest known controller epoch is 4 (state.change.logger)\n"
)
OLD_UMR = (
    "WARN [Broker id=2] Received update metadata request with correlation id 3 from an old controller 2 with epoch 1. "
    "Latest known controller epoch is 4 (state.change.logger)\n"
)
UNKNOWN = unmet(60_000, "brokers that know a new topic", expected=[0, 1, 2], observed=[1])
ANEW = [
    znode(1000, "/controller_epoch", "4", version=4),
    znode(20_000, "/controller_epoch", None),
    znode(21_000, "/controller_epoch", "1", version=0),
]
UNSEEN = [ANEW[0], ANEW[2]]
RAISED = [ANEW[0], znode(21_000, "/controller_epoch", "5", version=5)]
LOGS = {"broker-0": OLD_LISR, "broker-2": OLD_UMR}


def followed(znodes: list[ZnodeChange], logs: dict[str, str]) -> History:
    """A run in which two of three brokers do not follow the controller."""
    return history(events=[*started(*BROKERS), UNKNOWN], znodes=znodes, logs=logs)


@pytest.mark.parametrize("znodes", [ANEW, UNSEEN], ids=["seen to be deleted", "not seen"])
def test_brokers_that_refuse_an_epoch_that_began_anew_are_kmigrate_12(znodes: list[ZnodeChange]) -> None:
    """The znode was deleted and made anew with a lower number."""
    assert named_of_expectations(followed(znodes, LOGS)) == ("kmigrate-12",)


@pytest.mark.parametrize(
    "run",
    [
        followed(RAISED, LOGS),
        followed(ANEW[:2], LOGS),
        followed(ANEW, {"broker-0": OLD_LISR}),
        followed(ANEW, {"broker-0": OLD_LISR, "broker-2": OLD_UMR.replace("epoch 1.", "epoch 3.")}),
        followed([], LOGS),
    ],
    ids=["it went on", "it is gone", "one that refused nothing", "an older controller's", "never seen"],
)
def test_brokers_that_do_not_follow_for_another_reason_are_not_kmigrate_12(run: History) -> None:
    """A topic that some brokers do not know is a symptom of many defects."""
    assert named_of_expectations(run) == ()


REFUSED = (
    "INFO [Broker id=1] Skipped the become-leader state change for orders-0 with topic id Some(x) and partition state "
    "LeaderAndIsrPartitionState(leader=1, partitionEpoch=14) since the leader is already at a newer partition epoch 18."
)


BACK = znode(50_000, "/controller", json.dumps({"version": 2, "brokerid": 1, "kraftControllerEpoch": -1}))
STARVED = Violation(
    "some write to orders-0 is acknowledged every 20.0 s while writers try",
    "none was for 35 s",
    at_ns=45_000 * MS,
    awaited=(45_000 * MS, 80_000 * MS),
)
BEFORE = replace(STARVED, at_ns=15_000 * MS, awaited=(15_000 * MS, 49_000 * MS))


@pytest.mark.parametrize(
    ("log", "bugs"),
    [
        (REFUSED, ("kmigrate-21",)),
        (REFUSED.replace("orders-0", "orders-10"), ()),
        (REFUSED.replace("become-leader", "become-follower"), ()),
        (REFUSED.replace("partition epoch 18", "leader epoch 18"), ()),
    ],
    ids=["met", "another partition", "a follower", "another epoch"],
)
def test_partitions_that_no_broker_leads_for_their_epoch_are_kmigrate_21(log: str, bugs: tuple[str, ...]) -> None:
    """If a broker refused to lead each one that no write reached."""
    other = replace(STARVED, expected=STARVED.expected.replace("orders-0", "orders-1"))
    run = history(events=STARTED, znodes=[CLAIM, BACK], logs={"broker-1": log}, kafka="3.6.0")
    assert named(run, violated("partitions_stay_available", STARVED)) == bugs
    assert named(run, violated("partitions_stay_available", STARVED, other)) == ()
    assert named(run, violated("no_acked_record_lost", STARVED)) == ()
    assert named(run, violated("partitions_stay_available", BEFORE)) == ()


ABORTED = (
    "StateChangeFailedException: Aborted leader election for partition orders-0 since the LeaderAndIsr path was "
    "already written by another controller."
)
NOT_SHRUNK = (
    "ERROR [Controller id=1 epoch=6] Controller 1 epoch 6 initiated state change of replica 0 for partition orders-0 "
    "from OnlineReplica to OfflineReplica failed (state.change.logger)\n"
    "kafka.common.StateChangeFailedException: Leader and isr path written by another controller. This probably means"
)


@pytest.mark.parametrize(
    ("kraft_epoch", "log", "bugs"),
    [
        (10, ABORTED, ("kmigrate-11",)),
        (4, ABORTED, ()),
        (10, ABORTED.replace("orders-0", "orders-1"), ()),
        (10, NOT_SHRUNK, ("kmigrate-11",)),
        (4, NOT_SHRUNK, ()),
        (10, NOT_SHRUNK.replace("orders-0", "orders-1"), ()),
        (10, NOT_SHRUNK.replace("written by another controller", "unknown"), ()),
        (10, "", ()),
    ],
    ids=[
        "met",
        "the quorum's epoch is not higher",
        "another partition",
        "a replica that stays in sync",
        "such a one, and the epoch is not higher",
        "such a one of another partition",
        "such a one for another reason",
        "no log",
    ],
)
def test_elections_that_were_aborted_are_kmigrate_11(kraft_epoch: int, log: str, bugs: tuple[str, ...]) -> None:
    """If the epoch of the quorum was above that of ZooKeeper's controllers when it took over."""
    run = history(events=STARTED, znodes=[*claims(kraft_epoch, "4"), BACK], logs={"broker-1": log})
    assert named(run, violated("partitions_stay_available", STARVED)) == bugs
    assert named(run, violated("partitions_stay_available", BEFORE)) == ()
    in_dual_write = replace(run, znodes=claims(kraft_epoch, "4"))
    assert named(in_dual_write, violated("partitions_stay_available", STARVED)) == ()


def violated(check: str, *violations: Violation) -> Verdict:
    """By each of these."""
    return Verdict(check, Outcome.VIOLATES, Kind.LIVENESS, count=len(violations), violations=violations)
