"""Clusters that do not begin from scratch: where a test begins, and what a frozen cluster is."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_kmigrate.model.topology import BrokerMode


@dataclass(frozen=True)
class Start:
    """Where a test begins: in this value of ``phase``, and filled with every family of metadata before or not."""

    state: str
    is_filled: bool = False


@dataclass(frozen=True)
class Znode:
    """A start condition: a znode that is there before the test begins, as a tool or an earlier attempt left it.

    ``data`` is text, or None for a znode without data. It is no fault: it heals with nothing and excuses nothing.
    """

    path: str
    data: str | None = None

    def __str__(self) -> str:
        return f"znode {self.path} {'without data' if self.data is None else f'with {self.data!r}'}"


@dataclass(frozen=True)
class FrozenNode:
    """What a node is started with again, beside its disk; ``is_up``: it ran when the cluster was frozen."""

    changes: Mapping[str, str | None] = field(default_factory=dict)
    """Properties that were reconfigured since it was provisioned; None: unset."""
    mode: BrokerMode | None = None
    is_up: bool = True


@dataclass(frozen=True)
class Frozen:
    """A stopped cluster; evidence up to ``log_offset`` and ``zxid`` is shared by every cluster thawed from it.

    ``log_offset`` is the last offset of the metadata log, ``zxid`` the last transaction of ZooKeeper; -1 where the
    cluster has none.
    """

    nodes: Mapping[str, FrozenNode]
    log_offset: int = -1
    zxid: int = -1
