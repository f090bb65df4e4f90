"""Whose transactions they are: sessions of KRaft controllers and of brokers, distinguished by what they wrote."""

from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER
from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION, offset_in
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.keeping import kept

EVIDENCE = "zookeeper/transactions.jsonl"
_BROKERS = "/brokers/ids/"
_NO_NODE = -101
"""ZooKeeper's code of an operation on a znode that is not there."""


@dataclass(frozen=True)
class Claimed:
    """A controller took ``/controller``; ``epoch`` is KRaft's, -1 for a broker in ZooKeeper mode."""

    transaction: Transaction
    controller: int
    epoch: int
    life: int
    """Which of the run's metadata logs its quorum has."""

    @property
    def is_kraft(self) -> bool:
        """Whether a KRaft controller took it."""
        return self.epoch >= 0


def has_transactions(history: History) -> bool:
    """Whether ZooKeeper's log was read in this run."""
    return bool(history.transactions)


@kept
def claims(history: History) -> list[Claimed]:
    """Every claim that took effect."""
    starts = life_starts_ns(history)
    return [
        Claimed(
            each, int(content["brokerid"]), int(content.get("kraftControllerEpoch", -1)), life_at(starts, each.at_ns)
        )
        for each in history.transactions
        for write in each.changes
        if write.path == CONTROLLER and "brokerid" in (content := held_in(write))
    ]


@kept
def position_set(transaction: Transaction) -> int | None:
    """The offset that a transaction put into ``/migration``; None: it left the znode alone."""
    for write in transaction.changes:
        offset = offset_in(write) if write.path == MIGRATION else None
        if offset is not None:
            return offset
    return None


def sets_place(transaction: Transaction) -> bool:
    """Whether a transaction puts an offset of the metadata log into ``/migration``; -1 is none."""
    offset = position_set(transaction)
    return offset is not None and offset >= 0


@kept
def kraft_sessions(history: History) -> frozenset[int]:
    """The sessions of KRaft controllers that were in charge: they claimed it, or put a place into ``/migration``."""
    claimed = {each.transaction.session for each in claims(history) if each.is_kraft}
    wrote = {each.session for each in history.transactions if sets_place(each)}
    return frozenset(claimed | wrote)


@kept
def broker_sessions(history: History) -> frozenset[int]:
    """The sessions of brokers: each registers its broker by an ephemeral znode."""
    return frozenset(
        each.session
        for each in history.transactions
        if any(write.is_ephemeral and write.path.startswith(_BROKERS) for write in each.changes)
    )


@kept
def dual_writes(history: History) -> list[Transaction]:
    """What KRaft controllers in charge wrote, besides their claims."""
    sessions = kraft_sessions(history)
    since = {each.transaction.session: each.transaction.zxid for each in reversed(claims(history)) if each.is_kraft}
    theirs = (each for each in history.transactions if each.session in sessions)
    return [each for each in theirs if each.zxid > since.get(each.session, -1) and _is_change(each)]


def _is_change(transaction: Transaction) -> bool:
    return bool(transaction.changes) and all(write.path != CONTROLLER for write in transaction.changes)


def lacks_its_znode(transaction: Transaction) -> bool:
    """Whether several operations at once were refused, as a znode of theirs is not there."""
    return transaction.is_multi and transaction.error == _NO_NODE


def data_of(transaction: Transaction) -> list[Write]:
    """What a transaction changed besides ``/migration``."""
    return [each for each in transaction.changes if each.path != MIGRATION]


def named(transaction: Transaction) -> str:
    """A transaction as findings name it."""
    return f"zxid {transaction.zxid:#x} of session {transaction.session:#x}"
