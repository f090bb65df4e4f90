"""Clusters that begin from a checkpoint are in the state it was made in, and go on from there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from pytest_kmigrate.checkers.metadata.differences import differences
from pytest_kmigrate.documents import document
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.checkpoint import Start
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.providers.owned.cluster import OwnedCluster
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.running import Checkpoints, Claim, Run, RunSettings, open_run
from pytest_kmigrate.topology.loading import find, load
from pytest_kmigrate.waiting import until
from pytest_kmigrate.wire.admin import create_topics_at


def test_two_clusters_from_checkpoints_hold_what_was_filled_in_and_go_on(tmp_path: Path) -> None:
    """Side by side on two blocks: the same metadata in both, dual write goes on in one, the other is finalized."""
    with begun(tmp_path, "HYBRID") as hybrid, begun(tmp_path, "ALL_KRAFT") as all_kraft:
        assert block(hybrid) != block(all_kraft)
        images = [run.metadata.seen(side) for run in (hybrid, all_kraft) for side in ("log", "zookeeper")]
        assert [differences(images[0], other, partition_fields=("replicas",)) for other in images[1:]] == [[], [], []]

        create_topics_at(hybrid.cluster.peer("broker-0"), ["newcomer"], partitions=1, replication=3)
        zookeeper = hybrid.zookeeper
        assert zookeeper is not None
        until(lambda: zookeeper.get("/brokers/topics/newcomer"), awaited="the topic in ZooKeeper", within_s=30)

        all_kraft.traffic.start()
        all_kraft.traffic.await_acked(300)
        all_kraft.driver.advance_to(Phase.FINALIZED)
        conforms(hybrid, "zookeeper")
        conforms(all_kraft, "brokers")


@contextmanager
def begun(runs: Path, state: str) -> Iterator[Run]:
    """A run that begins there, filled; from scratch it would have to walk."""
    topology, provider = load(find("zk1-broker3-controller3"), kafka="3.9.1"), ProcessProvider(print)
    settings = RunSettings(runs, seed=7, checkpoints=Checkpoints(provider, document("kip-866"), print))
    claim = Claim(f"test::{state}", starts_at=Start(state, is_filled=True))
    with open_run(settings, provider, topology, claim, lambda _folder: None) as run:
        phases = [
            event for event in run.recorder.events if event.kind is EventKind.STATE and event.data["of"] == "phase"
        ]
        assert [event.data["state"] for event in phases] == [state]
        assert not [event for event in run.recorder.events if event.kind is EventKind.STEP_BEGAN]
        yield run


def conforms(run: Run, beside_log: str) -> None:
    """All that was filled in is there, and nothing of what was made in another run is judged in this one."""
    run.metadata.settle("end", sides=("log", beside_log))
    judgement = run.verify([checks.acknowledged_metadata_changes_present("end-log")])
    outcomes = {verdict.check: verdict.outcome for verdict in judgement.verdicts if verdict.counts}
    assert max(outcomes.values()) is Outcome.CONFORMS, outcomes
    (present,) = [verdict for verdict in judgement.verdicts if verdict.check == "acknowledged_metadata_changes_present"]
    assert int(str(present.facts["judged"])) > 30
    (copy,) = [verdict for verdict in judgement.verdicts if verdict.check == "copy_is_one_transaction"]
    assert copy.is_vacuous


def block(run: Run) -> int:
    """The loopback block of its cluster."""
    return cast("OwnedCluster", run.cluster).addresses.block
