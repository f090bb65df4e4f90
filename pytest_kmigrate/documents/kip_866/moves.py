"""Moves that only a migration has."""

import json
from dataclasses import dataclass

from pytest_kmigrate.documents.kip_866.phases import state_record
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until

_IDLE = 0  # of the metric ControllerState


@dataclass(frozen=True)
class FormatControllers:
    """Format the controllers' disks with the cluster id that ZooKeeper holds.

    ``state`` is a number that their log then begins with as the state of the migration, also one that no release knows.
    """

    release_version: str | None = None
    state: int | None = None
    needs = frozenset({Capability.START, Capability.ZNODES})

    def make(self, scene: Scene) -> None:
        """Carry it out."""
        cluster_id = until(lambda: _cluster_id(scene), awaited="/cluster/id in ZooKeeper", within_s=PATIENCE_S)
        records = () if self.state is None else (state_record(self.state),)
        scene.cluster.format_controllers(cluster_id, self.release_version, records)


@dataclass(frozen=True)
class AwaitZookeeperController:
    """Wait until a broker is the controller again and has informed every broker.

    A broker that is stopped before it was informed would still wait for the KRaft controllers to let it go, in vain.
    """

    needs = frozenset({Capability.ZNODES, Capability.METRICS})

    def make(self, scene: Scene) -> None:
        """Carry it out."""
        until(lambda: _in_control(scene), awaited="a broker in control of all brokers", within_s=PATIENCE_S)


def _in_control(scene: Scene) -> bool | NotYet:
    active = scene.view.active_controller()
    if active is None:
        return NotYet("no controller")
    state, queued = (scene.view.metric(active, name) for name in ("ControllerState", "ControllerQueueSize"))
    return (state, queued) == (_IDLE, 0) or NotYet(f"{active} in controller state {state}, {queued} requests queued")


def _cluster_id(scene: Scene) -> str | None:
    data = scene.znodes.get("/cluster/id")
    return json.loads(data)["id"] if data else None
