"""What is reported of real processes that do not start: one that dies, one that never gets ready."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import AwaitTimeoutError, NodeDiedError
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.waiting import until
from tests.unit.fakes import MemoryRecorder, topology

WITHIN_S = 60


def test_a_start_that_fails_says_why(tmp_path: Path) -> None:
    """A JVM that dies shows its last words; a broker without ZooKeeper what was last seen and its threads."""
    small = topology(zookeepers=1, brokers=2, controllers=0)
    zookeeper, good, bad = small.nodes
    shape = replace(small, nodes=(zookeeper, good, replace(bad, jvm=("-XX:+NoSuchOption",))))
    with ProcessProvider(print).provision(shape, MemoryRecorder(), tmp_path) as cluster:
        with pytest.raises(NodeDiedError, match=r"(?s)broker-1 died with exit code 1: .*NoSuchOption"):
            cluster.node("broker-1").start()

        cluster.node("zookeeper-1").start()
        cluster.node("zookeeper-1").pause()
        waiting = cluster.node("broker-0")
        waiting.start(wait=False)
        until(lambda: waiting.log.stat().st_size, awaited="a JVM that takes signals", within_s=WITHIN_S)
        with pytest.raises(AwaitTimeoutError, match=r"broker-0 ready: not within 0\.1 s; last seen: no answer yet \("):
            waiting.await_ready(within_s=0.1)
        assert "Full thread dump" in waiting.log.read_text()
