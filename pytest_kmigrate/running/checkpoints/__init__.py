"""Checkpoints: a cluster stopped in a state, its disks kept, so that a later run begins there."""

from pytest_kmigrate.running.checkpoints.checkpoint import Checkpoint
from pytest_kmigrate.running.checkpoints.checkpoints import Checkpoints
from pytest_kmigrate.running.checkpoints.resuming import record_inherited, resume

__all__ = ["Checkpoint", "Checkpoints", "record_inherited", "resume"]
