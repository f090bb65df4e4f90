"""Standing clusters are listed and ended, leftovers of dead runs cleared, and no other process is touched."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from pytest_kmigrate.providers.owned.standing import end_supervisor, log_folders
from pytest_kmigrate.providers.owned.state import claim_state_dir, state_dir
from pytest_kmigrate.providers.process import lease as leases
from pytest_kmigrate.providers.process.standing import clear
from pytest_kmigrate.providers.standing import clear_all, clear_logs, end, leftovers, standing
from pytest_kmigrate.waiting import until
from tests.unit.cli.processes import keeper, waiting

BLOCK = 77


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of this test's own."""
    folder = tmp_path / "state"
    monkeypatch.setenv("KMIGRATE_STATE", str(folder))
    claim_state_dir()
    return folder


@pytest.fixture
def ending() -> Iterator[ExitStack]:
    """Ends every process that a test started."""
    with ExitStack() as stack:
        yield stack


def started(ending: ExitStack, *words: str, cwd: Path) -> "subprocess.Popen[bytes]":
    """A waiting process that ends with the test."""
    process = waiting(*words, cwd=cwd)
    ending.enter_context(process)
    ending.callback(process.kill)
    return process


def kept(ending: ExitStack, logs: Path) -> int:
    """A kept cluster whose starter has ended; returns its block."""
    process, block, supervisor, _ = keeper(logs, "keep")
    ending.callback(lambda: psutil.pid_exists(supervisor) and os.kill(supervisor, signal.SIGKILL))
    with process:
        process.wait()
    return block


def disks(state: Path) -> Path:
    """Disks on the block; returns the file in which their cluster describes itself."""
    (state / str(BLOCK)).mkdir()
    return leases.state_file(BLOCK)


def test_another_clusters_processes_on_the_same_block_are_spared(
    state: Path, tmp_path: Path, ending: ExitStack
) -> None:
    """Blocks are shared with other state folders: neither an address nor a longer path makes a process ours."""
    other = tmp_path / "other" / str(BLOCK)
    other.mkdir(parents=True)
    strangers = [
        started(ending, "-host", f"127.{BLOCK}.0.250", "-port", "8474", cwd=other),
        started(ending, f"-Djdk.net.hosts.file={other}/broker-0/hosts", cwd=other),
        started(ending, f"-Djdk.net.hosts.file={state}/{BLOCK}7/broker-0/hosts", cwd=tmp_path),
        started(ending, f"{state}/{BLOCK}/broker-0/server.properties", cwd=tmp_path),
    ]

    assert clear(BLOCK) is None
    assert clear_all() == []
    assert [process.poll() for process in strangers] == [None] * len(strangers)


def test_what_a_dead_run_left_is_shown_and_cleared(state: Path, ending: ExitStack) -> None:
    """Node, tool, Toxiproxy and clients on the scratch folder of a free block are killed, its files removed."""
    lock = leases.try_lock(BLOCK)
    assert lock is not None
    lock.close()
    lease = leases.Lease(BLOCK, lock)
    lease.scratch.mkdir()
    lease.state_file.write_text("{}")
    left = [
        started(ending, f"-Djdk.net.hosts.file={lease.scratch}/broker-0/hosts", cwd=lease.scratch),
        started(ending, f"-Dlog4j.configuration=file:{lease.scratch}/etc/log4j.properties", cwd=state),
        started(ending, "-host", f"127.{BLOCK}.0.250", "-port", "8474", cwd=lease.scratch),
        started(ending, "x.clients_process", f"{lease.scratch}/clients.json", cwd=state),
    ]

    assert {pid for each in leftovers() for pid in each.processes} == {process.pid for process in left}
    cleared = clear(BLOCK)
    assert cleared is not None
    assert set(cleared.processes) == {process.pid for process in left}
    assert [process.wait() for process in left] == [-signal.SIGKILL] * len(left)
    assert not lease.scratch.exists()
    assert leftovers() == []


def test_a_held_block_is_not_cleared(state: Path, ending: ExitStack) -> None:
    """Whoever holds the lease keeps everything, described or not."""
    lock = leases.try_lock(BLOCK)
    assert lock is not None
    lease = leases.Lease(BLOCK, ending.enter_context(lock))
    lease.scratch.mkdir()
    node = started(ending, f"-Djdk.net.hosts.file={lease.scratch}/broker-0/hosts", cwd=lease.scratch)
    logs = log_folders() / "of-a-cluster-being-provisioned"
    logs.mkdir(parents=True)

    assert leftovers() == []
    assert (clear_all(), clear_logs()) == ([], [])
    assert node.poll() is None
    assert logs.exists()


