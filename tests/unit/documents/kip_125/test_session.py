"""The lease of a member's session: as long as the server grants it, which may be less than was asked for."""

from collections.abc import Callable
from typing import Any

import pytest
from kazoo.protocol.connection import ConnectionHandler

from pytest_kmigrate.documents.kip_125.reference.settings import Settings
from pytest_kmigrate.documents.kip_125.reference.zookeeper import ZookeeperLink


@pytest.mark.parametrize(("asked_s", "granted_ms", "in_force_s"), [(60.0, 10_000, 10.0), (3.0, 3_000, 3.0)])
def test_a_session_is_as_long_as_the_server_grants(
    asked_s: float, granted_ms: int, in_force_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A member that reads for longer reads what others own already."""
    answers: Callable[..., Any] = lambda *_: (granted_ms * 2 / 3, granted_ms)  # noqa: E731
    monkeypatch.setattr(ConnectionHandler, "_connect", answers)
    link = ZookeeperLink(Settings("zk:2181", "g", "g_1", "g", {}, session_s=asked_s), print, print, print)
    assert link.session_s == asked_s
    link._client._connection._connect("zk", "127.0.0.1", 2181)
    assert link.session_s == pytest.approx(in_force_s)
