"""Freezing as seen without Kafka: who is stopped how, and where the metadata log ends."""

import struct
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.providers.owned.disks import freezing
from pytest_kmigrate.providers.owned.disks.freezing import freeze, last_offset, put_back
from pytest_kmigrate.providers.owned.node import OwnedNode


def batch(base: int, records: int, payload: bytes = b"x" * 40) -> bytes:
    """A record batch of format 2, as far as its header shows."""
    after_length = struct.pack(">ibIhi", 3, 2, 0, 0, records - 1) + payload
    return struct.pack(">qi", base, len(after_length)) + after_length


def log_of(disk: Path, **segments: bytes) -> None:
    """The metadata log of a disk."""
    folder = disk / "__cluster_metadata-0"
    folder.mkdir(parents=True)
    for name, content in segments.items():
        (folder / f"{name}.log").write_bytes(content)


def test_the_last_offset_is_that_of_the_last_whole_batch(tmp_path: Path) -> None:
    """In the last of several segments; a batch that was cut, and zeros after the end, count for nothing."""
    log_of(tmp_path / "a", s0=batch(0, 10) + batch(10, 5), s1=batch(15, 3) + batch(18, 1))
    assert last_offset(tmp_path / "a") == 18
    log_of(tmp_path / "b", s0=batch(0, 10) + batch(10, 5)[:-1])
    assert last_offset(tmp_path / "b") == 9
    log_of(tmp_path / "c", s0=batch(0, 7) + bytes(4096))
    assert last_offset(tmp_path / "c") == 6
    log_of(tmp_path / "d", s0=b"")
    assert (last_offset(tmp_path / "d"), last_offset(tmp_path / "none")) == (-1, -1)


class Told:
    """A node that notes its orders in ``reported``, for all nodes together."""

    def __init__(self, name: str, role: Role, disk: Path, reported: list[str]) -> None:
        self.name, self.spec, self.disk = name, SimpleNamespace(role=role, kafka="3.9.1"), disk
        self.metadata_dir = disk
        self.alive, self.address, self.mode = True, name, None
        self.kafka = self.installed = "3.9.1"
        self.changes: dict[str, str | None] = {}
        self._told = reported
        disk.mkdir(parents=True)

    def stop(self) -> None:
        """Noted."""
        self._told.append(f"stop {self.name}")

    def kill(self) -> None:
        """Noted."""
        self._told.append(f"kill {self.name}")

    def reconfigure(self, changes: dict[str, str | None], mode: BrokerMode | None) -> None:
        """Noted."""
        self._told.append(f"reconfigure {self.name}")
        self.changes, self.mode = changes, mode


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The orders to nodes; they are stopped one after the other, and controller-2 leads."""
    monkeypatch.setattr(freezing, "leads_the_quorum", lambda address: address == "controller-2")
    monkeypatch.setattr(freezing, "last_zxid", lambda _address: 0x17)
    monkeypatch.setattr(freezing, "_together", lambda nodes: [node.stop() for node in nodes])
    return []


def nodes_of(tmp_path: Path, reported: list[str], controllers: int, *more: str) -> list[OwnedNode]:
    """ZooKeeper, a broker, controllers and nodes more, with something on each disk."""
    shape = {"zookeeper-1": Role.ZOOKEEPER, "broker-0": Role.BROKER, **dict.fromkeys(more, Role.COMBINED)}
    shape |= {f"controller-{number}": Role.CONTROLLER for number in range(1, controllers + 1)}
    nodes = [Told(name, role, tmp_path / name / "disk", reported) for name, role in shape.items()]
    for node in nodes:
        (node.disk / "file").write_text(node.name)
    return cast("list[OwnedNode]", nodes)


def test_the_leader_of_several_controllers_is_killed_last(tmp_path: Path, reported: list[str]) -> None:
    """It would wait for a successor; brokers are stopped while all of them are there, ZooKeeper when none is."""
    nodes = nodes_of(tmp_path, reported, controllers=3)
    frozen = freeze(nodes, tmp_path / "frozen", lambda: reported.append("quiet"))
    stops = ["stop controller-1", "stop controller-3", "kill controller-2"]
    assert reported == ["stop broker-0", "quiet", *stops, "stop zookeeper-1"]
    assert (frozen.zxid, frozen.log_offset) == (0x17, -1)


def test_a_lone_controller_is_stopped(tmp_path: Path, reported: list[str]) -> None:
    """It has no node to wait for."""
    freeze(nodes_of(tmp_path, reported, controllers=1), tmp_path / "frozen", lambda: None)
    assert reported == ["stop broker-0", "stop controller-1", "stop zookeeper-1"]


def test_combined_nodes_are_stopped_with_the_controllers(tmp_path: Path, reported: list[str]) -> None:
    """They vote, so brokers that stop still need them."""
    freeze(nodes_of(tmp_path, reported, 2, "combined-7"), tmp_path / "frozen", lambda: None)
    assert reported == [
        "stop broker-0",
        "stop combined-7",
        "stop controller-1",
        "kill controller-2",
        "stop zookeeper-1",
    ]


def test_the_metadata_log_of_a_node_with_several_disks_counts(tmp_path: Path, reported: list[str]) -> None:
    """It is in the first of them."""
    nodes = nodes_of(tmp_path, reported, controllers=1)
    first = nodes[1].disk / "dir-1"
    cast("Told", nodes[1]).metadata_dir = first
    log_of(first, s0=batch(0, 10))
    assert freeze(nodes, tmp_path / "frozen", lambda: None).log_offset == 9


def test_nodes_that_run_another_kafka_are_not_frozen(tmp_path: Path, reported: list[str]) -> None:
    """Thawed they would run what the topology names, on disks that another release wrote; nothing was stopped."""
    nodes = nodes_of(tmp_path, reported, controllers=1)
    cast("Told", nodes[1]).installed = "/opt/kafka-3.9.1"
    with pytest.raises(WrongUseError, match="expected nodes that run what their topology names; got broker-0 runs"):
        freeze(nodes, tmp_path / "frozen", lambda: None)
    assert reported == []


def test_what_is_put_back_is_what_was_frozen(tmp_path: Path, reported: list[str]) -> None:
    """Every disk on the node of its name, with the node's changes and mode; who was not changed is left as it is."""
    former = nodes_of(tmp_path / "former", reported, controllers=1)
    former[1].reconfigure({"zookeeper.metadata.migration.enable": None}, BrokerMode.KRAFT)
    frozen = freeze(former, tmp_path / "frozen", lambda: None)
    later = nodes_of(tmp_path / "later", reported, controllers=1)
    for node in later:
        (node.disk / "file").unlink()
    reported.clear()
    put_back(later, tmp_path / "frozen", frozen)
    assert reported == ["reconfigure broker-0"]
    assert (later[1].changes, later[1].mode) == ({"zookeeper.metadata.migration.enable": None}, BrokerMode.KRAFT)
    assert [(node.disk / "file").read_text() for node in later] == [node.name for node in later]
