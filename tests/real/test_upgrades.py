"""A live cluster gets another Kafka node by node, and Kafka's own tools say what it is then."""

from contextlib import AbstractContextManager
from pathlib import Path

from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.procedures.moves import Roll
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.running import Claim, Run, RunSettings, open_run
from pytest_kmigrate.topology.loading import load

OLD, NEW = "3.8.1", "3.9.1"
SHAPE = f"""
# The fewest nodes that can be upgraded, and a broker that joins them.
name = "upgraded"
kafka = "{OLD}"
[broker]
count = 2
[controller]
count = 1
[[node]]
name = "broker-1"
kafka = "{NEW}"
start = "later"
"""


def test_nodes_are_rolled_to_another_release_and_one_joins(tmp_path: Path) -> None:
    """Records stay readable over it; each tool is run by the release of its node, and its words are evidence."""
    with opened(tmp_path) as run:
        run.traffic.start()
        run.traffic.await_acked(200)
        for name in ("controller-3000", "broker-0"):
            Roll(name, kafka=NEW).make(run.scene)
        run.cluster.node("broker-1").start()
        run.traffic.await_acked(200)
        features = run.cluster.run_tool("broker-0", "kafka-features", ["--bootstrap-server", "{bootstrap}", "describe"])
        quorum = ["--bootstrap-controller", "{bootstrap}", "describe", "--replication"]
        members = run.cluster.run_tool("controller-3000", "kafka-metadata-quorum", quorum)
        disk = run.cluster.run_tool("broker-1", "kafka-storage", ["info", "--config", "{config}"])
        refused = run.cluster.run_tool("broker-0", "kafka-features", ["describe"])
        kept, *_ = run.verify([checks.no_acked_record_lost()]).verdicts
    assert (features.status, "SupportedMaxVersion: 3.9-IV0" in features.output) == (0, True), features
    assert {line.split()[0] for line in members.output.splitlines()[1:]} == {"3000", "0", "1"}, members
    assert (disk.status, "Found metadata" in disk.output) == (0, True), disk
    assert refused.status == 1
    history = read_history(run.folder)
    assert [event.data["version"] for event in history.of(EventKind.NODE_INSTALLED)] == [NEW, NEW]
    assert [event.data["status"] for event in history.of(EventKind.TOOL_RAN)] == [0, 0, 0, 1]
    started = {event.node: event.data["kafka"] for event in history.of(EventKind.NODE_STARTED)}
    assert started == {"controller-3000": NEW, "broker-0": NEW, "broker-1": NEW}
    assert (kept.check, kept.outcome) == ("no_acked_record_lost", Outcome.CONFORMS), kept.summary


def opened(folder: Path) -> AbstractContextManager[Run]:
    """A run of that shape."""
    file = folder / "upgraded.toml"
    file.write_text(SHAPE)
    shape: Topology = load(file)
    settings = RunSettings(folder / "runs", seed=1)
    return open_run(settings, ProcessProvider(print), shape, Claim("test::upgrade"), lambda _folder: None)
