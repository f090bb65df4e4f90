"""Kafka's own tools as seen without a JVM: what is told of one that does not do its work."""

import sys
from types import SimpleNamespace
from typing import cast

import pytest

from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.providers.process import tools
from pytest_kmigrate.providers.process.jvm import Jvm


def test_a_tool_that_does_not_end_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the tool and what it was run for, instead of a stack trace of subprocess."""
    monkeypatch.setattr(tools, "_WITHIN_S", 0.1)
    waits = [sys.executable, "-c", "import signal; signal.pause()"]
    jvm = cast("Jvm", SimpleNamespace(tool_command=lambda *_: waits))
    with pytest.raises(ClusterError, match=r"formatting failed: x\.Tool did not end within 0\.1 s"):
        tools.run_tool(jvm, cast("Distribution", None), "x.Tool", [], "formatting")