def test_disks_alone_are_shown_and_cleared(state: Path) -> None:
    """Disks whose supervisor died too are no cluster, whatever they describe; the logs of such clusters go as well."""
    disks(state).write_text("{}")
    (old := log_folders() / "old").mkdir(parents=True)

    assert standing() == []
    assert [left.files for left in leftovers()] == [(state / str(BLOCK),)]
    assert [left.block for left in clear_all()] == [BLOCK]
    assert clear_logs() == [old]
    assert sorted(path.name for path in state.iterdir() if path.is_dir()) == ["logs"]
    assert list(log_folders().iterdir()) == []


def test_a_process_that_got_the_number_of_a_dead_supervisor_is_no_cluster(state: Path) -> None:
    """A supervisor is known by its command line, not by its number."""
    description = {
        "block": BLOCK, "supervisor": os.getpid(), "topology": "t", "kafka": "3.9.1", "bootstrap": "b", "logs": "/l",
        "scratch": str(state / str(BLOCK)), "nodes": {}, "client_file": None, "client_protocol": "PLAINTEXT",
    }  # fmt: skip
    disks(state).write_text(json.dumps(description))
    assert standing() == []


@pytest.mark.slow
def test_a_kept_cluster_stands_until_it_is_ended(tmp_path: Path, ending: ExitStack) -> None:
    """Its starter has ended, so it is unattended; ``end`` leaves no process, disk or description."""
    logs = log_folders() / "small"
    block = kept(ending, logs)

    [cluster] = standing()
    assert (cluster.block, cluster.attendant) == (block, None)
    running = {node.name: node.pid for node in cluster.nodes}
    assert running["broker-0"] is not None
    assert running["broker-1"] is None
    assert clear_all() == []

    end(cluster)
    assert standing() == []
    assert not psutil.pid_exists(running["broker-0"])
    assert not cluster.scratch.exists()
    assert not logs.exists()


@pytest.mark.slow
def test_a_state_folder_behind_a_link_is_the_same_folder(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: ExitStack
) -> None:
    """The logs of a cluster that stands are its own, and the kernel's word for where Toxiproxy runs is known."""
    link = tmp_path / "link"
    link.symlink_to(state)
    monkeypatch.setenv("KMIGRATE_STATE", str(link))
    logs = log_folders() / "small"
    kept(ending, logs)
    (link / str(BLOCK)).mkdir()
    toxiproxy = started(ending, "-host", f"127.{BLOCK}.0.250", "-port", "8474", cwd=link / str(BLOCK))

    assert clear_logs() == []
    assert [left.processes for left in clear_all()] == [(toxiproxy.pid,)]
    end(standing()[0])
    assert not logs.exists()


@pytest.mark.slow
def test_the_logs_in_a_run_folder_outlive_the_cluster(tmp_path: Path, ending: ExitStack) -> None:
    """What a test recorded is evidence: only logs that ``up`` put into the state folder are removed."""
    logs = tmp_path / "run" / "logs"
    kept(ending, logs)
    end(standing()[0])
    assert (logs / "broker-0" / "server.log").exists()


@pytest.mark.slow
def test_a_cluster_in_use_names_who_uses_it(tmp_path: Path, ending: ExitStack) -> None:
    """While its starter runs it is attended; when that is killed, nothing of it stands or is left."""
    process, _, _, node = keeper(tmp_path / "logs")
    with process:
        assert [cluster.attendant for cluster in standing()] == [process.pid]
        process.kill()
    until(lambda: not standing(), awaited="the supervisor's end", within_s=30)
    until(lambda: not leftovers(), awaited="the removal of the disks", within_s=30)
    assert not psutil.pid_exists(node)
    assert [path for path in state_dir().iterdir() if path.is_dir()] == []


@pytest.mark.slow
def test_a_supervisor_that_stands_still_is_killed(tmp_path: Path, ending: ExitStack) -> None:
    """A stopped supervisor obeys no SIGTERM; its cluster ends all the same."""
    kept(ending, tmp_path / "logs")
    [cluster] = standing()
    os.kill(cluster.supervisor, signal.SIGSTOP)
    end_supervisor(cluster, within_s=0)
    end(cluster)
    assert standing() == []
    assert leftovers() == []
    assert not cluster.scratch.exists()
