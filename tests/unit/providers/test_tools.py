"""Kafka's own tools as seen without a JVM: what is reported of one that does not do its work."""

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import psutil
import pytest

from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.model.events.nodes import ToolRan
from pytest_kmigrate.providers.owned import tools
from pytest_kmigrate.providers.owned.commands import Command, Tool, run_here
from pytest_kmigrate.providers.owned.jvm import Jvm
from pytest_kmigrate.providers.owned.node import OwnedNode
from pytest_kmigrate.waiting import until
from tests.unit.fakes import topology

STORAGE = "kafka.tools.StorageTool"


def test_a_tool_that_does_not_end_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the tool and what it was run for, instead of a stack trace of subprocess."""
    monkeypatch.setattr(tools, "PATIENCE_S", 0.1)
    waits = Command((sys.executable, "-c", "import signal; signal.pause()"))
    jvm = cast("Jvm", SimpleNamespace(tool_command=lambda *_, **__: waits, run=run_here))
    with pytest.raises(ClusterError, match=r"formatting failed: kafka-storage did not end within 0\.1 s"):
        tools.run_tool(jvm, cast("OwnedNode", Node(tmp_path, STORAGE)), tools.STORAGE_TOOL, [], "formatting")


RUNS_A_TOOL = """
import sys
from types import SimpleNamespace
from pytest_kmigrate.providers.owned import tools
from pytest_kmigrate.providers.owned.commands import Command, run_here

tools._found = lambda *_: None
waits = "import os, signal; os.write(0, str(os.getpid()).encode() + bytes([10])); signal.pause()"
command = Command((sys.executable, "-c", waits))
jvm = SimpleNamespace(tool_command=lambda *_, **__: command, run=run_here)
node = SimpleNamespace(distribution=None, hosts=None)
tools.run_tool(jvm, node, tools.STORAGE_TOOL, [], "formatting")
"""


@pytest.mark.slow
def test_a_tool_ends_with_whoever_ran_it() -> None:
    """SIGKILL of pytest while disks are formatted leaves no JVM that makes their folder anew."""
    reading, reported = os.pipe()
    with subprocess.Popen([sys.executable, "-c", RUNS_A_TOOL], stdin=reported) as process, os.fdopen(reading) as said:
        os.close(reported)
        tool = psutil.Process(int(said.readline()))
        process.send_signal(signal.SIGKILL)
        until(lambda: not tool.is_running(), awaited="the end of the tool", within_s=30)


class Node:
    """A broker that was started once."""

    name = "broker-0"
    spec = topology().node("broker-0")

    def __init__(self, folder: Path, *classes: str) -> None:
        jar = folder / "kafka-tools-3.9.1.jar"
        with zipfile.ZipFile(jar, "w") as archive:
            for each in classes:
                archive.writestr(f"{each.replace('.', '/')}.class", "")
        self.distribution = Distribution("3.9.1", (jar, folder / "zookeeper-3.8.jar"), "digest")
        self.properties_file = folder / "server.properties"
        self.properties_file.touch()
        self.hosts = folder / "hosts"
        self.alive = True

    def write_properties(self) -> Path:
        """Of a node that is down, as its next start would read it."""
        self.properties_file.write_text("written")
        return self.properties_file


def test_a_tool_that_prepares_a_node_has_its_names(tmp_path: Path) -> None:
    """Formatting looks up the voters: without the node's hosts file, a container waits for a DNS that it has not."""
    node, jvm = cast("OwnedNode", Node(tmp_path, STORAGE)), Jvm(program(tmp_path, 'echo "$@"'), *4 * [tmp_path])
    said = tools.run_tool(jvm, node, tools.STORAGE_TOOL, ["format"], "formatting")
    assert f" -Djdk.net.hosts.file={node.hosts} " in said
    assert said.endswith(f" {STORAGE} format\n")


def ran(node: Node, tool: str, *arguments: str, code: str = "") -> tuple[ToolRan, list[object]]:
    """A tool of a node, and what its command was made of; instead of it some Python is run."""
    made: list[object] = []

    def command(*parts: object) -> Command:
        made.extend(parts)
        return Command((sys.executable, "-c", code))

    jvm = cast("Jvm", SimpleNamespace(tool_command=command, run=run_here))
    return tools.tool_ran(jvm, cast("OwnedNode", node), tool, arguments), made


