"""Facts about clocks of nodes: what their commands get, and what a process that is started so takes for the time."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.providers.owned import clocks
from pytest_kmigrate.providers.process.provider import ProcessProvider


def test_only_the_time_of_day_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the last variable each wait of a JVM returns at once."""
    monkeypatch.setattr(clocks, "library", lambda: Path("lib.so"))
    command = clocks.command(tmp_path / "clock")
    assert command[:2] == ("env", "LD_PRELOAD=lib.so")
    assert {"FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_FORCE_MONOTONIC_FIX=0"} <= set(command)


@pytest.mark.parametrize(("offset_s", "text"), [(0, "+0"), (600, "+600"), (-600, "-600")])
def test_a_clock_is_set_by_a_file(tmp_path: Path, offset_s: int, text: str) -> None:
    """As libfaketime reads it."""
    clocks.set_to(tmp_path / "clock", offset_s)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("clock", text)]


def test_a_machine_without_the_library_offers_no_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the name of the package."""
    monkeypatch.setattr(clocks, "library", lambda: None)
    assert "libfaketime" in ProcessProvider(print).lacking[Capability.CLOCKS]
    monkeypatch.setattr(clocks, "library", lambda: Path("lib.so"))
    assert Capability.CLOCKS in ProcessProvider(print).capabilities


@pytest.mark.skipif(clocks.library() is None, reason="this machine has no libfaketime")
def test_a_process_takes_the_time_of_its_own_clock(tmp_path: Path) -> None:
    """It is off by what the file says."""
    clocks.set_to(tmp_path / "clock", 3600)
    command = [*clocks.command(tmp_path / "clock"), sys.executable, "-c", "import time; print(time.time())"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert 3500 < float(shown) - time.time() < 3700
