"""Holds a node at a place in Kafka's code: the first of several to reach it, once.

A Byteman rule deletes a file that exists once for the whole cluster; the first node deletes it, says so by another
file, and stands still for a moment. So the fault meets a known place in the code, not a moment in time.
"""

from collections.abc import Callable, Iterator, Sequence
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
    laid = []
    for node in nodes:
        node.load_byteman(byteman)
        rule = _RULE.format(point=point, armed=armed, hit=hits[node.name], held_ms=point.held_s * 1000)
        attaching.submit(node.address, rule)
        laid.append((node, node.pid, rule))
    armed.touch()
    try:
        yield lambda: next((name for name, hit in hits.items() if hit.exists()), None)
    finally:
        armed.unlink(missing_ok=True)
        for node, pid, rule in laid:
            if node.alive and node.pid == pid:  # what was started since never had it
                # Without its file the rule does nothing: a JVM that hangs or just died must not hide the first error.
                with suppress(OSError):
                    attaching.withdraw(node.address, rule)


_DELAY = """\
RULE {name}
CLASS {java_class}
METHOD {method}
AT ENTRY
BIND hit : java.io.File = new java.io.File("{hit}")
IF true
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
    hits = {node.name: folder / f"fsync.{node.name}" for node in nodes}
    laid = []
    for node in nodes:
        hits[node.name].unlink(missing_ok=True)
        node.load_byteman(byteman)
        java_class, method = _FSYNC_OF_ZOOKEEPER if node.spec.role is Role.ZOOKEEPER else _FSYNC
        rule = _DELAY.format(
            name=f"slow fsync of {node.name}",
            java_class=java_class,
            method=method,
            hit=hits[node.name],
            delay_ms=delay_ms,
        )
        attaching.submit(node.address, rule)
        laid.append((node, node.pid, rule))
    try:
        yield lambda: [name for name, hit in hits.items() if hit.exists()]
    finally:
        for node, pid, rule in laid:
            if node.alive and node.pid == pid:
                attaching.withdraw(node.address, rule)
