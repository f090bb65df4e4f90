"""Facts about leases of loopback blocks: two takers never share one, and a closed lock frees it."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_kmigrate.machine.doctor import examine
from pytest_kmigrate.model.errors import EnvironmentLackError, WrongUseError
from pytest_kmigrate.providers.owned.network.addresses import CLIENTS_NUMBER
from pytest_kmigrate.providers.owned.state import state_dir
from pytest_kmigrate.providers.process import lease
from pytest_kmigrate.providers.standing import clear_all, clear_logs
from tests.unit.fakes import topology

TAKE_AND_WAIT = """
import sys
from pytest_kmigrate.providers.process.lease import take
taken = take()
print(taken.block, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of this test's own, and blocks that no cluster of this machine uses."""
    monkeypatch.setenv("KMIGRATE_STATE", str(tmp_path))
    monkeypatch.setattr(lease, "BLOCKS", range(245, 249))
    return tmp_path


def test_a_relative_state_folder_is_the_same_one_wherever_a_node_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node runs in a folder of its own, and gets its files by their paths."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KMIGRATE_STATE", "state")
    taken = lease.take()
    taken.lock.close()
    assert taken.scratch.is_absolute()
    assert taken.scratch.is_relative_to(tmp_path / "state")


def test_a_taker_in_another_network_namespace_gets_another_block() -> None:
    """Containers that share the temporary folder: each could bind every address, and would remove the other's disks."""
    up = "import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh14x', b'lo', 1))"
    in_a_namespace = ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*in_a_namespace, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no network namespace may be made on this machine")
    same = "from pytest_kmigrate.providers.process import lease; lease.BLOCKS = range(245, 249)"
    command = [*in_a_namespace, sys.executable, "-c", f"{up}\n{same}\n{TAKE_AND_WAIT}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        block = int(other.stdout.readline())
        disk = state_dir() / str(block) / "zookeeper-1"
        disk.mkdir(parents=True)
        taken = lease.take()
        cleared = clear_all()
        other.stdin.close()
    taken.lock.close()
    assert taken.block != block
    assert cleared == []
    assert disk.exists()
    assert clear_all() != []


def test_two_takers_get_two_blocks() -> None:
    """Each its own block, scratch folder and state file."""
    one, two = lease.take(), lease.take()
    assert one.block != two.block
    assert not {one.scratch, one.state_file} & {two.scratch, two.state_file}
    one.lock.close()
    two.lock.close()


def test_closing_the_lock_frees_the_block() -> None:
    """The next taker gets it again."""
    taken = lease.take()
    assert lease.try_lock(taken.block) is None
    taken.lock.close()
    again = lease.take()
    assert again.block == taken.block
    again.lock.close()


def test_a_block_is_free_when_its_taker_was_killed() -> None:
    """SIGKILL releases a lease as well as an orderly end: the lock belongs to the process."""
    with subprocess.Popen(
        [sys.executable, "-c", TAKE_AND_WAIT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as taker:
        assert taker.stdout is not None
        block = int(taker.stdout.readline())
        assert lease.try_lock(block) is None
        taker.kill()
    lock = lease.try_lock(block)
    assert lock is not None
    lock.close()


@pytest.mark.parametrize("port", [2181, 2888, 3888, 8474, 8778, 9091, 9092, 9093, 9094])
def test_a_block_where_somebody_else_listens_is_left_out(port: int) -> None:
    """A program that knows nothing of leases is not disturbed, on whichever port of ours it listens."""
    with socket.socket() as other:
        other.bind((f"127.{lease.BLOCKS[0]}.0.{CLIENTS_NUMBER}", port))
        other.listen()
        taken = lease.take()
    taken.lock.close()
    assert taken.block == lease.BLOCKS[1]


@pytest.mark.parametrize(
    ("address", "port"), [("0.2", 9094), ("0.5", 9093), ("2.3", 9092), ("5.1", 2181), ("250.2", 9094)]
)
def test_a_block_where_a_node_or_a_proxy_could_not_listen_is_left_out(address: str, port: int) -> None:
    """A program at one single address, too, that this topology needs: of a node, or of the proxy of a link."""
    with socket.create_server((f"127.{lease.BLOCKS[0]}.{address}", port)):
        taken = lease.take(topology())
    taken.lock.close()
    assert taken.block == lease.BLOCKS[1]


@pytest.fixture
def wildcard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A port of every node, on which this process listens at every address; not one that clusters meanwhile need."""
    with socket.create_server(("", 0)) as listener:
        port = listener.getsockname()[1]
        monkeypatch.setattr(lease, "PORTS", (port,))
        yield port


def test_who_listens_at_every_address_is_told(wildcard: int) -> None:
    """A Kafka or ZooKeeper of the user's own makes every block unusable: the machine lacks a free port, not a node."""
    reported = f"port {wildcard} is held by process {os.getpid()}"
    with pytest.raises(EnvironmentLackError, match=f"{reported}; end it, or let it"):
        lease.take()
    finding = next(each for each in examine() if each.name == "ports")
    assert (finding.ok, finding.found) == (False, reported)
    assert str(wildcard) in finding.cure


def test_when_all_are_taken_the_error_says_who_tells_more() -> None:
    """It names the state folder and the commands that show and clear."""
    taken = [lease.take() for _ in lease.BLOCKS]
    with pytest.raises(EnvironmentLackError, match=r"no free loopback block: expected .* `kmigrate gc` clears"):
        lease.take()
    for each in taken:
        each.lock.close()


def test_a_block_comes_without_the_disks_of_a_dead_run() -> None:
    """After a power failure they are still there: a new cluster must not find them."""
    dead = lease.take()
    (dead.scratch / "zookeeper-1" / "disk").mkdir(parents=True)
    dead.lock.close()
    taken = lease.take()
    left = taken.scratch.exists() and list(taken.scratch.rglob("*"))
    taken.lock.close()
    assert taken.block == dead.block
    assert not left


def test_a_state_folder_of_somebody_else_is_left_alone(state: Path) -> None:
    """A folder with other files in it is refused, and nothing in it is taken for what a dead run left."""
    theirs = [state / "246" / "thesis.txt", state / "logs" / "apache" / "access.log"]
    for file in theirs:
        file.parent.mkdir(parents=True)
        file.touch()
    with pytest.raises(WrongUseError, match=f"KMIGRATE_STATE: expected a new or empty folder, .* got {state} with"):
        lease.take()
    assert (clear_all(), clear_logs()) == ([], [])
    assert all(file.exists() for file in theirs)


def test_a_state_folder_that_cannot_be_is_told(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the variable that names it; a user who is not there is no error of its own."""
    (state / "file").touch()
    monkeypatch.setenv("KMIGRATE_STATE", str(state / "file"))
    with pytest.raises(EnvironmentLackError, match="KMIGRATE_STATE: expected a folder that can be written to, got"):
        lease.take()
    monkeypatch.chdir(state)
    monkeypatch.setenv("KMIGRATE_STATE", "~nobody-of-that-name/state")
    assert state_dir() == state / "~nobody-of-that-name" / "state"
