"""Which releases a migration can be driven on: its controllers must tell where it stands."""

import json

import pytest

from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.documents.kip_866.procedure import ENTER_MIGRATION
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.procedures.driver import MigrationDriver
from tests.unit.fakes import Stage


def test_controllers_that_tell_no_state_are_refused_at_once(stage: Stage) -> None:
    """3.4 has no ZkMigrationState: nobody would see more than PREPARING, and Kafka would be blamed for that."""
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
    stage.view.now = Phase.PREPARING
    driver.advance_to(Phase.PREPARING)
    with pytest.raises(WrongUseError, match=refused):
        driver.begin(ENTER_MIGRATION, moves=1)


def test_brokers_need_not_tell_a_state(stage: Stage) -> None:
    """They may be of 3.4 beside later controllers."""
    for node in stage.cluster.nodes(Role.BROKER):
        node.kafka = "3.4.1"
    MigrationDriver(stage.scene)._require_told(Phase.FINALIZED)
