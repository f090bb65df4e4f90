"""A process that has a container engine for a child, and ends it with its own standard input.

Whatever ends pytest, that input ends, and nothing of the engine is left. Run as
``python -m tests.real.providers.engine_guard FOLDER COMMAND...``; the process id of the engine is its only output.
"""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from pytest_kmigrate.distributions.java import bound_to_us

_ENDED_WITHIN_S = 30


def guard(folder: Path, command: Sequence[str]) -> None:
    """Run an engine whose files are in ``folder``, which goes with it, until standard input ends."""
    with subprocess.Popen(bound_to_us(command), stdin=subprocess.DEVNULL, stdout=2) as engine:
        # So that one that was killed is no zombie, which others would take for an engine.
        threading.Thread(target=engine.wait, daemon=True).start()
        os.write(1, f"{engine.pid}\n".encode())
        sys.stdin.read()
        _end(engine, folder)
    shutil.rmtree(folder, ignore_errors=True)


def _end(engine: subprocess.Popen[bytes], folder: Path) -> None:
    """By SIGTERM, so that it ends its containers. What an engine that was killed left is killed."""
    engine.terminate()
    try:
        engine.wait(_ENDED_WITHIN_S)
    except subprocess.TimeoutExpired:
        engine.kill()
    left = [each for each in psutil.process_iter(["cmdline"]) if _is_of(folder, each.info["cmdline"] or [])]
    for each in left:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    psutil.wait_procs(left, _ENDED_WITHIN_S)


def _is_of(folder: Path, words: Sequence[str]) -> bool:
    """Whether a process is a containerd, or one of its shims, with its files there."""
    return bool(words) and Path(words[0]).name.startswith("containerd") and any(str(folder) in word for word in words)


if __name__ == "__main__":
    guard(Path(sys.argv[1]), sys.argv[2:])
