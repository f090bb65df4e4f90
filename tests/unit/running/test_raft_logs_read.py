"""Batches of metadata logs: those of a cluster born in KRaft mode are recorded at the end of a run."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import Batch
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.topology.loading import find, load
from tests.unit.running import test_run
from tests.unit.running.test_run import opened


def test_batches_of_a_cluster_born_in_kraft_mode_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of each node at the end; of a cluster with ZooKeeper, whose log may begin anew, none are."""
    batch = Batch(0, 3, 1, 77, leader=3000)
    with opened(tmp_path / "a") as run:
        run.verify([])
    assert not read_history(run.folder).of(EventKind.RAFT_LOG)
    monkeypatch.setattr(test_run, "SHAPE", load(find("kraft-broker1-controller5")))
    with opened(tmp_path / "b") as run:
        run.cluster.batches = {"controller-3000": [batch]}
        run.verify([])
    read = {event.node: event.data["batches"] for event in read_history(run.folder).of(EventKind.RAFT_LOG)}
    assert read == {node.name: [batch.as_row()] if node.spec.node_id == 3000 else [] for node in run.cluster.nodes()}
