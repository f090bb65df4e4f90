"""Where a migration stands: the operator's phases, and the state that KRaft itself records."""

import enum

MIGRATION_STATE = "migration_state"
"""The state that KRaft itself records, as the quorum's leader reports it; the operator's is ``phase``."""


EARLY_ACCESS = "3.4."
"""How the versions begin that migrate first: they report no state, and refuse authorizers and SCRAM credentials."""


class Phase(enum.IntEnum):
    """The operator's phases, in order ("dual write" means two things in the documents, so it is the name of none)."""

    ZOOKEEPER = 0
    PREPARING = 1
    COPYING = 2
    HYBRID = 3
    ALL_KRAFT = 4
    FINALIZED = 5


class ZkMigrationState(enum.Enum):
    """The state in the metric ``ZkMigrationState`` and in ``ZkMigrationStateRecord``, by name."""

    ZK = "ZK"
    NONE = "NONE"
    PRE_MIGRATION = "PRE_MIGRATION"
    MIGRATION = "MIGRATION"
    POST_MIGRATION = "POST_MIGRATION"


_FROM_3_5 = {
    0: ZkMigrationState.NONE,
    1: ZkMigrationState.MIGRATION,
    2: ZkMigrationState.PRE_MIGRATION,
    3: ZkMigrationState.POST_MIGRATION,
    4: ZkMigrationState.ZK,
}
_AS_IN_THE_KIP = {
    0: ZkMigrationState.NONE,
    1: ZkMigrationState.PRE_MIGRATION,
    2: ZkMigrationState.MIGRATION,
    3: ZkMigrationState.POST_MIGRATION,
}

DOCUMENTED_NUMBERS = {state: number for number, state in _AS_IN_THE_KIP.items()}
"""The number that KIP-866 gives each state, in the metric and in the record."""


def zk_migration_state(number: int, kafka: str) -> ZkMigrationState | None:
    """The state a release means by a number; None for -1 (no image yet) and for numbers it does not define.

    Kafka 3.4 numbers as KIP-866 does; from 3.5 PRE_MIGRATION and MIGRATION are swapped (K866-METRIC-ZkMigrationState).
    """
    table = _AS_IN_THE_KIP if kafka.startswith(EARLY_ACCESS) else _FROM_3_5
    return table.get(number)


def state_record(number: int) -> bytes:
    """A ``ZkMigrationStateRecord`` as a record of the metadata log holds it: frame, type, version, number, no tags."""
    return bytes([1, 21, 0, number, 0])


LEGAL_EDGES = frozenset(
    {
        (ZkMigrationState.NONE, ZkMigrationState.PRE_MIGRATION),
        (ZkMigrationState.ZK, ZkMigrationState.PRE_MIGRATION),
        (ZkMigrationState.PRE_MIGRATION, ZkMigrationState.MIGRATION),
        (ZkMigrationState.MIGRATION, ZkMigrationState.POST_MIGRATION),
    }
)
"""The edges KIP-866 allows within one life of a metadata log (K866-STATE-order); a revert begins a new life."""
