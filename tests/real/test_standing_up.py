"""A cluster that ``kmigrate up`` starts goes on from one phase to the next, and back, until ``kmigrate down``."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from pytest_kmigrate.documents.kip_866.procedure import ENTER_MIGRATION
from pytest_kmigrate.providers.standing import standing
from pytest_kmigrate.waiting import until
from tests.real.attach.standing import kmigrate

pytestmark = pytest.mark.nightly

SHAPE = """
name = "walked"
kafka = "3.9.1"
[zookeeper]
count = 1
[broker]
count = 1
[controller]
count = 1
"""
_ENDED_WITHIN_S = 60


@pytest.fixture
def shape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The smallest cluster to migrate, among clusters of this test alone."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("KMIGRATE_STATE", str(tmp_path / "state"))
    file = tmp_path / "walked.toml"
    file.write_text(SHAPE)
    return file


def test_a_cluster_goes_on_from_phase_to_phase_and_back(shape: Path) -> None:
    """By the same command; what no way leads to is refused, and the cluster stands on."""
    up = kmigrate("up", str(shape), "--phase", "preparing")
    assert "PREPARING is reached" in up.stdout, up.stderr
    assert f"kmigrate up {shape} --phase HYBRID" in up.stdout
    (block,) = re.findall(r"kmigrate down (\S+)", up.stdout)
    try:
        assert "kept" in kmigrate("ps").stdout
        hybrid = kmigrate("up", str(shape), "--phase", "hybrid")
        assert f"walked on block {block} goes on to HYBRID" in hybrid.stderr
        assert f"step {ENTER_MIGRATION.name}" in hybrid.stderr
        assert "HYBRID is reached" in hybrid.stdout
        again = kmigrate("up", str(shape), "--phase", "preparing")
        assert again.returncode == 2
        assert "the way leads forward only; got PREPARING; --phase ZOOKEEPER goes back" in again.stderr
        back = kmigrate("up", str(shape), "--phase", "zookeeper")
        assert "ZOOKEEPER is reached" in back.stdout, back.stderr
        assert f"kmigrate up {shape} --phase PREPARING" in back.stdout
        (keeper,) = [psutil.Process(each.supervisor).ppid() for each in standing()]
    finally:
        ended = kmigrate("down", block)
    assert "walked ended" in ended.stdout
    until(lambda: not psutil.pid_exists(keeper), awaited="the end of the keeper", within_s=_ENDED_WITHIN_S)
    assert kmigrate("up", str(shape), "--phase", "hybrid", "--block", block).returncode == 2


def test_a_ctrl_c_leaves_nothing_of_a_cluster_that_is_being_started(shape: Path) -> None:
    """The keeper ends with the command, and its cluster with it."""
    command = [sys.executable, "-m", "pytest_kmigrate.cli", "up", str(shape)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as up:
        assert up.stderr is not None
        line = next(line for line in up.stderr if "zookeeper-1 ready" in line)
        up.send_signal(signal.SIGINT)
        rest = up.stderr.read()
    assert up.returncode == 130, line + rest
    assert standing() == []
    assert [each.name for each in (shape.parent / "state" / "logs").iterdir()] == []
