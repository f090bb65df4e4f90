"""The tests' own engine ends with the process that it was started for."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil

from pytest_kmigrate.waiting import NotYet, until
from tests.real.providers.private_engine import ROOT, skip_without_rights

_ENDED_WITHIN_S = 60
HAS_ONE = """
import os
from pytest_kmigrate.providers.docker.engine import EMPTY_ROOT, Engine
from tests.real.providers.private_engine import private_engine

with private_engine() as engine:
    os.environ.update(engine.environment)
    asked = Engine()
    asked.make_empty_root()
    more = {"NetworkMode": "none", "Binds": [f"{each}:{each}:ro" for each in ("/usr", "/lib", "/lib64")]}
    asked.start(asked.create(EMPTY_ROOT, ["/usr/bin/sleep", "inf"], None, stop_signal="SIGKILL", **more))
    print(engine.socket.parent, flush=True)
    input()
"""


def of(folder: Path) -> list[str]:
    """Engine, containerd, the shim of each container, and their files."""
    lines = [" ".join(each.info["cmdline"] or []) for each in psutil.process_iter(["cmdline"])]
    return [*(line for line in lines if f"{folder}/" in line), *([str(folder)] if folder.exists() else [])]


def test_nothing_is_left_of_an_engine() -> None:
    """Nor of its containers, when pytest is ended by a signal, which lets it clean nothing up."""
    skip_without_rights()
    with subprocess.Popen([sys.executable, "-c", HAS_ONE], stdin=-1, stdout=-1, cwd=ROOT) as owner:
        assert owner.stdout is not None
        folder = Path(owner.stdout.readline().decode().strip())
        assert any("shim" in each for each in of(folder))
        owner.send_signal(signal.SIGKILL)
        until(lambda: not (left := of(folder)) or NotYet(left), awaited="its end", within_s=_ENDED_WITHIN_S)
