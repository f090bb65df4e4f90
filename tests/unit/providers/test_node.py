"""A node as seen without its JVM: what happens when it does not do what it is told."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.providers.process import node as room
from pytest_kmigrate.providers.process.addresses import Addresses
from pytest_kmigrate.providers.process.jvm import Jvm
from pytest_kmigrate.providers.process.node import ProcessNode, Surroundings
from pytest_kmigrate.providers.process.security import Plain
from pytest_kmigrate.providers.process.supervision import Supervision
from tests.unit.fakes import MemoryRecorder, topology


def test_a_process_that_outlives_its_sigkill_does_not_keep_us_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that hangs in the kernel ends as an error that names it, and never as stopped."""
    monkeypatch.setattr(room, "_KILLED_WITHIN_S", 0)
    shape, recorder = topology(), MemoryRecorder()
    deaf = cast("Supervision", SimpleNamespace(signal=lambda _pid, _number: None))
    around = Surroundings(
        Addresses(shape, 7), Plain(), deaf, cast("Jvm", None), recorder, tmp_path / "scratch", tmp_path / "logs"
    )
    node = ProcessNode(shape.node("broker-0"), cast("Distribution", None), around)
    node.pid = 1 << 30
    node._ended.clear()
    with pytest.raises(AwaitTimeoutError, match="the end of broker-0, which was killed: not within 0 s"):
        node.stop(within_s=0)
    assert recorder.events == []
