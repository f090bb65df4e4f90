"""Logs and metadata logs of nodes that somebody else runs: by files and commands of the attach file."""

import io
import tarfile
from pathlib import Path

import pytest

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.providers.attach.cluster import AttachedCluster
from pytest_kmigrate.providers.attach.file.loading import site_at
from pytest_kmigrate.providers.attach.logs import copied, try_logs
from pytest_kmigrate.providers.bench import MemoryRecorder
from pytest_kmigrate.waiting import PATIENCE_S, until
from tests.unit.providers.attach.files import SMALL, cluster_of, written

DEAD = "[2026-11-27 10:00:00,000] ERROR [fetcher]: Error due to (kafka.Fetcher)\njava.lang.Boom: x\n"
SECRET = "[2026-11-27 10:00:01,000] INFO password=a-secret-of-theirs\n"


def test_lines_that_come_are_copied_without_secrets(tmp_path: Path) -> None:
    """Not those of before; a thread that ended is an event, and a file that is put aside is followed by the next."""
    theirs, ours = tmp_path / "broker-0.log", tmp_path / "ours" / "broker-0" / "server.log"
    theirs.write_text("of before\n")
    site = site_at(written(tmp_path, SMALL + f'[logs]\nfile = "{tmp_path}/{{name}}.log"\n'))
    with copied(site, {"broker-0": ours}):
        until(lambda: _appended(theirs, ours, "begun"), awaited="a follower", within_s=PATIENCE_S)
        theirs.rename(tmp_path / "aside.log")
        theirs.write_text(DEAD + SECRET + "last\n")
        until(lambda: "last" in ours.read_text(), awaited="the last line", within_s=PATIENCE_S)
    said = ours.read_text()
    assert "of before" not in said
    assert "a-secret-of-theirs" not in said
    assert "java.lang.Boom" in said


def test_a_thread_that_ended_is_told_once(tmp_path: Path) -> None:
    """By what was copied of its node's log."""
    recorder = MemoryRecorder()
    node = cluster_of(written(tmp_path), recorder=recorder).node("broker-0")
    node.log.parent.mkdir(parents=True)
    node.log.write_text(DEAD)
    node.tell_dead_threads()
    node.tell_dead_threads()
    (event,) = recorder.of(EventKind.THREAD_DIED)
    assert (event.node, event.data["thread"]) == ("broker-0", "fetcher")


def test_a_command_that_ends_is_called_again(tmp_path: Path) -> None:
    """As one does whose node was restarted."""
    ours = tmp_path / "ours" / "server.log"
    site = site_at(written(tmp_path, SMALL + '[logs]\ncommand = ["echo", "{name}"]\n'))
    with copied(site, {"broker-0": ours}):
        until(lambda: ours.exists() and ours.read_text().count("broker-0\n") > 1, awaited="two", within_s=PATIENCE_S)


@pytest.mark.parametrize(
    ("logs", "sentence"),
    [
        (
            'file = "/nowhere/{name}.log"',
            r"logs\.file: expected a file that can be read for broker-[01]; got /no",
        ),
        (
            'command = ["sh", "-c", "echo no pod >&2; exit 5"]',
            r"logs\.command of broker-[01]: .* got 5: no pod",
        ),
        ('command = ["no-such-program"]', r"expected a program that is there; got 'no-such-program'"),
    ],
)
def test_logs_that_cannot_be_read_are_withheld_with_the_reason(tmp_path: Path, logs: str, sentence: str) -> None:
    """Before anything begins."""
    with pytest.raises(ClusterError, match=sentence):
        try_logs(site_at(written(tmp_path, f"{SMALL}[logs]\n{logs}\n")))


def test_snapshots_and_batches_come_out_of_a_tar(tmp_path: Path) -> None:
    """In whatever folder they are; what else lies there is not looked at, and tar may say that a file grew."""
    names = ("00000000000000000000.log", "00000000000000000007-0000000001.checkpoint", "leader-epoch-checkpoint")
    with tarfile.open(tmp_path / "log.tar", "w") as tar:
        for name in names:
            tar.addfile(tarfile.TarInfo(f"./__cluster_metadata-0/{name}"), io.BytesIO())
    cluster = logged(tmp_path, f"cat {tmp_path}/log.tar; exit 1")
    assert cluster.metadata_snapshots("controller-3000") == [names[1]]
    assert cluster.metadata_batches("controller-3000") == []


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("echo no such pod >&2; exit 2", "expected sh to end with 0; got 2: no such pod"),
        ("echo text", "expected a tar of __cluster_metadata-0; got something else"),
        ("tar -cf - -T /dev/null", "got one without a segment and without a snapshot"),
        ("sleep 60", r"expected an end within 1 s \(metadata_log\.within_s\); got none"),
    ],
)
def test_a_metadata_log_that_cannot_be_had_is_one_sentence(tmp_path: Path, script: str, sentence: str) -> None:
    """With its key and the node."""
    with pytest.raises(ClusterError, match=rf"metadata_log\.command of controller-3000: .*{sentence}"):
        logged(tmp_path, script).metadata_snapshots("controller-3000")


def logged(folder: Path, script: str) -> AttachedCluster:
    """A cluster whose metadata logs a shell prints."""
    file = written(folder, f'{SMALL}[metadata_log]\nwithin_s = 1\ncommand = ["sh", "-c", "{script}"]\n')
    return cluster_of(file, Capability.METADATA_LOG)


def _appended(theirs: Path, ours: Path, line: str) -> bool:
    """Write on until a line has come: when a follower is ready cannot be seen."""
    with theirs.open("a") as log:
        log.write(f"{line}\n")
    return ours.exists() and line in ours.read_text()
