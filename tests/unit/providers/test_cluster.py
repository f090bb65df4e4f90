"""A cluster without its JVMs: in which order nodes start."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from kio.records.readers import read_batch

from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.providers.bench import small_topology
from pytest_kmigrate.providers.owned.cluster import OwnedCluster, await_all_ready
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.providers.owned.network.namespaces import HERE
from pytest_kmigrate.providers.owned.node import OwnedNode
from pytest_kmigrate.providers.owned.protection.security import Protection
from pytest_kmigrate.providers.owned.software import Software
from pytest_kmigrate.providers.owned.surroundings import Surroundings
from pytest_kmigrate.topology.loading import find, load
from pytest_kmigrate.waiting import until
from tests.unit.fakes import MemoryRecorder
from tests.unit.providers.logs.test_zookeeper_log import DELETE, HEADER, frame, text

SHAPES = ["zk1-broker3-controller3", "zk3-broker3-controller3", "kraft-broker3-controller3", "kraft-combined3"]


@pytest.mark.parametrize("name", SHAPES)
def test_no_broker_starts_before_what_it_must_find_is_ready(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that meets a ZooKeeper in its start is turned away for 2 s, or forgotten for as long as it waits."""
    reported: list[tuple[str, str]] = []
    monkeypatch.setattr(OwnedNode, "start", lambda node, **_: reported.append(("starts", node.name)))
    monkeypatch.setattr(OwnedNode, "await_ready", lambda node, **_: reported.append(("ready", node.name)))
    monkeypatch.setattr("pytest_kmigrate.providers.owned.disks.storage.format_disks", lambda *_: None)
    topology = load(find(name))
    cluster_of(topology, tmp_path).start_initial()

    brokers = {spec.name for spec in topology.of_role(Role.BROKER)}
    at_once = {spec.name for spec in topology.nodes if spec.start == "at-once"}
    begin = min(reported.index(("starts", broker)) for broker in brokers)
    assert {node for what, node in reported[:begin] if what == "ready"} == at_once - brokers
    assert sorted(node for what, node in reported if what == "ready") == sorted(at_once)


@pytest.mark.parametrize(
    ("older", "of_topology", "asked_for", "arguments"),
    [
        ("3.9.1", None, None, []),
        ("3.7.2", None, None, ["--release-version", "3.7"]),
        ("3.7.2", "3.6", None, ["--release-version", "3.6"]),
        ("3.9.1", "3.6", "3.8", ["--release-version", "3.8"]),
    ],
)
def test_controllers_are_formatted_for_one_level(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    older: str,
    of_topology: str | None,
    asked_for: str | None,
    arguments: list[str],
) -> None:
    """What a step asks for, or the topology names, or the highest that the oldest of all nodes knows."""
    formatted: list[tuple[list[str], list[str]]] = []
    monkeypatch.setattr(
        "pytest_kmigrate.providers.owned.disks.storage.format_disks",
        lambda nodes, _jvm, _cluster_id, more, _of_node: formatted.append(([node.name for node in nodes], more)),
    )
    shape = load(find("zk1-broker3-controller3"))
    shape = replace(shape, metadata_version=of_topology)
    shape = replace(shape, nodes=tuple(replace(n, kafka=older) if n.name == "broker-1" else n for n in shape.nodes))
    cluster = cluster_of(shape, tmp_path)
    cluster.format_controllers("id", asked_for, [b"a record"])
    for node in cluster.nodes(Role.CONTROLLER):
        (record,) = read_batch((node.disk / "bootstrap.checkpoint").read_bytes(), 0)[0].records
        assert (record.offset, record.value) == (3, b"a record")
    assert formatted == [(["controller-3000", "controller-3001", "controller-3002"], arguments)]


def cluster_of(topology: Topology, tmp_path: Path) -> OwnedCluster:
    """A cluster without its JVMs."""
    versions = {spec.kafka for spec in topology.nodes}
    distributions = {version: SimpleNamespace(version=version, image=None) for version in versions}
    around = SimpleNamespace(
        addresses=Addresses(topology, 7),
        protection=Protection(topology.security, tmp_path / "security"),
        supervision=None,
        jvm=None,
        recorder=MemoryRecorder(),
        scratch=tmp_path / "scratch",
        logs=tmp_path / "logs",
        network=HERE,
    )
    software = cast("Software", SimpleNamespace(distributions=distributions, lacking=frozenset()))
    return OwnedCluster(topology, software, cast("Surroundings", around))


def test_zookeepers_log_is_that_of_the_server_which_leads_or_is_furthest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that follows may lack the end; times are on the clock of the run."""
    cluster = cluster_of(small_topology(zookeepers=3), tmp_path)
    for number, node in enumerate(cluster.nodes(Role.ZOOKEEPER), 1):
        frames = [frame(zxid, DELETE, text("/a")) for zxid in range(1, number + 1)]
        (node.disk / "version-2").mkdir()
        (node.disk / "version-2" / "log.1").write_bytes(HEADER + b"".join(frames))
    assert [each.zxid for each in cluster.zookeeper_log(after_zxid=1)] == [2, 3]
    monkeypatch.setattr(OwnedNode, "alive", property(lambda _: True))
    modes = {node.address: "leader" if node.name == "zookeeper-2" else "follower" for node in cluster.nodes()}
    monkeypatch.setattr("pytest_kmigrate.providers.owned.cluster.zookeeper_mode", modes.get)
    (found,) = cluster.zookeeper_log(after_zxid=1)
    assert found.at_ns < -1_000_000_000_000, "logged at 1.002 s of 1970"


def test_nobody_waits_on_after_ctrl_c() -> None:
    """Only the thread that called hears of it: those that wait for the other nodes give up."""
    given_up: list[str] = []
    begun = threading.Event()

    def waiting(abort: Callable[[], None]) -> None:
        begun.set()
        try:
            until(lambda: False, awaited="a node that never comes", within_s=60, abort=abort)
        except KeyboardInterrupt:
            given_up.append("at once")
            raise

    def interrupted(**_: object) -> None:
        begun.wait(30)
        raise KeyboardInterrupt

    nodes = [SimpleNamespace(await_ready=interrupted), SimpleNamespace(await_ready=waiting)]
    with pytest.raises(KeyboardInterrupt):
        await_all_ready(cast("list[OwnedNode]", nodes))
    assert given_up == ["at once"]
