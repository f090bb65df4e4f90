"""The smallest cluster that can be migrated: one server of ZooKeeper, one broker, one controller."""

from pathlib import Path

from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.running import Claim, RunSettings, open_run
from pytest_kmigrate.topology.loading import load

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
SESSION_AND_MORE_S = 9


def test_a_migration_of_one_broker_conforms_however_long_it_is_away(tmp_path: Path) -> None:
    """It is killed in dual write, and restarted in KRaft mode once ZooKeeper has given up its session, after 18 s.

    No other broker has a copy of anything, so no time without it is held against Kafka.
    """
    file = tmp_path / "smallest.toml"
    file.write_text(SHAPE)
    settings = RunSettings(tmp_path / "runs", seed=1)
    with open_run(settings, ProcessProvider(print), load(file), Claim("t::one"), lambda _folder: None) as run:
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
            checks.longest_time_without_acked_write(at_most_s=SESSION_AND_MORE_S),
            checks.longest_time_without_consumption(at_most_s=60),
        ])  # fmt: skip
    unexplained = [each for each in judgement.verdicts if each.outcome is Outcome.VIOLATES and not each.known_bugs]
    assert unexplained == []
    named = {each.check: each for each in judgement.verdicts}
    assert named["longest_time_without_acked_write"].outcome is Outcome.CONFORMS
    assert named["partitions_stay_available"].outcome is Outcome.CONFORMS
    assert named["longest_time_without_acked_write"].facts["longest_s"] > SESSION_AND_MORE_S
