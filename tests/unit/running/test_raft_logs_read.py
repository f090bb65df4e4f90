"""Batches of metadata logs: those of every node that ran beside a quorum are recorded at the end of a run."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import Batch
from pytest_kmigrate.providers.fake import FakeCluster
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.running import Run
from pytest_kmigrate.topology.loading import find, load
from tests.unit.fakes import topology
from tests.unit.running import test_run
from tests.unit.running.test_run import opened

BATCH = Batch(0, 3, 1, 77, leader=3000)


def read_in(run: Run) -> dict[str | None, object]:
    """Node -> its batches, as they were recorded."""
    return {event.node: event.data["batches"] for event in read_history(run.folder).of(EventKind.RAFT_LOG)}


def unreadable(_cluster: FakeCluster, node: str) -> list[Batch]:
    """What an operator's command says of a folder that is not there."""
    raise ClusterError(f"{node}: no such folder")


def test_batches_of_a_cluster_born_in_kraft_mode_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of each node at the end."""
    monkeypatch.setattr(test_run, "SHAPE", load(find("kraft-broker1-controller5")))
    with opened(tmp_path) as run:
        run.cluster.batches = {"controller-3000": [BATCH]}
        run.verify([])
    assert read_in(run) == {
        node.name: [BATCH.as_row()] if node.spec.node_id == 3000 else [] for node in run.cluster.nodes()
    }


def test_what_batches_announce_is_recorded_beside_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the log; of a node without any, that there is none."""
    monkeypatch.setattr(test_run, "SHAPE", load(find("kraft-broker1-controller5")))
    level = {"offset": 4, "type": "FEATURE_LEVEL_RECORD", "version": 0, "data": {"name": "x", "featureLevel": 1}}
    with opened(tmp_path) as run:
        run.cluster.batches = {"controller-3000": [BATCH, replace(BATCH, first=4, last=4, announced=(level,))]}
        run.verify([])
    read = {event.node: event.data["announced"] for event in read_history(run.folder).of(EventKind.RAFT_LOG)}
    assert read == {node: [level] if node == "controller-3000" else [] for node in read}


def test_batches_of_a_migrating_cluster_are_recorded(tmp_path: Path) -> None:
    """Those of the nodes of Kafka that ran: a controller that has not started has none, and ZooKeeper has no part."""
    with opened(tmp_path) as run:
        run.verify([])
    assert read_in(run) == {"broker-0": []}
    with opened(tmp_path) as run:
        run.cluster.batches = {"controller-3000": [BATCH], "broker-0": [BATCH]}
        run.cluster.node("controller-3000").start()
        run.verify([])
    assert read_in(run) == {"broker-0": [BATCH.as_row()], "controller-3000": [BATCH.as_row()]}


def test_a_cluster_without_a_quorum_has_no_metadata_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is asked of its brokers."""
    monkeypatch.setattr(test_run, "SHAPE", topology(brokers=1, controllers=0))
    with opened(tmp_path) as run:
        run.verify([])
    assert read_in(run) == {}


def test_a_log_that_cannot_be_read_is_trouble_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A controller that ran has one; a broker in ZooKeeper mode may have none."""
    monkeypatch.setattr(FakeCluster, "metadata_batches", unreadable)
    with opened(tmp_path) as run:
        run.cluster.node("controller-3000").start()
        run.verify([])
    assert read_in(run) == {}
    troubles = [event.data["what"] for event in read_history(run.folder).of(EventKind.HARNESS_TROUBLE)]
    assert troubles == ["reading the metadata log of controller-3000"]
