"""Every shipped shape lives: it starts, serves clients, and those with ZooKeeper migrate."""

from pathlib import Path

import pytest

from pytest_kmigrate.checkers import checks
from pytest_kmigrate.model.phase import Phase
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.running import Run, RunSettings, open_run
from pytest_kmigrate.running.software import software_for
from pytest_kmigrate.topology_file import find, load

PROMISES = [checks.no_acked_record_lost(), checks.no_phantom_record(), checks.no_offset_given_twice()]


def migrate_to_hybrid(run: Run) -> None:
    """Bring a ZooKeeper cluster into dual write under traffic."""
    run.traffic.start()
    run.migration.advance_to(Phase.HYBRID)
    run.traffic.await_acked(300)


def serve(run: Run) -> None:
    """Let a cluster born in KRaft mode serve clients."""
    run.traffic.start()
    run.traffic.await_acked(300)


@pytest.mark.parametrize(
    ("name", "kafka", "live"),
    [
        ("zk3-broker3-controller3", "3.9.1", migrate_to_hybrid),
        ("zk1-broker3-controller3-mixed", "3.9.1", migrate_to_hybrid),
        ("zk1-broker3-controller1", "3.8.1", migrate_to_hybrid),
        ("kraft-broker3-controller3", "4.1.0", serve),
    ],
)
def test_shape_lives(name: str, kafka: str, live: object, tmp_path: Path) -> None:
    """The cluster serves clients and nothing acknowledged is lost."""
    topology = load(find(name), kafka=kafka)
    settings = RunSettings(tmp_path, seed=1)
    with open_run(settings, topology, software_for(topology, print), f"test::{name}", [], lambda _folder: None) as run:
        live(run)
        judgement = run.verify(PROMISES)
    assert judgement.outcome is Outcome.CONFORMS, [verdict.summary for verdict in judgement.verdicts]
    assert RunFolder(run.folder.path).manifest.exists()
