"""Freezing: a cluster stopped at a moment and its disks copied; put back elsewhere they are the same cluster.

Disks hold names where other nodes are meant, no addresses, so a copy runs on any block. The one address there is, of
the clients' listener of each broker, is replaced when the broker registers again.
"""

import struct
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pytest_kmigrate.distributions.sparse import copy_sparse
from pytest_kmigrate.model.checkpoint import Frozen, FrozenNode
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.owned.node import OwnedNode
from pytest_kmigrate.providers.owned.readiness import last_zxid, leads_the_quorum

_METADATA = "__cluster_metadata-0"
_BATCH = struct.Struct(">qi11xi")
"""How a record batch begins: base offset, length, four fields of no interest here, delta of the last offset."""
_LENGTH_COUNTS_FROM = 12


def freeze(nodes: Sequence[OwnedNode], folder: Path, before_controllers: Callable[[], None]) -> Frozen:
    """Stop brokers, controllers and ZooKeeper, in this order, and copy each node's disk into ``folder``.

    ``before_controllers`` is called while brokers are down and the rest is up. WrongUseError when another Kafka was
    installed than the topology names: a thawed cluster would run the topology's.
    """
    other = [f"{node.name} runs {node.kafka}" for node in nodes if node.installed != node.spec.kafka]
    if other:
        raise WrongUseError(f"freeze: expected nodes that run what their topology names; got {', '.join(other)}")
    up = [node for node in nodes if node.alive]
    of_role = {role: [node for node in up if node.spec.role is role] for role in Role}
    _together(of_role[Role.BROKER])
    before_controllers()
    _stop_controllers([*of_role[Role.COMBINED], *of_role[Role.CONTROLLER]])
    zxid = max((last_zxid(node.address) for node in of_role[Role.ZOOKEEPER]), default=-1)
    _together(of_role[Role.ZOOKEEPER])
    for node in nodes:
        copy_sparse(node.disk, folder / node.name)
    frozen = {node.name: FrozenNode(dict(node.changes), node.mode, node in up) for node in nodes}
    return Frozen(frozen, max((last_offset(node.metadata_dir) for node in nodes), default=-1), zxid)


def put_back(nodes: Sequence[OwnedNode], folder: Path, frozen: Frozen) -> None:
    """Give each node its disk out of ``folder``, its changes and its mode; none may have been started."""
    for node in nodes:
        copy_sparse(folder / node.name, node.disk)
        former = frozen.nodes[node.name]
        if former.changes or former.mode is not node.mode:
            node.reconfigure(former.changes, former.mode)


def last_offset(disk: Path) -> int:
    """The last offset in the metadata log below a disk; -1 when there is none."""
    segments = sorted((disk / _METADATA).glob("*.log"))
    return max((offset for segment in segments for offset in _last_offsets(segment.read_bytes())), default=-1)


def _last_offsets(segment: bytes) -> Iterable[int]:
    at = 0
    while at + _BATCH.size <= len(segment):
        base, length, last_delta = _BATCH.unpack_from(segment, at)
        if length <= 0 or at + _LENGTH_COUNTS_FROM + length > len(segment):
            return
        yield base + last_delta
        at += _LENGTH_COUNTS_FROM + length


def _stop_controllers(controllers: Sequence[OwnedNode]) -> None:
    """The leader of several is killed, last: it would wait 5 s for a successor, and has flushed what it appended."""
    in_order = sorted(controllers, key=lambda node: leads_the_quorum(node.address))
    if len(in_order) < 2:
        _together(in_order)
        return
    _together(in_order[:-1])
    in_order[-1].kill()


def _together(nodes: Sequence[OwnedNode]) -> None:
    with ThreadPoolExecutor(max(1, len(nodes))) as pool:
        list(pool.map(OwnedNode.stop, nodes))
