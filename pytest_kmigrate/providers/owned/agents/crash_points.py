"""Holds a node at a place in Kafka's code: the first of several to reach it, once.

A Byteman rule deletes a file that exists once for the whole cluster; the first node deletes it, says so by another
file, and stands still for a moment. So the fault meets a known place in the code, not a moment in time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_kmigrate.model.protocols import CrashPoint
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.owned.agents import attaching
from pytest_kmigrate.providers.owned.node import OwnedNode

_RULE = """\
RULE {point.name}
CLASS {point.java_class}
METHOD {point.method}
{point.location}
BIND armed : java.io.File = new java.io.File("{armed}");
     hit : java.io.File = new java.io.File("{hit}")
IF ({point.condition}) AND armed.delete()
DO hit.createNewFile(); delay({held_ms})
ENDRULE
"""


@contextmanager
def held(
    point: CrashPoint, nodes: Sequence[OwnedNode], folder: Path, byteman: Path
) -> Iterator[Callable[[], str | None]]:
    """Arm a crash point in these running nodes; the callable names the one that is held there, None so far."""
    folder.mkdir(parents=True, exist_ok=True)
    armed = folder / f"{point.name}.armed"
    hits = {node.name: folder / f"{point.name}.{node.name}" for node in nodes}
    for hit in hits.values():
        hit.unlink(missing_ok=True)
    rules = {
        node: _RULE.format(point=point, armed=armed, hit=hits[node.name], held_ms=point.held_s * 1000) for node in nodes
    }
    laid = _lay(rules, byteman)
    armed.touch()
    try:
        yield lambda: next((name for name, hit in hits.items() if hit.exists()), None)
    finally:
        armed.unlink(missing_ok=True)
        _withdraw(laid)


_Laid = tuple[OwnedNode, int | None, str]
"""A node, the process that a rule was laid in, and the rule."""


def _lay(rules: Mapping[OwnedNode, str], byteman: Path) -> list[_Laid]:
    """Lay a rule in each node but those that stand still: such a JVM takes no agent until it goes on."""
    laid = []
    for node, rule in rules.items():
        if not node.stands_still:
            node.load_byteman(byteman)
            attaching.submit(node.address, rule)
            laid.append((node, node.pid, rule))
    return laid


def _withdraw(laid: Sequence[_Laid]) -> None:
    """Take rules back that do nothing any more, as their file is gone."""
    for node, pid, rule in laid:
        if node.alive and node.pid == pid:  # what was started since never had it
            with suppress(OSError):  # a JVM that hangs or just died must not hide the first error
                attaching.withdraw(node.address, rule)


_DELAY = """\
RULE {name}
CLASS {java_class}
METHOD {method}
AT ENTRY
BIND armed : java.io.File = new java.io.File("{armed}");
     hit : java.io.File = new java.io.File("{hit}")
IF armed.exists()
DO hit.createNewFile(); delay({delay_ms})
ENDRULE
"""
_FSYNC = ("org.apache.kafka.common.record.FileRecords", "flush")
_FSYNC_OF_ZOOKEEPER = ("org.apache.zookeeper.server.persistence.FileTxnLog", "commit")


@contextmanager
def delayed(
    nodes: Sequence[OwnedNode], delay_ms: int, folder: Path, byteman: Path
) -> Iterator[Callable[[], Sequence[str]]]:
    """Have each fsync of a log last so much longer; the callable names the nodes that have made one."""
    folder.mkdir(parents=True, exist_ok=True)
    armed = folder / f"fsync.{'.'.join(node.name for node in nodes)}.armed"
    hits = {node.name: folder / f"fsync.{node.name}" for node in nodes}
    for hit in hits.values():
        hit.unlink(missing_ok=True)
    laid = _lay({node: _delay_of(node, armed, hits[node.name], delay_ms) for node in nodes}, byteman)
    armed.touch()
    try:
        yield lambda: [name for name, hit in hits.items() if hit.exists()]
    finally:
        armed.unlink(missing_ok=True)
        _withdraw(laid)


def _delay_of(node: OwnedNode, armed: Path, hit: Path, delay_ms: int) -> str:
    java_class, method = _FSYNC_OF_ZOOKEEPER if node.spec.role is Role.ZOOKEEPER else _FSYNC
    return _DELAY.format(
        name=f"slow fsync of {node.name}",
        java_class=java_class,
        method=method,
        armed=armed,
        hit=hit,
        delay_ms=delay_ms,
    )
