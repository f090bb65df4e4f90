"""Znode changes: what a znode held from then on, and how a finding names it."""

import json
from typing import Any

from pytest_kmigrate.model.history import ZnodeChange


def held_in(change: ZnodeChange) -> dict[str, Any]:
    """The JSON object that the znode held; empty when it is gone or holds something else."""
    try:
        held = json.loads(change.data or "")
    except ValueError:
        return {}
    return held if isinstance(held, dict) else {}


def was_deleted(change: ZnodeChange, former: ZnodeChange | None) -> bool:
    """Whether the path was deleted between two sightings, or is now: whoever writes counts the version up, none down.

    A watcher that is told of a deletion may look too late to see it: a broker creates ``/controller_epoch`` at once.
    """
    return change.data is None or (former is not None and 0 <= change.version <= former.version)


def evidence_of(change: ZnodeChange) -> str:
    """The change as evidence names it."""
    return f"znode {change.path} version {change.version}"
