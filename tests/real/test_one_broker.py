"""The smallest cluster that can be migrated: one server of ZooKeeper, one broker, one controller."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.model.verdict import Outcome, Verdict
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.running import Claim, RunSettings, open_run
from pytest_kmigrate.topology.loading import load
from pytest_kmigrate.waiting import PATIENCE_S, until

SHAPE = """
# The fewest nodes of a migration.
name = "smallest"
kafka = "3.9.1"
[zookeeper]
count = 1
[broker]
count = 1
[controller]
count = 1
"""
SESSION_S = 9


@pytest.fixture
def smallest(tmp_path: Path) -> Topology:
    """By its file."""
    file = tmp_path / "smallest.toml"
    file.write_text(SHAPE)
    return load(file)


@pytest.mark.nightly
def test_an_operator_who_goes_back_by_hand_violates_nothing(smallest: Topology, tmp_path: Path) -> None:
    """The quorum is stopped, and ``/controller`` deleted: the broker takes it while no controller could."""
    settings = RunSettings(tmp_path / "runs", seed=1)
    with open_run(settings, ProcessProvider(print), smallest, Claim("t::back"), lambda _folder: None) as run:
        assert run.zookeeper is not None
        run.traffic.start()
        run.driver.advance_to(Phase.HYBRID)
        run.cluster.node("controller-3000").stop()
        run.zookeeper.delete("/controller")
        until(lambda: run.view.active_controller() == "broker-0", awaited="the broker in charge", within_s=PATIENCE_S)
        judgement = run.verify([checks.no_acked_record_lost()])
    in_charge = {each.outcome for each in judgement.verdicts if each.check == "no_zookeeper_broker_is_in_charge"}
    assert in_charge <= {Outcome.CONFORMS, Outcome.INCONCLUSIVE}
    assert in_charge
    assert unexplained(judgement.verdicts) == []


def test_a_migration_of_one_broker_conforms_however_long_it_is_away(smallest: Topology, tmp_path: Path) -> None:
    """It is killed in dual write, and restarted in KRaft mode once ZooKeeper has given up its session, after 18 s.

    No other broker has a copy of anything, so no time without it is held against Kafka.
    """
    settings = RunSettings(tmp_path / "runs", seed=1)
    with open_run(settings, ProcessProvider(print), smallest, Claim("t::one"), lambda _folder: None) as run:
        run.traffic.start()
        run.metadata.fill()
        run.traffic.await_acked(200)
        run.driver.advance_to(Phase.HYBRID)
        run.metadata.settle("dual-write")
        run.traffic.await_acked(200)
        run.cluster.node("broker-0").kill()
        run.driver.advance_to(Phase.FINALIZED)
        run.traffic.await_acked(200)
        judgement = run.verify([
            checks.phase_reached(Phase.FINALIZED),
            checks.metadata_equivalent("dual-write-log", "dual-write-zookeeper"),
            checks.no_acked_record_lost(),
            checks.longest_time_without_acked_write(at_most_s=SESSION_S),
            checks.longest_time_without_consumption(at_most_s=60),
        ])  # fmt: skip
    assert unexplained(judgement.verdicts) == []
    named = {each.check: each for each in judgement.verdicts}
    assert named["longest_time_without_acked_write"].outcome is Outcome.CONFORMS
    assert named["partitions_stay_available"].outcome is Outcome.CONFORMS
    assert named["longest_time_without_acked_write"].facts["longest_s"] > SESSION_S


def unexplained(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """What violates, by no known bug of the release."""
    return [each for each in verdicts if each.outcome is Outcome.VIOLATES and not each.known_bugs]
