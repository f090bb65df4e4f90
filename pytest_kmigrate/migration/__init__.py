"""The documented migration as data, and the driver that walks it, forward and back."""

from pytest_kmigrate.migration.driver import MigrationDriver
from pytest_kmigrate.migration.procedure import STEPS, WAYS_BACK, Step

__all__ = ["STEPS", "WAYS_BACK", "MigrationDriver", "Step"]
