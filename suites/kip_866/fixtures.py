"""Fixtures of KIP-866 tests, with the general ones: a conftest gets all of them by one line, ``import *``."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate import fixtures
from pytest_kmigrate.fixtures import *

if TYPE_CHECKING:
    from pytest_kmigrate.documents.kip_866.driver import MigrationDriver
    from pytest_kmigrate.model.protocols import Node
    from pytest_kmigrate.running import Run

__all__ = ["broker_in_migration_mode", "in_control", "join", "migration"]
__all__ += fixtures.__all__


@pytest.fixture
def migration(kmigrate_run: "Run") -> "MigrationDriver":
    """Drives the documented procedure: ``advance_to(Phase.HYBRID)``, ``revert()``."""
    from pytest_kmigrate.documents.kip_866.driver import MigrationDriver
    from pytest_kmigrate.model.errors import WrongUseError

    driver = kmigrate_run.driver
    if not isinstance(driver, MigrationDriver):
        raise WrongUseError("migration: expected --kmigrate-profile kip-866, got one without a migration")
    return driver


@pytest.fixture
def in_control(kmigrate_run: "Run") -> "Callable[[], str | None]":
    """``in_control()``: the node that ``/controller`` names; None when that is none of this cluster."""
    from pytest_kmigrate.documents.kip_866.view import controller_in_zookeeper

    return lambda: controller_in_zookeeper(kmigrate_run.cluster, kmigrate_run.scene.znodes)


@pytest.fixture
def broker_in_migration_mode(kmigrate_run: "Run") -> Callable[[], "Node"]:
    """A live broker that was rolled into migration mode and is not the active controller."""
    from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
    from pytest_kmigrate.model.topology import Role
    from pytest_kmigrate.waiting import PATIENCE_S, until

    def one() -> "Node | None":
        active = kmigrate_run.view.active_controller()
        rolled = [node for node in kmigrate_run.cluster.nodes(Role.BROKER) if MIGRATION_FLAG in node.properties]
        return next((node for node in rolled if active and node.name != active), None)

    return lambda: until(one, awaited="a broker in migration mode that is not the controller", within_s=PATIENCE_S)


@pytest.fixture
def join(kmigrate_run: "Run") -> Callable[[str], None]:
    """``join("broker-2")`` restarts a broker in migration mode; no move of a step, which waits for replicas in sync."""
    from pytest_kmigrate.documents.kip_866.procedure import brokers_join

    def joined(name: str) -> None:
        broker = kmigrate_run.cluster.node(name)
        broker.stop()
        broker.reconfigure(brokers_join(kmigrate_run.cluster))
        broker.start()

    return joined
