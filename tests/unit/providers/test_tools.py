"""Kafka's own tools as seen without a JVM: what is told of one that does not do its work."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace
from typing import cast

import psutil
import pytest

from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.providers.process import tools
from pytest_kmigrate.providers.process.jvm import Jvm
from pytest_kmigrate.waiting import until


def test_a_tool_that_does_not_end_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the tool and what it was run for, instead of a stack trace of subprocess."""
    monkeypatch.setattr(tools, "PATIENCE_S", 0.1)
    waits = [sys.executable, "-c", "import signal; signal.pause()"]
    jvm = cast("Jvm", SimpleNamespace(tool_command=lambda *_: waits))
    with pytest.raises(ClusterError, match=r"formatting failed: x\.Tool did not end within 0\.1 s"):
        tools.run_tool(jvm, cast("Distribution", None), "x.Tool", [], "formatting")


RUNS_A_TOOL = """
import sys
from types import SimpleNamespace
from pytest_kmigrate.providers.process.tools import run_tool

waits = "import os, signal; os.write(0, str(os.getpid()).encode() + bytes([10])); signal.pause()"
command = [sys.executable, "-c", waits]
run_tool(SimpleNamespace(tool_command=lambda *_: command), None, "x.Tool", [], "formatting")
"""


def test_a_tool_ends_with_whoever_ran_it() -> None:
    """SIGKILL of pytest while disks are formatted leaves no JVM that makes their folder anew."""
    reading, told = os.pipe()
    with subprocess.Popen([sys.executable, "-c", RUNS_A_TOOL], stdin=told) as process, os.fdopen(reading) as said:
        os.close(told)
        tool = psutil.Process(int(said.readline()))
        process.send_signal(signal.SIGKILL)
        until(lambda: not tool.is_running(), awaited="the end of the tool", within_s=30)
