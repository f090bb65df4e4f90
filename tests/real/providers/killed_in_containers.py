"""SIGKILL of pytest leaves no container behind; run inside the namespace of an engine by ``test_sigkill``."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from pytest_kmigrate.providers.docker.engine import Engine
from pytest_kmigrate.providers.docker.standing import LABEL
from tests.real.providers.killing import SIGKILLS, kill_in_the_middle, started_with


class Containers:
    """All that is at the engine of the tests; the processes in its containers, and those of ours."""

    def __init__(self, engine: Engine, state: Path) -> None:
        self._engine = engine
        self._state = state
        self._inside: list[psutil.Process] = []

    def met(self) -> set[str]:
        """By the control groups of containers; these processes are looked for afterwards."""
        self._inside = list(self._in_containers())
        return {each.name() for each in self._inside}

    def left(self) -> list[str]:
        """Processes, folders, containers, networks."""
        inside = [f"process {each.pid}" for each in self._inside if each.is_running()]
        folders = [str(path) for path in self._state.iterdir() if path.is_dir()]
        containers = [f"container {each['Id']}" for each in self._engine.with_label(LABEL)]
        networks = [f"network {each['Name']}" for each in self._engine.networks_with_label(LABEL)]
        return [*inside, *started_with(self._state), *folders, *containers, *networks]

    def _in_containers(self) -> Iterator[psutil.Process]:
        ids = [each["Id"] for each in self._engine.with_label(LABEL)]
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                groups = Path(f"/proc/{process.pid}/cgroup").read_text()
                if any(each in groups for each in ids):
                    yield process


@pytest.fixture
def engine() -> Iterator[Engine]:
    """The one whose namespace this is."""
    asked = Engine()
    yield asked
    asked.close()


@pytest.mark.parametrize("number", range(SIGKILLS))
def test_nothing_is_left(number: int, tmp_path: Path, engine: Engine) -> None:
    """Of containers."""
    state = tmp_path / "state"
    state.mkdir()
    kill_in_the_middle(number, tmp_path, state, "docker", Containers(engine, state))
