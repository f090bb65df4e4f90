"""Znodes that Kafka did not write: some are there before the controllers, others are rewritten behind its back."""

import json
from pathlib import Path

from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.documents.kip_866.procedure import PROVISION_CONTROLLERS
from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.checkpoint import Znode
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.running import Claim, Run, RunSettings, open_run
from pytest_kmigrate.topology.loading import find, load
from pytest_kmigrate.waiting import until
from tests.unit.fakes import topology as shape


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


def test_znodes_that_kafka_did_not_write_are_seen(tmp_path: Path) -> None:
    """One znode after the other, each at a check of its own; the last ones end dual write."""
    with open_run(
        RunSettings(tmp_path, seed=1),
        ProcessProvider(print),
        shape(zookeepers=1, brokers=1, controllers=1),
        Claim(__name__),
        lambda _folder: None,
    ) as run:
        run.traffic.start()
        run.driver.advance_to(Phase.HYBRID)
        run.traffic.await_acked(200)
        _rewrite(run, "/brokers/topics/orders", {"partitions": {"0": [0, 7]}})
        _rewrite(run, "/config/topics/orders", {"config": {"retention.bytes": "700000000"}})
        run.metadata.settle("tampered", within_s=0)
        _rewrite(run, "/controller", {"brokerid": 0})
        _rewrite(run, "/controller_epoch", 0)
        _rewrite(run, "/migration", {"kraft_metadata_offset": 1})
        verdicts = run.verify([checks.metadata_equivalent("tampered-log", "tampered-zookeeper")]).verdicts

    red = {each.check for each in verdicts if each.outcome is Outcome.VIOLATES and not each.known_bugs}
    assert red >= {
        "metadata_equivalent",
        "zookeeper_mirrors_the_log",
        "no_zookeeper_broker_is_in_charge",
        "one_active_controller_per_epoch",
        "controller_epoch_never_falls",
        "controller_znodes_tell_who_and_how_far",
        "migration_znode_never_moves_back",
    }


def _rewrite(run: Run, path: str, held: object) -> None:
    """Write it as a tool would; of an object these keys, and the others stay. Return when it was observed."""
    before = run.scene.znodes.get(path)
    data = {**json.loads(before or b"{}"), **held} if isinstance(held, dict) else held
    written = json.dumps(data).encode()
    run.scene.znodes.set(path, written)
    until(lambda: run.scene.znodes.get(path) == written, awaited=f"{path} rewritten", within_s=10)
