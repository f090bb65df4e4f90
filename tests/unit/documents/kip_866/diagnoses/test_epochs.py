"""Facts about epochs that do not fit after a rollback."""

import json

import pytest

from pytest_kmigrate.model.history import History, ZnodeChange
from tests.unit.checkers.histories import history, znode
from tests.unit.documents.kip_866.diagnoses.naming import BROKERS, named_of_expectations, started, unmet

MONOTONIC = "K866-ZNODE-controller-epoch-monotonic"
LATER = unmet(60_000, "partitions of a later epoch", expected=[], observed=[0, 1, 2])


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
    run = history(events=[*started(*BROKERS), LATER], znodes=claims(kraft_epoch, "4"), requirements=claimed)
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
