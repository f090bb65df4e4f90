"""Kafka's own command line tools, run to their end."""

import subprocess
from collections.abc import Sequence

from pytest_kmigrate.distributions.java import bound_to_us
from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.providers.process.jvm import Jvm
from pytest_kmigrate.redaction import redacted
from pytest_kmigrate.waiting import PATIENCE_S

STORAGE_TOOL = "kafka.tools.StorageTool"
CONFIG_TOOL = "kafka.admin.ConfigCommand"


def run_tool(jvm: Jvm, distribution: Distribution, tool: str, arguments: Sequence[str], doing: str) -> None:
    """Run a tool of a release; ClusterError with the tool's own words when it refuses, or does not end."""
    command = jvm.tool_command(distribution, tool, arguments)
    try:
        done = subprocess.run(bound_to_us(command), capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired as late:
        raise ClusterError(f"{doing} failed: {tool} did not end within {PATIENCE_S} s; is this machine busy?") from late
    if done.returncode != 0:
        said = redacted(done.stdout + done.stderr)
        raise ClusterError(f"{doing} failed: expected {tool} to end with code 0; got {done.returncode}: {said}")
