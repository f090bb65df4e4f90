"""What is kept of a frozen cluster, and by which key it is found again."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_kmigrate.model.checkpoint import Frozen, FrozenNode
from pytest_kmigrate.model.topology import BrokerMode

FORMAT = 1
"""Raised when what lies in a checkpoint's folder changes."""
_KEY_LENGTH = 16


@dataclass(frozen=True)
class Key:
    """Everything that decides what lies in a checkpoint; the seed of a run does not."""

    provider: str
    distributions: Mapping[str, str]
    """The digest of each Kafka that nodes run."""
    topology: str
    """Its digest."""
    document: str
    state: str
    families: Sequence[str]
    """The metadata that was put in before the migration."""
    harness: str
    """The digest of our own code."""
    format: int = FORMAT

    @property
    def name(self) -> str:
        """The name of its folder."""
        canonical = json.dumps(asdict(self), sort_keys=True)
        return f"{self.state.lower()}-{hashlib.sha256(canonical.encode()).hexdigest()[:_KEY_LENGTH]}"


@dataclass(frozen=True)
class Content:
    """What is kept beside the disks."""

    frozen: Frozen
    filled_at: datetime
    """When its oldest metadata was made; tokens and retention count from there."""
    changes: Sequence[Mapping[str, object]] = ()
    """The metadata changes that were made before the migration, as their events hold them."""
    left_out: Sequence[str] = ()
    """Families that the cluster has no room for."""


@dataclass(frozen=True)
class Checkpoint:
    """A whole checkpoint; ``disks`` has a folder for each node."""

    key: Key
    content: Content
    disks: Path

    @property
    def identity(self) -> dict[str, object]:
        """What ``run.json`` says of it: evidence up to this offset and zxid is shared by all runs with this key."""
        return {
            "key": self.key.name,
            "state": self.key.state,
            "families": list(self.key.families),
            "made_at": self.content.filled_at.isoformat(),
            "log_offset": self.content.frozen.log_offset,
            "zxid": self.content.frozen.zxid,
        }


def content_as_json(content: Content) -> dict[str, Any]:
    """As a checkpoint's file holds it."""
    return {**asdict(content), "filled_at": content.filled_at.isoformat()}


def content_from_json(held: Mapping[str, Any]) -> Content:
    """The same from a file; KeyError, TypeError or ValueError when it does not hold one."""
    nodes = {
        name: FrozenNode(node["changes"], node["mode"] and BrokerMode(node["mode"]), node["is_up"])
        for name, node in held["frozen"]["nodes"].items()
    }
    frozen = Frozen(nodes, int(held["frozen"]["log_offset"]), int(held["frozen"]["zxid"]))
    return Content(frozen, datetime.fromisoformat(held["filled_at"]), held["changes"], held["left_out"])
