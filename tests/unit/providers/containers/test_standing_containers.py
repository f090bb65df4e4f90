"""Clusters of containers are listed, and what dead runs left of them is cleared, with and without an engine."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_kmigrate.providers import standing as of_all
from pytest_kmigrate.providers.docker import standing as room
from pytest_kmigrate.providers.owned.state import claim_state_dir


class FakeEngine:
    """Has one container and one network of each folder."""

    def __init__(self, *folders: Path) -> None:
        self.containers = {f"container-of-{folder.name}": folder for folder in folders}
        self.networks = {folder.name: folder for folder in folders}

    def with_label(self, label: str) -> list[dict[str, object]]:
        """With this key, or this key and value."""
        chosen = label.partition("=")[2]
        return [
            {"Id": each, "Labels": {room.LABEL: str(folder)}}
            for each, folder in self.containers.items()
            if chosen in ("", str(folder))
        ]

    def networks_with_label(self, label: str) -> list[dict[str, object]]:
        """With this key, or this key and value."""
        chosen = label.partition("=")[2]
        return [
            {"Id": each, "Name": each, "Labels": {room.LABEL: str(folder)}}
            for each, folder in self.networks.items()
            if chosen in ("", str(folder))
        ]

    def remove(self, container: str) -> None:
        """A container."""
        del self.containers[container]

    def remove_network(self, network: str) -> None:
        """A network."""
        del self.networks[network]

    def close(self) -> None:
        """Nothing to give back."""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of this test's own, and no engine."""
    monkeypatch.setenv("KMIGRATE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    claim_state_dir()
    return tmp_path / "state"


def dead() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def folder_of(state: Path, owner: int) -> Path:
    """The folder of a cluster that this process made."""
    folder = state / f"{room.FOLDER}{owner}-x"
    folder.mkdir()
    return folder


def test_disks_of_a_dead_owner_are_cleared_without_an_engine(state: Path) -> None:
    """Those of one that lives are not: its cluster may be in the making."""
    left, used = folder_of(state, dead()), folder_of(state, os.getpid())
    assert room.is_any_being_provisioned()
    assert [each.files for each in of_all.leftovers()] == [(left,)]
    assert [each.block for each in of_all.clear_all()] == [left.name]
    assert not left.exists()
    assert used.exists()
    assert not room.clear(used.name)


def test_what_an_engine_has_is_cleared_by_label(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the disks are gone already; what belongs to another state folder stays."""
    (tmp_path / "none.sock").touch()
    gone, stranger = state / f"{room.FOLDER}{dead()}-x", tmp_path / f"{room.FOLDER}{dead()}-x"
    engine = FakeEngine(gone, stranger, folder_of(state, os.getpid()))
    monkeypatch.setattr("pytest_kmigrate.providers.docker.engine.Engine", lambda: engine)
    (left,) = room.clear_all()
    assert (left.block, left.files) == (gone.name, ())
    assert left.at_engine == ("container container-of"[:22], f"network {gone.name}")
    assert gone not in engine.containers.values()
    assert gone not in engine.networks.values()
    assert stranger in engine.containers.values()
    assert len(engine.networks) == 2


def test_a_description_without_a_supervisor_is_no_cluster(state: Path) -> None:
    """Its number may be another process's by now."""
    folder = folder_of(state, dead())
    (folder / "cluster.json").write_text(json.dumps({"supervisor": os.getpid(), "scratch": str(folder)}))
    assert room.standing() == []
    assert not room.is_any_being_provisioned()
