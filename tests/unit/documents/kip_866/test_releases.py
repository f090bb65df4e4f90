"""Which releases a migration can be driven on: its controllers must be able to migrate."""

import json
from contextlib import nullcontext
from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.driver import MigrationDriver, check_topology, not_copied
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.documents.kip_866.procedure import ENTER_MIGRATION
from pytest_kmigrate.model.errors import UnfitReleaseError, WrongUseError
from pytest_kmigrate.model.protocols import Reading
from pytest_kmigrate.model.topology import Role, Topology
from tests.unit.fakes import Stage, topology


def test_controllers_that_cannot_migrate_are_refused_at_once(stage: Stage) -> None:
    """Before 3.4 there is no migration: only PREPARING would be seen, and Kafka would be blamed for that."""
    for node in stage.cluster.nodes(Role.CONTROLLER):
        node.kill()
    stage.znodes.set("/cluster/id", json.dumps({"version": "1", "id": "the-id"}).encode())
    stage.cluster.node("controller-3001").kafka = "3.3.2"
    stage.recorder.events.clear()
    driver = MigrationDriver(stage.scene)
    refused = r"HYBRID: expected controllers of Kafka 3\.4 to 3\.9, got controller-3001 of 3\.3\.2"
    with pytest.raises(WrongUseError, match=refused):
        driver.advance_to(Phase.HYBRID)
    assert stage.recorder.events == []
    stage.view.readings["phase"] = Reading("PREPARING")
    driver.advance_to(Phase.PREPARING)
    with pytest.raises(WrongUseError, match=refused):
        driver.begin(ENTER_MIGRATION, moves=1)


@pytest.mark.parametrize("kafka", ["3.3.2", "4.0.0"])
def test_only_controllers_need_to_be_able_to_migrate(kafka: str) -> None:
    """They are refused before anything is provisioned; a broker that cannot is what a test may be about."""
    shape = topology()
    aged = {
        role: tuple(replace(node, kafka=kafka) if node.role is role else node for node in shape.nodes) for role in Role
    }
    check_topology(replace(shape, nodes=aged[Role.BROKER]), "FINALIZED")
    with pytest.raises(WrongUseError, match=rf"FINALIZED: .* got controller-3000 of {kafka}"):
        check_topology(replace(shape, nodes=aged[Role.CONTROLLER]), "FINALIZED")


def test_controllers_of_the_first_release_that_migrates_are_taken() -> None:
    """3.4 reports no state, but what it wrote to ZooKeeper shows the phase."""
    shape = topology()
    check_topology(replace(shape, nodes=tuple(replace(node, kafka="3.4.1") for node in shape.nodes)), "FINALIZED")


def test_only_a_cluster_of_zookeeper_and_controllers_can_be_migrated() -> None:
    """Anything else is refused with what it lacks."""
    with pytest.raises(WrongUseError, match=r"HYBRID: expected a topology to migrate, .* has no zookeeper"):
        check_topology(topology(zookeepers=0), "HYBRID")


@pytest.mark.parametrize(
    ("kafka", "phase", "is_refused"),
    [("3.4.1", "HYBRID", True), ("3.4.1", "PREPARING", False), ("3.5.2", "HYBRID", False)],
)
def test_brokers_of_3_4_migrate_without_authorizers(kafka: str, phase: str, is_refused: bool) -> None:
    """Kafka 3.4 ends a broker that is to migrate with one; ACLs are copied from 3.5 on."""
    shape = topology()
    nodes = tuple(replace(node, kafka=kafka) for node in shape.nodes)
    guarded = replace(shape, nodes=nodes, security=replace(shape.security, authorizer=True))
    expected = pytest.raises(UnfitReleaseError, match="HYBRID: expected no authorizer") if is_refused else nullcontext()
    with expected:
        check_topology(guarded, phase)
    check_topology(replace(guarded, security=replace(shape.security, authorizer=False)), phase)


@pytest.mark.parametrize("authorizer", ["kafka.security.authorizer.AclAuthorizer", ""])
def test_a_broker_of_3_4_does_not_migrate_with_an_authorizer_of_its_own(authorizer: str) -> None:
    """It ends whatever the property holds; what controllers have is of no account to it."""
    shape = topology()
    nodes = [replace(node, kafka="3.4.1", properties={}) for node in shape.nodes]
    by_name = {node.name: node for node in nodes}

    def guarding(name: str) -> Topology:
        own = replace(by_name[name], properties={"authorizer.class.name": authorizer})
        return replace(shape, nodes=tuple(own if node.name == name else node for node in nodes))

    with pytest.raises(UnfitReleaseError, match=r"HYBRID: expected no authorizer .*; got one of broker-1$"):
        check_topology(guarding("broker-1"), "HYBRID")
    check_topology(guarding("controller-3000"), "HYBRID")


@pytest.mark.parametrize(("kafka", "expected"), [("3.4.1", {"scram"}), ("3.5.2", set())])
def test_clusters_that_are_to_migrate_on_3_4_are_filled_without_credentials(kafka: str, expected: set[str]) -> None:
    """Its controllers take one for a quota, and begin the copy again and again (kmigrate-27)."""
    shape = topology()
    aged = (replace(node, kafka=kafka) if node.role is Role.CONTROLLER else node for node in shape.nodes)
    assert not_copied(replace(shape, nodes=tuple(aged))) == expected
