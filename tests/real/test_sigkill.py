"""SIGKILL of pytest in the middle of a live migration leaves no process, port, folder or lease behind."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_kmigrate.providers.owned.software import software_for
from pytest_kmigrate.topology.loading import load
from tests.real.providers import killed_in_containers
from tests.real.providers.killing import SIGKILLS, TOPOLOGY, kill_in_the_middle, started_with
from tests.real.providers.private_engine import private_engine

_EACH_WITHIN_S = 120


@dataclass(frozen=True)
class Processes:
    """Those that were started with a state folder, and with them ports and leases, which live as long; folders."""

    state: Path

    def met(self) -> set[str]:
        """By the variable that they inherit."""
        return set(started_with(self.state).values())

    def left(self) -> list[str]:
        """What is not a folder there is the mark of ours."""
        return [*started_with(self.state), *(str(path) for path in self.state.iterdir() if path.is_dir())]


@pytest.mark.parametrize("number", range(SIGKILLS))
def test_nothing_is_left(number: int, tmp_path: Path) -> None:
    """Of processes."""
    state = tmp_path / "state"
    state.mkdir()
    kill_in_the_middle(number, tmp_path, state, "process", Processes(state))


@pytest.mark.nightly
def test_nothing_is_left_in_containers(tmp_path: Path) -> None:
    """As often; what is fetched is fetched before, as in the engine's namespace there is no way out."""
    shape = tmp_path / "shape.toml"
    shape.write_text(TOPOLOGY)
    software_for(load(shape), print)
    with private_engine() as engine:
        file = str(killed_in_containers.__file__)
        engine.pytest(tmp_path / "state", file, within_s=SIGKILLS * _EACH_WITHIN_S)
