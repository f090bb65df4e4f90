"""Fixtures of tests of the draft, with those of KIP-866: a conftest gets all of them by one line, ``import *``."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate.suites.kip_866 import fixtures
from pytest_kmigrate.suites.kip_866.fixtures import *

if TYPE_CHECKING:
    from pytest_kmigrate.model.peer import Peer
    from pytest_kmigrate.running import Run
    from pytest_kmigrate.workloads.stub_controller import StubController

__all__ = ["drafted_registration", "signalled", "stub_controller"]
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


@pytest.fixture
def signalled(admin_of: "Callable[[str], Peer]") -> Callable[[str], str]:
    """``signalled("broker-0")``: the broker's answer to an UpdateMetadata that names KRaft's controller 3000.

    It is in the draft's layout and holds nothing; a broker that takes it knows of no other broker any more.
    """
    from pytest_kmigrate.wire.control_requests import empty_update_metadata_at

    return lambda name: empty_update_metadata_at(admin_of(name), kraft_controller_id=3000)


@pytest.fixture
def stub_controller(kmigrate_run: "Run") -> "Iterator[StubController]":
    """A stub of controller 3009, the leader of a quorum of its own; it records registrations, and refuses them."""
    from pytest_kmigrate.workloads.stub_controller import StubController

    with StubController(3009, kmigrate_run.recorder) as controller:
        yield controller
