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
    from pytest_kmigrate.workloads.unready_relay import UnreadyRelay

__all__ = ["drafted_registration", "seem_unready", "signalled", "stub_controller"]
__all__ += fixtures.__all__

_LAST_TO_LEAD = {"controller.quorum.election.timeout.ms": "30000", "controller.quorum.fetch.timeout.ms": "30000"}


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
def stub_controller(kmigrate_run: "Run") -> "StubController":
    """A stub of controller 3009, the leader of a quorum of its own; it records registrations, and refuses them."""
    from pytest_kmigrate.workloads.stub_controller import StubController

    host = kmigrate_run.cluster.listen_host
    return kmigrate_run.until_verify(StubController(3009, kmigrate_run.recorder, host))


@pytest.fixture
def seem_unready(kmigrate_run: "Run") -> "Iterator[Callable[[str], UnreadyRelay]]":
    """``seem_unready("controller-3002")``: the other controllers read in its answers that it cannot migrate; the relay.

    It lies between them from their next start on; this controller is the last that tries to lead.
    """
    from contextlib import ExitStack

    from pytest_kmigrate.model.topology import Role
    from pytest_kmigrate.workloads.unready_relay import UnreadyRelay

    with ExitStack() as relays:

        def relayed(name: str) -> "UnreadyRelay":
            cluster = kmigrate_run.cluster
            seeming = cluster.node(name)
            relay = relays.enter_context(UnreadyRelay(cluster.peer(name), cluster.listen_host))
            own, voters = f"{seeming.spec.node_id}@", cluster.quorum_voters.split(",")
            passed = ",".join(f"{own}{relay.address}" if each.startswith(own) else each for each in voters)
            for node in cluster.nodes(Role.CONTROLLER):
                node.reconfigure({"controller.quorum.voters": passed} if node is not seeming else _LAST_TO_LEAD)
            return relay

        yield relayed
