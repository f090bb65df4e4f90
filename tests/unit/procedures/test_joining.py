"""Which nodes are part of a cluster."""

from dataclasses import replace
from pathlib import Path

from pytest_kmigrate.documents.kip_866.procedure import ENTER_MIGRATION
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.procedures.joining import joined
from pytest_kmigrate.procedures.moves import Roll
from tests.unit.fakes import staged, topology


def test_a_node_that_starts_later_joins_when_it_runs(tmp_path: Path) -> None:
    """Before, no step rolls it; one that was started with the cluster is part of it also while it is down."""
    shape = topology()
    later = tuple(replace(node, start="later") if node.name == "broker-2" else node for node in shape.nodes)
    with staged(tmp_path, replace(shape, nodes=later)) as stage:
        stage.cluster.node("broker-1").kill()
        stage.cluster.node("broker-2").kill()
        assert [node.name for node in joined(stage.cluster, Role.BROKER)] == ["broker-0", "broker-1"]
        rolled = [move.node for move in ENTER_MIGRATION.moves(stage.cluster) if isinstance(move, Roll)]
        assert rolled == ["broker-0", "broker-1"]
        stage.cluster.node("broker-2").start()
        assert [node.name for node in joined(stage.cluster, Role.BROKER)] == ["broker-0", "broker-1", "broker-2"]
