"""What the way back to ZooKeeper waits for."""

from collections.abc import Sequence

import pytest

from pytest_kmigrate.documents.kip_866.moves import AwaitZookeeperController, FormatControllers
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


def test_a_log_may_begin_with_a_state_that_no_release_knows(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one record; without a state there is none."""
    stage.znodes.set("/cluster/id", b'{"id": "c"}')
    given: list[Sequence[bytes]] = []
    monkeypatch.setattr(stage.cluster, "format_controllers", lambda _id, _level, records: given.append(records))
    FormatControllers("3.9", state=9).make(stage.scene)
    FormatControllers().make(stage.scene)
    assert list(map(list, given)) == [[bytes([1, 21, 0, 9, 0])], []]
