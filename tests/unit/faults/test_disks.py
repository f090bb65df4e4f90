"""Facts about a log directory that fails: what shows that it did, and that leaving replaces the disk."""

from dataclasses import replace

import pytest

from pytest_kmigrate.faults.disks import FailLogDir
from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.targets import node
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import EventKind
from tests.unit.fakes import Stage

OFFLINE = ("broker-1", "OfflineLogDirectoryCount")


@pytest.fixture
def jbod(stage: Stage) -> Stage:
    """A stage on which broker-1 has two log directories."""
    broker = stage.cluster.node("broker-1")
    broker.spec = replace(broker.spec, log_dirs=2)
    return stage


def test_kafka_counts_the_directory_and_the_broker_starts_with_a_new_disk(jbod: Stage) -> None:
    """The broker stays up until the fault is healed: then it is stopped, and started with the directory."""
    broker = jbod.cluster.node("broker-1")
    with inject(jbod.scene, FailLogDir(node("broker-1"))):
        assert broker.failed_log_dirs == {2}
        assert broker.alive
        jbod.view.metrics[OFFLINE] = 1
    assert (broker.failed_log_dirs, broker.alive, broker.incarnation) == (set(), True, 2)
    (witnessed,) = jbod.of(EventKind.FAULT_WITNESSED)
    assert witnessed.data["witness"] == "broker-1 reports 1 offline log directories"
    assert witnessed.data["facts"] == {"log_dir": 2}


@pytest.mark.parametrize("before", [None, 1])
def test_a_directory_that_kafka_does_not_miss_is_no_witness(jbod: Stage, before: float | None) -> None:
    """Neither is one that was offline before."""
    if before is not None:
        jbod.view.metrics[OFFLINE] = before
    with inject(jbod.scene, FailLogDir(node("broker-1"), 1)):
        pass
    (unmet,) = jbod.of(EventKind.FAULT_NOT_WITNESSED)
    assert unmet.data["fault"] == "fail-log-dir(broker-1, 1)"
    assert unmet.data["witness"] == f"OfflineLogDirectoryCount of broker-1 above {before or 0:g}, or its end"


@pytest.mark.parametrize("ends", ["under the fault", "before it"])
def test_a_broker_that_ended_is_only_started(jbod: Stage, ends: str) -> None:
    """As Kafka ends one that takes part in a migration; one that was down before lost nothing by the fault."""
    broker = jbod.cluster.node("broker-1")
    if ends == "before it":
        broker.kill()
    with inject(jbod.scene, FailLogDir(node("broker-1"))):
        broker.kill()
    assert (broker.alive, broker.incarnation) == (True, 2)
    witnessed = [event.data["witness"] for event in jbod.of(EventKind.FAULT_WITNESSED)]
    assert witnessed == (["broker-1 ended without log directory 2"] if ends == "under the fault" else [])


def test_the_only_directory_of_a_broker_does_not_fail(stage: Stage) -> None:
    """Refused with the reason, and the broker is left alone."""
    with (
        pytest.raises(WrongUseError, match="broker-1: expected"),
        inject(stage.scene, FailLogDir(node("broker-1"))),
    ):
        pass
    assert stage.cluster.node("broker-1").incarnation == 1
