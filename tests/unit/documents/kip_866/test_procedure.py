"""What the steps are made of for a cluster of a certain shape."""

from dataclasses import replace

from pytest_kmigrate.documents.kip_866.moves import AwaitZookeeperController, FormatControllers
from pytest_kmigrate.documents.kip_866.procedure import DEPROVISION, PROVISION_CONTROLLERS, TAKE_CONTROL_BACK, deleting
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.procedures.moves import DeleteZnode, Deprovision
from tests.unit.fakes import Stage


def test_the_quorum_is_formatted_for_the_protocol_that_brokers_speak(stage: Stage) -> None:
    """Brokers left on an older protocol are refused by a quorum of a newer metadata version."""
    for node in stage.cluster.nodes(Role.BROKER):
        node.reconfigure({"inter.broker.protocol.version": "3.8"})
    assert PROVISION_CONTROLLERS.moves(stage.cluster)[0] == FormatControllers("3.8")


def test_the_level_of_the_topology_wins(stage: Stage) -> None:
    """The quorum begins with what the file has, whatever the brokers speak."""
    stage.cluster.topology = replace(stage.cluster.topology, metadata_version="3.7")
    stage.cluster.node("broker-0").reconfigure({"inter.broker.protocol.version": "3.8"})
    assert PROVISION_CONTROLLERS.moves(stage.cluster)[0] == FormatControllers("3.7")


def test_without_a_chosen_protocol_the_release_decides(stage: Stage) -> None:
    """The provider then takes the highest that every node knows."""
    assert PROVISION_CONTROLLERS.moves(stage.cluster)[0] == FormatControllers(None)


def test_an_operator_may_delete_other_znodes(stage: Stage) -> None:
    """They go with those of the manual, when the controllers have ended; a step that deletes none deletes none."""
    step = deleting(TAKE_CONTROL_BACK, besides=["/controller_epoch"], but=["/migration"])
    assert step.moves(stage.cluster) == [
        Deprovision(),
        DeleteZnode("/controller_epoch"),
        DeleteZnode("/controller"),
        AwaitZookeeperController(),
    ]
    unchanged = deleting(DEPROVISION, besides=["/controller_epoch"], but=[])
    assert unchanged.moves(stage.cluster) == DEPROVISION.moves(stage.cluster)
