"""What the way back to ZooKeeper waits for."""

import pytest

from pytest_kmigrate.documents.kip_866.moves import AwaitZookeeperController
from tests.unit.fakes import Stage


def test_nobody_is_stopped_before_the_new_controller_has_told_everybody(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker stopped earlier would wait for controllers that are gone; so the way back waits for the requests."""
    stage.view.controller = "broker-0"
    queued = iter([3.0, 1.0, 0.0])
    monkeypatch.setattr(stage.view, "metric", lambda _, name: next(queued) if name == "ControllerQueueSize" else 0.0)

    AwaitZookeeperController().make(stage.scene)

    assert list(queued) == []
