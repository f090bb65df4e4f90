"""Kafka's own command line tools, run to their end."""

import subprocess
import time
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.model.events.nodes import ToolRan
from pytest_kmigrate.providers.owned.commands import Command, Tool, run_here
from pytest_kmigrate.providers.owned.jvm import Jvm
from pytest_kmigrate.providers.owned.network.addresses import ANSWERS_AT
from pytest_kmigrate.providers.owned.node import OwnedNode
from pytest_kmigrate.redaction import redacted
from pytest_kmigrate.topology.braces import filled
from pytest_kmigrate.waiting import PATIENCE_S

_LAST_WORDS = 2000
_DUMPING = ("-Xmx256m", "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-Dsun.stdout.encoding=UTF-8")
STORAGE_TOOL = "kafka-storage"
CONFIG_TOOL = "kafka-configs"
DUMP_TOOL = "kafka-dump-log"
MAIN_CLASSES = {
    "kafka-acls": ("org.apache.kafka.tools.AclCommand", "kafka.admin.AclCommand"),
    "kafka-cluster": ("org.apache.kafka.tools.ClusterTool", "kafka.tools.ClusterTool"),
    CONFIG_TOOL: ("kafka.admin.ConfigCommand",),
    DUMP_TOOL: ("org.apache.kafka.tools.DumpLogSegments", "kafka.tools.DumpLogSegments"),
    "kafka-features": ("org.apache.kafka.tools.FeatureCommand", "kafka.admin.FeatureCommand"),
    "kafka-metadata-quorum": ("org.apache.kafka.tools.MetadataQuorumCommand", "kafka.admin.MetadataQuorumCommand"),
    STORAGE_TOOL: ("kafka.tools.StorageTool",),
    "kafka-topics": ("org.apache.kafka.tools.TopicCommand", "kafka.admin.TopicCommand"),
}
"""The main classes of each tool, as releases from 3.3 on have it; the first that a release has is the one."""


def run_tool(jvm: Jvm, node: OwnedNode, tool: str, arguments: Sequence[str], doing: str) -> str:
    """Run a tool of a node's release with the names that the node knows, and return what it wrote.

    ClusterError with the tool's own words when it refuses, or does not end.
    """
    # With the node's hosts file: a name of the properties would otherwise be asked of DNS, which a container has not.
    command = jvm.tool_command(node.distribution, _found(node.distribution, tool), arguments, node.hosts)
    return _said(jvm, command, tool, doing)


def tool_ran(jvm: Jvm, node: OwnedNode, tool: str, arguments: Sequence[str]) -> ToolRan:
    """Run a tool by its name where a node runs; WrongUseError when there is none, ClusterError when it does not end."""
    config = node.properties_file if node.alive else node.write_properties()
    meant = {"bootstrap": f"{node.name}:{ANSWERS_AT[node.spec.role]}", "config": str(config)}
    given = [filled(each, meant) for each in arguments]
    command = jvm.tool_command(node.distribution, _found(node.distribution, tool), given, node.hosts)
    began = time.monotonic()
    done = _ended(jvm, command, f"{tool} of {node.name}")
    took_ms = int((time.monotonic() - began) * 1000)
    return ToolRan(tool, [redacted(each) for each in given], done.returncode, redacted(done.stdout), took_ms)


def dumped(jvm: Jvm, distribution: Distribution, files: Sequence[Path]) -> str:
    """What the dump tool prints of files of the metadata log. Only a tool that is in an image needs to run there."""
    where = jvm if distribution.image else replace(jvm, run=run_here)
    arguments = ["--cluster-metadata-decoder", "--files", ",".join(map(str, files))]
    command = jvm.tool_command(distribution, _found(distribution, DUMP_TOOL), arguments, more=_DUMPING)
    return _said(where, command, DUMP_TOOL, "reading the metadata log")


def _said(jvm: Jvm, command: Command, tool: str, doing: str) -> str:
    done = _ended(jvm, command, f"{doing} failed: {tool}")
    if done.returncode != 0:
        said = redacted(done.stdout)[-_LAST_WORDS:]
        raise ClusterError(f"{doing} failed: expected {tool} to end with code 0; got {done.returncode}: {said}")
    return done.stdout


def _ended(jvm: Jvm, command: Command, what: str) -> subprocess.CompletedProcess[str]:
    """The process, ended; both of its streams are in ``stdout``, in the order in which they were written."""
    try:
        return jvm.run(command, PATIENCE_S)
    except subprocess.TimeoutExpired as late:
        raise ClusterError(f"{what} did not end within {PATIENCE_S} s; is this machine busy?") from late


@lru_cache
def _found(distribution: Distribution, tool: str) -> Tool:
    if tool not in MAIN_CLASSES:
        raise WrongUseError(f"tool: expected one of {', '.join(MAIN_CLASSES)}; got {tool!r}")
    classes: set[str] = set()
    for jar in distribution.jars:
        if jar.name.startswith("kafka"):
            with zipfile.ZipFile(jar) as archive:
                classes.update(archive.namelist())
    for name in MAIN_CLASSES[tool]:
        if f"{name.replace('.', '/')}.class" in classes:
            return Tool(tool, name)
    raise WrongUseError(f"tool: Kafka {distribution.version} has no {tool}: take another release, or another tool")
