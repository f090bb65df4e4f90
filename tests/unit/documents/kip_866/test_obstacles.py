"""What is said of a phase that never came: which node, controller or znode it waits for."""

from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.driver import MigrationDriver
from pytest_kmigrate.documents.kip_866.obstacles import obstacles
from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG, brokers_join, controllers_join
from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.model.protocols import Reading
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.providers.bench import BORN_IN_KRAFT
from tests.unit.fakes import Stage, staged


@pytest.fixture
def joined(stage: Stage) -> Stage:
    """A cluster in which everything is as it should be, but for what a test makes otherwise."""
    for node in stage.cluster.nodes(Role.CONTROLLER):
        node.reconfigure(controllers_join(stage.cluster))
    for node in stage.cluster.nodes(Role.BROKER):
        node.reconfigure({**brokers_join(stage.cluster), "zookeeper.connect": stage.cluster.zookeeper_connect})
    stage.view.leader = "controller-3000"
    stage.view.readings = {"migration_state": Reading("PRE_MIGRATION"), "phase": Reading("PREPARING")}
    stage.cluster.records = [
        *(record("REGISTER_BROKER_RECORD", brokerId=number) for number in range(3)),
        *(record("REGISTER_CONTROLLER_RECORD", controllerId=n, zkMigrationReady=True) for n in range(3000, 3003)),
    ]
    return stage


def record(kind: str, **data: object) -> dict[str, Any]:
    """One of a metadata log."""
    return {"offset": 1, "timestamp_ms": 0, "type": kind, "version": 0, "data": data, "snapshot": False}


NOTHING = [
    "controller-3000 leads the quorum, in state PRE_MIGRATION",
    "/controller does not exist",
    "/migration does not exist",
]


def test_where_nothing_lacks_it_is_said_how_things_are(joined: Stage) -> None:
    """Who leads, in which state, and what the znodes hold."""
    assert obstacles(joined.scene, "HYBRID") == NOTHING
    joined.znodes.set("/migration", b'{"version":0}')
    joined.znodes.set("/controller", b"")
    assert obstacles(joined.scene, "HYBRID")[1:] == ["/controller holds no data", '/migration holds {"version":0}']


def test_brokers_and_controllers_that_are_not_registered_or_not_ready_are_named(joined: Stage) -> None:
    """By the metadata log of the leader."""
    joined.cluster.records = [
        record("REGISTER_BROKER_RECORD", brokerId=0),
        record("REGISTER_BROKER_RECORD", brokerId=1),
        record("REGISTER_CONTROLLER_RECORD", controllerId=3000, zkMigrationReady=True),
        record("REGISTER_CONTROLLER_RECORD", controllerId=3001, zkMigrationReady=False),
    ]
    assert obstacles(joined.scene, "HYBRID")[1:4] == [
        "broker-2 is not registered with the quorum",
        "controller-3002 is not registered with the quorum",
        "controller-3001 registered as not ready to migrate",
    ]


def test_nodes_that_are_down_or_wrongly_configured_are_named(joined: Stage) -> None:
    """With the property."""
    joined.cluster.node("broker-1").stop()
    joined.cluster.node("broker-2").pause()
    joined.cluster.node("controller-3000").reconfigure({"zookeeper.metadata.migration.enable": None})
    joined.cluster.node("controller-3001").reconfigure({"zookeeper.connect": "elsewhere:2181"})
    joined.cluster.node("controller-3002").reconfigure({"zookeeper.connect": None})
    joined.view.leader = None
    found = obstacles(joined.scene, "PREPARING")
    assert found[:4] == [
        "broker-1 is down",
        "broker-2 is paused",
        "no controller leads the quorum",
        "controller-3000 runs without zookeeper.metadata.migration.enable=true",
    ]
    other = f"elsewhere:2181, not {joined.cluster.zookeeper_connect}"
    assert found[4] == f"controller-3001 runs with another zookeeper.connect than the cluster's: {other}"
    assert found[5] == "controller-3002 has no zookeeper.connect"


def test_on_the_way_to_kraft_brokers_in_zookeeper_mode_are_named(joined: Stage) -> None:
    """And how many the leader counts; on the way to the end, controllers that still migrate."""
    for name in ("broker-0", "broker-1"):
        joined.cluster.node(name).reconfigure({}, BrokerMode.KRAFT)
    joined.view.metrics["controller-3000", "MigratingZkBrokerCount"] = 1
    assert obstacles(joined.scene, "ALL_KRAFT")[1:] == [
        "broker-2 runs in ZooKeeper mode",
        "controller-3000 counts 1 brokers in ZooKeeper mode",
    ]
    assert len(obstacles(joined.scene, "FINALIZED")) == 4


def test_a_controller_whose_flag_is_false_does_not_keep_a_migration_from_its_end(joined: Stage) -> None:
    """Nor does one without it; it is named with the value that it has."""
    joined.cluster.node("controller-3000").reconfigure({MIGRATION_FLAG: "false"})
    joined.cluster.node("controller-3001").reconfigure({MIGRATION_FLAG: None})
    assert obstacles(joined.scene, "FINALIZED")[1:] == [f"controller-3002 runs with {MIGRATION_FLAG}=true"]


def test_what_cannot_be_read_is_left_out(joined: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The node, or ZooKeeper, may be what is broken."""

    def nobody(*_: object) -> None:
        raise ClusterError("no answer")

    monkeypatch.setattr(joined.znodes, "get", nobody)
    monkeypatch.setattr(joined.cluster, "metadata_log", nobody)
    assert obstacles(joined.scene, "HYBRID") == NOTHING[:1]


def test_a_topology_that_cannot_migrate_is_wrong_use_and_no_step_begins(tmp_path: Any) -> None:
    """Whatever drives it there: nothing is recorded that could be laid to Kafka."""
    with staged(tmp_path, BORN_IN_KRAFT) as stage:
        driver = MigrationDriver(stage.scene)
        with pytest.raises(WrongUseError, match=r"advance_to HYBRID: expected a topology to migrate, .* no zookeeper"):
            driver.advance_to("HYBRID")
        assert stage.recorder.events == []
