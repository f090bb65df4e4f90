"""Phase, migration state and the node in charge are read from the cluster, also between two leaders."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from pytest_kmigrate.documents.kip_866.document import DOCUMENT
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
from pytest_kmigrate.model.metrics import CATALOGUES
from pytest_kmigrate.model.protocols import Reading
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.probes.view import ClusterView
from tests.unit.fakes import Stage, staged, topology

NONE, MIGRATION, PRE_MIGRATION, POST_MIGRATION = 0, 1, 2, 3


class Cluster:
    """A fake cluster whose metrics a test writes; of several servers the second leads."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        stage.cluster.leads_ensemble = "zookeeper-2"
        self.metrics = stage.cluster.reported
        self.view = ClusterView(DOCUMENT, stage.cluster, stage.znodes, lambda: 42)

    @property
    def phase(self) -> Phase:
        """The phase, as the view reads it."""
        reading = self.view.state("phase")
        assert reading is not None
        return Phase[reading.value]

    def leads(self, node: str, state: int, *, zk_brokers: int | None = 3, epoch: float = 1) -> None:
        """Let a controller claim to be active, with this state."""
        reported: dict[str, float] = {
            "ActiveControllerCount": 1,
            "ZkMigrationState": state,
            "raft.current-epoch": epoch,
        }
        reported["RaftCurrentEpoch"] = epoch
        self.metrics[node] = reported if zk_brokers is None else {**reported, "MigratingZkBrokerCount": zk_brokers}

    def resigns(self, node: str) -> None:
        """Let a controller no longer claim."""
        self.metrics[node] = {"ActiveControllerCount": 0}

    def controller_znode(self, holder: int, kraft_epoch: int = -1) -> None:
        """Write ``/controller``."""
        data = {"version": 2, "brokerid": holder, "kraftControllerEpoch": kraft_epoch}
        self.stage.znodes.set("/controller", json.dumps(data).encode())


@pytest.fixture
def cluster(stage: Stage) -> Cluster:
    """ZooKeeper, three brokers, three controllers."""
    return Cluster(stage)


def test_without_controllers_the_cluster_is_in_zookeeper(cluster: Cluster) -> None:
    """Controllers not provisioned yet: ZOOKEEPER, and the broker in /controller is in charge."""
    for node in cluster.stage.cluster.nodes(Role.CONTROLLER):
        node.kill()
    cluster.controller_znode(2)
    assert (cluster.phase, cluster.view.active_controller()) == (Phase.ZOOKEEPER, "broker-2")
    assert cluster.view.quorum_leader() is None


@pytest.mark.parametrize(
    ("state", "zk_brokers", "claimed", "phase", "in_charge"),
    [
        (NONE, 0, False, Phase.PREPARING, "broker-2"),
        (PRE_MIGRATION, 0, False, Phase.PREPARING, "broker-2"),
        (PRE_MIGRATION, 3, True, Phase.COPYING, "controller-3001"),
        (MIGRATION, 3, True, Phase.HYBRID, "controller-3001"),
        (MIGRATION, 1, True, Phase.HYBRID, "controller-3001"),
        (MIGRATION, 0, True, Phase.ALL_KRAFT, "controller-3001"),
        (POST_MIGRATION, 0, True, Phase.FINALIZED, "controller-3001"),
    ],
)
def test_phase_and_controller_follow_from_state(
    cluster: Cluster, state: int, zk_brokers: int, claimed: bool, phase: Phase, in_charge: str
) -> None:
    """Metric, ZooKeeper brokers and /controller together say the phase; KRaft is in charge from COPYING on."""
    cluster.leads("controller-3001", state, zk_brokers=zk_brokers)
    cluster.controller_znode(3001 if claimed else 2, kraft_epoch=5 if claimed else -1)
    assert (cluster.phase, cluster.view.active_controller()) == (phase, in_charge)
    assert cluster.view.quorum_leader() == "controller-3001"


def test_between_two_leaders_the_phase_stays(cluster: Cluster) -> None:
    """While there is no leader the phase cannot be read, so the last known phase is kept."""
    cluster.leads("controller-3000", MIGRATION)
    cluster.controller_znode(3000, kraft_epoch=1)
    assert cluster.phase is Phase.HYBRID
    cluster.stage.cluster.node("controller-3000").kill()
    assert (cluster.phase, cluster.view.quorum_leader()) == (Phase.HYBRID, None)
    cluster.leads("controller-3001", MIGRATION, zk_brokers=0, epoch=2)
    assert cluster.phase is Phase.ALL_KRAFT


