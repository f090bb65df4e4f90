"""A start condition on real Kafka: it is there before the controllers are, and no check takes it for their writing."""

from pathlib import Path

from pytest_kmigrate.documents.kip_866.procedure import PROVISION_CONTROLLERS
from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.checkpoint import Znode
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.running import Claim, RunSettings, open_run
from pytest_kmigrate.topology.loading import find, load


def test_a_migration_znode_without_data_is_a_circumstance(tmp_path: Path) -> None:
    """A tool made it long ago, as apache/kafka#20627 reports; KRaft is not blamed for it when the controllers start."""
    claim = Claim("t.py::test_it", conditions=(Znode("/migration"),))
    topology = load(find("zk1-broker3-controller1"), kafka="3.9.1")
    settings = RunSettings(tmp_path, seed=1)
    with open_run(settings, ProcessProvider(print), topology, claim, lambda _folder: None) as run:
        assert run.zookeeper is not None
        assert run.zookeeper.get("/migration") == b""
        run.traffic.start()
        run.driver.begin(PROVISION_CONTROLLERS, moves=2)
        run.traffic.await_acked(500)
        run.traffic.await_consumed(500)
        judgement = run.verify([checks.no_acked_record_lost()])
    assert judgement.outcome is Outcome.CONFORMS
