"""Fixtures of tests of the draft, with those of KIP-866: a conftest gets all of them by one line, ``import *``."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate.suites.kip_866 import fixtures
from pytest_kmigrate.suites.kip_866.fixtures import *

if TYPE_CHECKING:
    from pytest_kmigrate.model.peer import Peer

__all__ = ["drafted_registration"]
__all__ += fixtures.__all__


@pytest.fixture
def drafted_registration(
    controllers: "Callable[[], list[Peer]]", identity: "Callable[[], tuple[str, int]]"
) -> "Callable[[int | None], str]":
    """``drafted_registration(1)``: the controller's answer to a broker that says so by ``ZkMigrationReady``.

    Each is of a broker of its own; None: without the field, ``CLOSED``: without an answer.
    """
    from itertools import count

    from pytest_kmigrate.wire.registration import Registration, register_with_tag_at

    ids = count(80)

    def answered(ready: int | None) -> str:
        cluster_id, level = identity()
        listeners = {"INTERNAL": "127.0.0.1:9"}
        registration = Registration(next(ids), cluster_id, level, listeners=listeners)
        return register_with_tag_at(controllers()[0], registration, ready)

    return answered