def test_a_release_without_the_broker_count_is_judged_by_the_modes(cluster: Cluster) -> None:
    """Before 3.6 MigratingZkBrokerCount is missing: the brokers' own modes are counted."""
    cluster.leads("controller-3000", MIGRATION, zk_brokers=None)
    assert cluster.phase is Phase.HYBRID
    for broker in cluster.stage.cluster.nodes(Role.BROKER):
        broker.reconfigure({}, BrokerMode.KRAFT)
    assert cluster.phase is Phase.ALL_KRAFT


def test_the_state_is_read_by_its_name(cluster: Cluster) -> None:
    """The numbers are not in order: 2 is PRE_MIGRATION, of the controller that leads."""
    cluster.leads("controller-3000", 2)
    assert cluster.view.state("migration_state") == Reading("PRE_MIGRATION", "controller-3000")


def test_a_leader_without_a_state_metric_shows_no_more_than_preparing(cluster: Cluster) -> None:
    """As one that cannot migrate does; the driver refuses to go on there."""
    cluster.metrics["controller-3000"] = {"ActiveControllerCount": 1}
    cluster.controller_znode(3000, kraft_epoch=1)
    assert (cluster.view.state("migration_state"), cluster.phase) == (None, Phase.PREPARING)


@pytest.mark.parametrize(
    ("kraft_epoch", "offset", "zookeeper_mode", "flag", "phase"),
    [
        (-1, -1, True, "true", Phase.PREPARING),
        (-1, 50, True, "true", Phase.PREPARING),
        (5, -1, True, "true", Phase.COPYING),
        (5, 50, True, "true", Phase.HYBRID),
        (5, 50, False, "true", Phase.ALL_KRAFT),
        (5, 50, False, None, Phase.FINALIZED),
    ],
    ids=["before", "of a former migration", "claimed", "copied", "no broker in ZooKeeper mode", "without the flag"],
)
def test_a_leader_of_3_4_shows_the_phase_by_znodes(
    cluster: Cluster, kraft_epoch: int, offset: int, zookeeper_mode: bool, flag: str | None, phase: Phase
) -> None:
    """It migrates and has no metric of the state; it reports none, and the phase is read from what it wrote."""
    controller = cluster.stage.cluster.node("controller-3000")
    controller.kafka = "3.4.1"
    controller.reconfigure({MIGRATION_FLAG: flag})
    cluster.metrics["controller-3000"] = {"ActiveControllerCount": 1}
    cluster.controller_znode(3000, kraft_epoch=kraft_epoch)
    cluster.stage.znodes.set("/migration", json.dumps({"version": 0, "kraft_metadata_offset": offset}).encode())
    for broker in cluster.stage.cluster.nodes(Role.BROKER):
        broker.reconfigure({}, BrokerMode.ZOOKEEPER if zookeeper_mode else BrokerMode.KRAFT)
    assert (cluster.view.state("migration_state"), cluster.phase) == (None, phase)


def test_a_cluster_born_in_kraft_is_finalized(tmp_path: Path) -> None:
    """There is nothing to migrate."""
    with staged(tmp_path, topology(zookeepers=0)) as stage:
        assert Cluster(stage).phase is Phase.FINALIZED


def test_a_migration_does_not_undo_itself_while_its_only_controller_is_away(tmp_path: Path) -> None:
    """With one controller killed or rolled, HYBRID does not become ZOOKEEPER, then PREPARING, then HYBRID again."""
    with staged(tmp_path, topology(controllers=1)) as stage:
        cluster = Cluster(stage)
        cluster.leads("controller-3000", MIGRATION)
        cluster.controller_znode(3000, kraft_epoch=1)
        assert cluster.phase is Phase.HYBRID
        stage.cluster.node("controller-3000").kill()
        assert cluster.phase is Phase.HYBRID


def test_every_metric_the_view_asks_for_can_be_read(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that the probes' catalogue lacks reads as "not exposed" for ever, without a word."""
    asked: set[str] = set()

    def read(_: str, names: Iterable[str]) -> Mapping[str, float | None]:
        asked.update(names)
        return {}

    monkeypatch.setattr(cluster.stage.cluster, "metrics", read)
    cluster.view.state("phase")
    assert asked
    assert asked <= set(CATALOGUES["controller"])
