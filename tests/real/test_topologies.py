"""The shapes that no suite uses live, and a defect planted on real Kafka is reported, and nothing besides it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.znodes import Tamper
from pytest_kmigrate.judging import checks
from pytest_kmigrate.judging.judge import judge_folder
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.verdict import Outcome, Verdict
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.running import Claim, Run, RunSettings, open_run
from pytest_kmigrate.topology.loading import find, load
from pytest_kmigrate.waiting import until
from tests.real.sockets import past_the_links

PROMISES = [checks.no_acked_record_lost(), checks.no_phantom_record(), checks.no_offset_given_twice()]


def test_smallest_cluster_migrates_and_a_tampered_znode_is_told(tmp_path: Path) -> None:
    """One controller, an older release: no record is lost, and what ZooKeeper was made to say is the only violation."""

    def migrate_and_tamper(run: Run) -> None:
        run.driver.advance_to(Phase.HYBRID)
        run.traffic.await_acked(300)
        assert past_the_links(run.cluster) == []  # not from controller to ZooKeeper either, nor to brokers in its mode
        with inject(run.scene, Tamper("/config/topics/orders", '{"version":1,"config":{"retention.ms":"1"}}')):
            run.metadata.settle("tampered", within_s=0)

    equal = checks.metadata_equivalent("tampered-log", "tampered-zookeeper")
    red = reds(tmp_path, "zk1-broker3-controller1", "3.8.1", migrate_and_tamper, [*PROMISES, equal])
    assert [verdict.check for verdict in red] == ["metadata_equivalent"]
    assert [violation.expected for violation in red[0].violations] == [
        "configs topic:orders is absent, as in tampered-log"
    ]


# A sample of KIP-866 has the same cluster of 3.9.1, and looks at the same and at more.
@pytest.mark.parametrize("kafka", [pytest.param("3.9.1", marks=pytest.mark.nightly), "4.1.0"])
def test_cluster_born_in_kraft_mode_lives(tmp_path: Path, kafka: str) -> None:
    """It serves clients, nothing acknowledged is lost, and its controllers report which of them led in which epoch.

    Before 4.0 they report a migration state, too.
    """
    promises = [*PROMISES, checks.one_active_controller_per_epoch()]
    assert reds(tmp_path, "kraft-broker3-controller3", kafka, lambda run: run.traffic.await_acked(300), promises) == []


def reds(runs: Path, name: str, kafka: str, act: Callable[[Run], None], promises: list[Check]) -> list[Verdict]:
    """One run with traffic; every verdict that violates or proves nothing, and its closed folder is judged the same."""
    topology = load(find(name), kafka=kafka)
    settings = RunSettings(runs, seed=1)
    claim = Claim(f"test::{name}")
    with open_run(settings, ProcessProvider(print), topology, claim, lambda _folder: None) as run:
        run.traffic.start()
        act(run)
        judgement = run.verify(promises)
        if run.zookeeper is not None:  # which dual write goes on changing
            held = run.zookeeper.get(MIGRATION)
            until(lambda: run.zookeeper.get(MIGRATION) != held, awaited="another write of dual write", within_s=30)
    folder = RunFolder(run.folder.path)
    assert folder.manifest.exists()
    assert judge_folder(folder).verdicts == judgement.verdicts
    return [verdict for verdict in judgement.verdicts if verdict.counts and verdict.outcome >= Outcome.INCONCLUSIVE]
