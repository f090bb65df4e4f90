"""A cluster without its JVMs: in which order nodes start."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.process.addresses import Addresses
from pytest_kmigrate.providers.process.cluster import ProcessCluster, Software
from pytest_kmigrate.providers.process.node import ProcessNode, Surroundings
from pytest_kmigrate.providers.process.security import Plain
from pytest_kmigrate.topology_file import find, load
from tests.unit.fakes import MemoryRecorder


@pytest.mark.parametrize("name", ["zk1-broker3-controller3", "zk3-broker3-controller3", "kraft-broker3-controller3"])
def test_no_broker_starts_before_what_it_must_find_is_ready(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that meets a ZooKeeper in its start is turned away for 2 s, or forgotten for as long as it waits."""
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(ProcessNode, "start", lambda node, **_: told.append(("starts", node.name)))
    monkeypatch.setattr(ProcessNode, "await_ready", lambda node, **_: told.append(("ready", node.name)))
    monkeypatch.setattr("pytest_kmigrate.providers.process.storage.format_disks", lambda *_: None)
    topology = load(find(name))
    software = cast("Software", SimpleNamespace(distributions={topology.kafka: None}))
    around = cast(
        "Surroundings",
        SimpleNamespace(
            addresses=Addresses(topology, 7),
            protection=Plain(),
            supervision=None,
            jvm=None,
            recorder=MemoryRecorder(),
            scratch=tmp_path / "scratch",
            logs=tmp_path / "logs",
        ),
    )

    ProcessCluster(topology, software, around).start_initial()

    brokers = {spec.name for spec in topology.of_role(Role.BROKER)}
    at_once = {spec.name for spec in topology.nodes if spec.start == "at-once"}
    begin = min(told.index(("starts", broker)) for broker in brokers)
    assert {node for what, node in told[:begin] if what == "ready"} == at_once - brokers
    assert {node for what, node in told if what == "ready"} == at_once
