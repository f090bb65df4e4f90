"""Which releases a migration can be driven on: its controllers must report its state."""

import json
from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.driver import MigrationDriver, check_topology
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.documents.kip_866.procedure import ENTER_MIGRATION
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.protocols import Reading
from pytest_kmigrate.model.topology import Role
from tests.unit.fakes import Stage, topology


def test_controllers_that_tell_no_state_are_refused_at_once(stage: Stage) -> None:
    """3.4 has no ZkMigrationState: only PREPARING would be seen, and Kafka would be blamed for that."""
    for node in stage.cluster.nodes(Role.CONTROLLER):
        node.kill()
    stage.znodes.set("/cluster/id", json.dumps({"version": "1", "id": "the-id"}).encode())
    stage.cluster.node("controller-3001").kafka = "3.4.1"
    stage.recorder.events.clear()
    driver = MigrationDriver(stage.scene)
    refused = r"HYBRID: .* got controller-3001 of 3\.4\.1: without the metric ZkMigrationState"
    with pytest.raises(WrongUseError, match=refused):
        driver.advance_to(Phase.HYBRID)
    assert stage.recorder.events == []
    stage.view.readings["phase"] = Reading("PREPARING")
    driver.advance_to(Phase.PREPARING)
    with pytest.raises(WrongUseError, match=refused):
        driver.begin(ENTER_MIGRATION, moves=1)


def test_brokers_need_not_tell_a_state() -> None:
    """They may be of 3.4 beside later controllers; controllers of 3.4 are refused before anything is provisioned."""
    shape = topology()
    aged = {
        role: tuple(replace(node, kafka="3.4.1") if node.role is role else node for node in shape.nodes)
        for role in Role
    }
    check_topology(replace(shape, nodes=aged[Role.BROKER]), "FINALIZED")
    with pytest.raises(WrongUseError, match=r"FINALIZED: .* got controller-3000 of 3\.4\.1"):
        check_topology(replace(shape, nodes=aged[Role.CONTROLLER]), "FINALIZED")


def test_only_a_cluster_of_zookeeper_and_controllers_can_be_migrated() -> None:
    """Anything else is refused with what it lacks."""
    with pytest.raises(WrongUseError, match=r"HYBRID: expected a topology to migrate, .* has no zookeeper"):
        check_topology(topology(zookeepers=0), "HYBRID")
