"""What ZooKeeper logs of a migration, by session: a broker's, and those of two KRaft controllers."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from pytest_kmigrate.model.history import History, Transaction, Write
from tests.unit.checkers.histories import MS, history
from tests.unit.documents.kip_866.checks.nodes import controller

BROKER, FIRST, SECOND = 0x10, 0x20, 0x30
EPOCH = Write("check", "/controller_epoch", None, 2)
CHECKED = Write("check", "/migration", None, 5)
TOPIC = Write("set-data", "/brokers/topics/orders", "{}", 3)
NOTIFICATION = Write("create", "/config/changes/config_change_01", "{}", 0)


def logged(at_ms: int, session: int, *writes: Write, error: int = 0, is_multi: bool | None = None) -> Transaction:
    """A transaction; its id is its time."""
    is_several = len(writes) > 1 if is_multi is None else is_multi
    return Transaction(at_ms * MS, at_ms, session, writes, is_several, error)


def place(offset: int, number: int = 3000) -> Write:
    """``/migration`` is set to this offset by a controller."""
    return Write(
        "set-data", "/migration", json.dumps({"kraft_metadata_offset": offset, "kraft_controller_id": number}), 7
    )


def claim(at_ms: int, session: int = FIRST, number: int = 3000, epoch: int = 1) -> Transaction:
    """A controller takes ``/controller``; a broker's epoch is -1."""
    content = json.dumps({"version": 2, "brokerid": number, "kraftControllerEpoch": epoch})
    raised = Write("set-data", "/controller_epoch", "3", 3)
    return logged(at_ms, session, raised, Write("create", "/controller", content, 0, is_ephemeral=epoch < 0))


def begun() -> list[Transaction]:
    """A broker registers, and a controller claims after 10 s and copies until 11 s."""
    registered = logged(100, BROKER, Write("create", "/brokers/ids/0", "", 0, is_ephemeral=True))
    return [registered, claim(10_000), logged(10_100, FIRST, place(-1)), logged(11_000, FIRST, place(100))]


def run(*transactions: Transaction, before: Sequence[Transaction] | None = None, **more: Any) -> History:
    """A migration with these transactions after its beginning; controllers start after 5 s."""
    events: Iterable[Any] = [controller(5_000), *more.pop("events", [])]
    return history(events=events, transactions=[*(begun() if before is None else before), *transactions], **more)
