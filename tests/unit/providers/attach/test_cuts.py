"""Links that hooks cut: each is healed, whatever happens, and only what was counted is a witness."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import ClusterError, TopologyError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.links import Arrived, Disturbance, Link
from pytest_kmigrate.providers.attach.cluster import AttachedCluster
from pytest_kmigrate.providers.attach.file.loading import site_at
from pytest_kmigrate.providers.bench import MemoryRecorder
from tests.unit.providers.attach.files import SMALL, cluster_of, written

SAID = "echo ACTION {source} {source_host} {name} {host} {port} >> FOLDER/called"


def cutting(folder: Path, recorder: MemoryRecorder, **differs: str) -> AttachedCluster:
    """A cluster whose hooks note that they were called."""
    scripts = {action: SAID.replace("ACTION", action) for action in ("cut", "heal")} | {"arrived": "echo 12"} | differs
    lines = [f"{action} = ['sh', '-c', '{text}']" for action, text in scripts.items()]
    file = written(
        folder, 'allow = ["cut"]\n' + SMALL + "\n".join(["[hooks]", *lines, ""]).replace("FOLDER", str(folder))
    )
    return cluster_of(file, Capability.CUTS, recorder=recorder)


def test_a_cut_is_called_for_each_link_and_healed(tmp_path: Path) -> None:
    """With both ends; clients dial from this machine."""
    cluster = cutting(tmp_path, MemoryRecorder())
    links = cluster.links.between(["broker-0", "clients"], ["broker-1", "clients"])
    assert links == (Link("broker-0", "broker-1", 1), Link("clients", "broker-1", 1))
    with cluster.links.disturb(links, Disturbance("cut")) as arrived:
        assert arrived() == Arrived(24, 2)
        done = [
            f"cut {one} {at} broker-1 127.0.0.1 1" for one, at in (("broker-0", "b0.example"), ("clients", "127.0.0.1"))
        ]
        assert (tmp_path / "called").read_text().splitlines() == done
    healed = [line.replace("cut", "heal", 1) for line in reversed(done)]
    assert (tmp_path / "called").read_text().splitlines() == [*done, *healed]


def test_links_are_those_that_roles_dial(tmp_path: Path) -> None:
    """ZooKeeper dials no broker, and clients dial brokers only."""
    links = cutting(tmp_path, MemoryRecorder()).links
    assert links.between(["zookeeper-1", "clients"], ["broker-0", "zookeeper-2", "controller-3000"]) == (
        Link("clients", "broker-0", 2),
        Link("zookeeper-1", "zookeeper-2", 3),
    )


def test_a_cut_that_fails_is_healed_and_no_evidence_of_kafka(tmp_path: Path) -> None:
    """It may have been made all the same."""
    recorder = MemoryRecorder()
    cluster = cutting(tmp_path, recorder, cut="echo no route; exit 3")
    cut = cluster.links.disturb(cluster.links.between(["broker-0"], ["broker-1"]), Disturbance("cut"))
    with pytest.raises(ClusterError, match=r"hooks\.cut of broker-1: expected sh to end with 0; got 3: no route"), cut:
        pytest.fail("the block began")
    assert (tmp_path / "called").read_text().startswith("heal broker-0")
    (trouble,) = recorder.of(EventKind.HARNESS_TROUBLE)
    assert "no route" in str(trouble.data)


def test_bytes_that_are_no_number_are_named(tmp_path: Path) -> None:
    """Nothing is taken for evidence of a cut that was not counted."""
    cluster = cutting(tmp_path, MemoryRecorder(), arrived="echo many")
    links = cluster.links.between(["broker-0"], ["broker-1"])
    with (
        cluster.links.disturb(links, Disturbance("cut")) as arrived,
        pytest.raises(
            ClusterError, match=r"hooks\.arrived of broker-0->broker-1:1: expected a number of bytes; got 'many'"
        ),
    ):
        arrived()


def test_a_cut_needs_all_of_its_hooks(tmp_path: Path) -> None:
    """A cut that cannot be healed is not made."""
    with pytest.raises(TopologyError, match=r'allow: expected hooks\.heal and hooks\.arrived for "cut"; got nothing'):
        site_at(written(tmp_path, 'allow = ["cut"]\n' + SMALL + '[hooks]\ncut = ["true"]\n'))