def test_a_tool_is_run_by_the_class_that_the_release_has(tmp_path: Path) -> None:
    """Where the node runs, with its names, its file and where it serves."""
    node = Node(tmp_path, "kafka.admin.FeatureCommand", "org.apache.kafka.tools.FeatureCommand")
    code = "import sys; print('old'); print('no such feature', file=sys.stderr, flush=True); sys.exit(3)"
    reported, made = ran(node, "kafka-features", "--bootstrap-server", "{bootstrap}", "--x={config}", code=code)
    given = ["--bootstrap-server", "broker-0:9094", f"--x={node.properties_file}"]
    tool = Tool("kafka-features", "org.apache.kafka.tools.FeatureCommand")
    assert made == [node.distribution, tool, given, node.hosts]
    assert (reported.status, sorted(reported.output.split("\n"))) == (3, ["", "no such feature", "old"])
    assert (reported.tool, reported.arguments) == ("kafka-features", given)


def test_a_tool_reads_what_the_next_start_of_a_node_would(tmp_path: Path) -> None:
    """While it runs that is the file it was started with."""
    node = Node(tmp_path, STORAGE)
    for node.alive, held in ((True, ""), (False, "written")):
        ran(node, "kafka-storage", "{config}")
        assert node.properties_file.read_text() == held


def test_what_a_tool_says_is_recorded_without_secrets(tmp_path: Path) -> None:
    """Nor are they in its arguments."""
    node = Node(tmp_path, "kafka.admin.ConfigCommand")
    code = "print('SCRAM-SHA-512=[password=hunter2]')"
    reported, _ = ran(node, "kafka-configs", "--add-config", "SCRAM-SHA-512=[password=hunter2]", code=code)
    assert "hunter2" not in reported.output + "".join(reported.arguments)


def test_a_tool_that_there_is_not_is_refused(tmp_path: Path) -> None:
    """With those there are; so is one that the node's release does not have."""
    node = Node(tmp_path)
    with pytest.raises(WrongUseError, match=r"tool: expected one of kafka-acls, .*; got 'kafka-feature'"):
        ran(node, "kafka-feature")
    with pytest.raises(WrongUseError, match=r"tool: Kafka 3\.9\.1 has no kafka-features"):
        ran(node, "kafka-features")


@pytest.mark.parametrize("main_class", ["kafka.tools.DumpLogSegments", "org.apache.kafka.tools.DumpLogSegments"])
def test_the_metadata_log_is_dumped_by_the_class_that_the_release_has(tmp_path: Path, main_class: str) -> None:
    """It moved within 4.x. Here, since files of a node are files of this machine, unless the tool is in an image."""
    node = Node(tmp_path, main_class)
    jvm = Jvm(program(tmp_path, 'echo "$@"'), tmp_path, tmp_path, None, tmp_path, run=refused)
    said = tools.dumped(jvm, node.distribution, [tmp_path / "1.log", tmp_path / "2.log"])
    given = f"{main_class} --cluster-metadata-decoder --files {tmp_path}/1.log,{tmp_path}/2.log"
    assert said.endswith(f" {given}\n")


def refused(command: Command, within_s: float) -> subprocess.CompletedProcess[str]:
    """Run nothing where nodes run."""
    raise AssertionError(command)


def program(folder: Path, script: str) -> Path:
    """A program in Java's place."""
    path = folder / "java"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_a_dump_tool_that_fails_is_an_error_without_secrets(tmp_path: Path) -> None:
    """With its own words."""
    node = Node(tmp_path, "kafka.tools.DumpLogSegments")
    jvm = Jvm(program(tmp_path, "echo password=hunter2 >&2; exit 3"), tmp_path, tmp_path, None, tmp_path)
    with pytest.raises(ClusterError, match=r"got 3(.|\n)*password=hidden:"):
        tools.dumped(jvm, node.distribution, [])
