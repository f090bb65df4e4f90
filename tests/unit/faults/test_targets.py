"""Facts about targets: whom they mean, chosen by role, state or seed."""

from pathlib import Path

import pytest

from pytest_kmigrate.faults import targets
from pytest_kmigrate.faults.targets import Target
from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.topology import Role
from tests.unit.fakes import Stage, staged


def test_targets_by_state_follow_the_view(stage: Stage) -> None:
    """Each target by state means the node that the view names."""
    stage.view.controller, stage.view.leader = "broker-0", "controller-3001"
    stage.view.ensemble_leader, stage.view.leaders = "zookeeper-1", {("orders", 2): "broker-2"}
    meant = {
        str(target): target.one(stage.scene)
        for target in (
            targets.active_controller(),
            targets.quorum_leader(),
            targets.zookeeper_leader(),
            targets.partition_leader("orders", 2),
            targets.node("broker-1"),
        )
    }
    assert meant == {
        "active-controller": "broker-0",
        "quorum-leader": "controller-3001",
        "zookeeper-leader": "zookeeper-1",
        "leader-of(orders-2)": "broker-2",
        "broker-1": "broker-1",
    }


def test_a_broker_that_died_is_no_leader_any_more(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Brokers report it until its session ends: the next leader is waited for."""
    stage.cluster.node("broker-2").kill()
    reported = iter(["broker-2", "broker-2", None, "broker-0"])
    monkeypatch.setattr(stage.view, "partition_leader", lambda *_: next(reported))
    assert targets.partition_leader("orders").one(stage.scene) == "broker-0"


def test_a_choice_by_chance_is_repeatable_and_live(tmp_path: Path) -> None:
    """The same seed chooses the same live broker; over many seeds every live one is chosen, never a dead one."""
    chosen = set()
    for seed in range(30):
        with staged(tmp_path, seed=seed) as stage:
            stage.cluster.node("broker-1").kill()
            name = targets.random_broker().one(stage.scene)
            assert targets.random_broker().one(stage.scene) == name
            chosen.add(name)
    assert chosen == {"broker-0", "broker-2"}


@pytest.mark.parametrize(
    ("target", "never"),
    [(targets.follower_controller(), "controller-3001"), (targets.broker_besides_controller(), "broker-1")],
    ids=str,
)
def test_a_choice_besides_somebody_never_means_them(tmp_path: Path, target: Target, never: str) -> None:
    """Whatever the seed, a follower is not the leader and a broker besides the controller is not the controller."""
    for seed in range(30):
        with staged(tmp_path, seed=seed) as stage:
            stage.view.leader, stage.view.controller = "controller-3001", "broker-1"
            assert target.one(stage.scene) != never


def test_one_node_is_meant_not_several(stage: Stage) -> None:
    """``one`` refuses a target of several nodes and says which they are."""
    with pytest.raises(ClusterError, match="every-broker is expected to mean one node; it means broker-0, broker-1"):
        targets.every(Role.BROKER).one(stage.scene)


def test_nobody_meant_is_an_error_that_names_the_target(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the target resolves to no node for too long, the error says who was looked for."""
    monkeypatch.setattr(targets, "PATIENCE_S", 0)
    with pytest.raises(AwaitTimeoutError, match="a node that is quorum-leader"):
        targets.quorum_leader().nodes(stage.scene)
