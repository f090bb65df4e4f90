"""A suite run against a mutant (``--kmigrate-byteman``) sees it, and its crash points work as ever."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.faults.holding import Hold
from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.judging import checks
from pytest_kmigrate.judging.judge import judged
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.errors import NodeDiedError
from pytest_kmigrate.model.protocols import CrashPoint
from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.running import Claim, Run, RunSettings, open_run
from tests.unit.fakes import topology

MUTANT = """\
RULE every record is acknowledged at the same offset
CLASS org.apache.kafka.common.requests.ProduceResponse$PartitionResponse
METHOD <init>
AT EXIT
IF true
DO $0.baseOffset = 0
ENDRULE
RULE nothing has a method of this name
CLASS org.apache.kafka.common.requests.ProduceResponse$PartitionResponse
METHOD toResponse
IF true
DO $0.baseOffset = 0
ENDRULE
RULE nothing has a field of this name
CLASS org.apache.kafka.common.requests.ProduceResponse$PartitionResponse
METHOD <init>
IF true
DO $0.bestOffset = 0
ENDRULE
RULE no code comes by
CLASS org.apache.kafka.common.requests.ProduceResponse$PartitionResponse
METHOD toString
IF true
DO $0.baseOffset = 0
ENDRULE
"""
SMALLEST = topology(zookeepers=0, brokers=1, controllers=1)
HEARTBEAT = CrashPoint(
    "heartbeat", "org.apache.kafka.common.requests.BrokerHeartbeatRequest$Builder", "build", held_s=1
)


def test_a_mutant_is_told_also_after_its_broker_was_held(tmp_path: Path) -> None:
    """A crash point's rule joins the mutant's in the same Byteman; taken back, it leaves the mutant in force.

    Those of its rules that do nothing are named, by the words of the real Byteman.
    """

    def act(run: Run) -> None:
        with inject(run.scene, Hold(HEARTBEAT, Role.BROKER)) as injection:
            injection.await_bitten()
        run.traffic.start()
        run.traffic.await_acked(50)

    found = against(tmp_path, MUTANT, SMALLEST, act, [checks.no_offset_given_twice()])
    verdicts = {verdict.check: verdict for verdict in found}
    outcomes = {check: verdict.outcome for check, verdict in verdicts.items()}
    assert [check for check, outcome in outcomes.items() if outcome is Outcome.VIOLATES] == ["no_offset_given_twice"]
    assert outcomes["every_fault_was_witnessed"] is Outcome.CONFORMS
    idle = verdicts["mutant_was_in_force"]
    assert (idle.outcome, idle.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert [reported.partition(" FieldExpresssion")[0] for reported in idle.summary.split("; ")] == [
        "rule no code comes by: woven in, never reached",
        "rule nothing has a field of this name: failed: TypeException:",
        "rule nothing has a method of this name: woven into nothing",
    ]


OF_RECORDS = """\
RULE a batch that is there already is taken for new
CLASS org.apache.kafka.storage.internals.log.ProducerStateEntry
METHOD findDuplicateBatch
AT ENTRY
IF true
DO RETURN java.util.Optional.empty()
ENDRULE
RULE sequence numbers are not looked at
CLASS org.apache.kafka.storage.internals.log.ProducerAppendInfo
METHOD checkSequence
AT ENTRY
IF true
DO RETURN
ENDRULE
RULE some batches are written and refused
CLASS org.apache.kafka.common.requests.ProduceResponse$PartitionResponse
METHOD <init>
AT EXIT
IF $0.error == org.apache.kafka.common.protocol.Errors.NONE AND incrementCounter("answers") % 40 == 0
DO $0.error = org.apache.kafka.common.protocol.Errors.NOT_LEADER_OR_FOLLOWER
ENDRULE
RULE one batch is acknowledged and not written, an early one: a reader that lacks the last waits for it
CLASS org.apache.kafka.storage.internals.log.LogSegment
METHOD append
AT ENTRY
IF $0.log().file().getPath().contains("orders-0") AND incrementCounter("batches") == 5
DO RETURN
ENDRULE
"""
OF_TRANSACTIONS = """\
RULE a transaction that is aborted is committed
CLASS org.apache.kafka.common.requests.WriteTxnMarkersRequest$TxnMarkerEntry
METHOD transactionResult
AT ENTRY
IF true
DO RETURN org.apache.kafka.common.requests.TransactionResult.COMMIT
ENDRULE
"""
OF_METADATA = """\
RULE no config is written to ZooKeeper
CLASS kafka.zk.migration.ZkConfigMigrationClient
METHOD writeConfigs
AT ENTRY
IF true
DO RETURN $3
ENDRULE
RULE /migration now and then holds the first offset
CLASS org.apache.kafka.metadata.migration.ZkMigrationLeadershipState
METHOD withKRaftMetadataOffsetAndEpoch
AT ENTRY
IF incrementCounter("positions") % 5 == 0
DO $1 = 1L
ENDRULE
RULE no credential is accepted
CLASS org.apache.kafka.controller.ScramControlManager
METHOD validateUpsertion
AT ENTRY
IF true
DO RETURN new org.apache.kafka.common.requests.ApiError(org.apache.kafka.common.protocol.Errors.INVALID_REQUEST, "no")
ENDRULE
"""
TAKEN_BACK = """\
RULE an override that is taken back stays in ZooKeeper
CLASS kafka.zk.migration.ZkConfigMigrationClient
METHOD deleteConfigs
AT ENTRY
IF true
DO RETURN $2
ENDRULE
"""
STANDING = """\
RULE the position in /migration stands still
CLASS org.apache.kafka.metadata.migration.ZkMigrationLeadershipState
METHOD withKRaftMetadataOffsetAndEpoch
AT ENTRY
IF $0.kraftMetadataOffset() > 0
DO $1 = $0.kraftMetadataOffset(); $2 = $0.kraftMetadataEpoch()
ENDRULE
RULE no broker starts in KRaft mode
CLASS kafka.server.BrokerServer
METHOD startup
AT ENTRY
IF true
DO THROW new org.apache.kafka.common.KafkaException("planted")
ENDRULE
"""


def test_what_mutants_do_to_records_is_told(tmp_path: Path) -> None:
    """Some are acknowledged and not written, others are written twice."""

    def act(run: Run) -> None:
        run.traffic.start()
        run.traffic.await_acked(1500)

    asked = [
        checks.no_acked_record_lost(),
        checks.no_duplicate_from_idempotent_producer(),
        checks.no_phantom_record(),
    ]
    assert reds(tmp_path, OF_RECORDS, SMALLEST, act, asked) == {
        "no_acked_record_lost",
        "no_duplicate_from_idempotent_producer",
    }


def test_what_a_mutant_does_to_transactions_is_told(tmp_path: Path) -> None:
    """Those that are aborted are read all the same."""

    def act(run: Run) -> None:
        workload = dataclasses.replace(run.traffic.usual(transactors=1), producers=0)
        run.traffic.start(workload)
        run.traffic.await_acked(workload.transactions_per_abort * workload.transaction_records)

    asked = [checks.transactions_all_or_nothing(), checks.no_acked_record_lost(), checks.no_phantom_record()]
    assert reds(tmp_path, OF_TRANSACTIONS, SMALLEST, act, asked) == {"transactions_all_or_nothing"}


def test_what_mutants_do_to_metadata_is_told(tmp_path: Path) -> None:
    """Changes that dual write forgets, a position that runs back, and a family that is refused after the copy."""

    def act(run: Run) -> None:
        run.metadata.fill()
        run.driver.advance_to(Phase.HYBRID)
        run.metadata.change(per_s=10)
        run.metadata.await_acknowledged(40)
        run.metadata.stop()
        run.metadata.settle("after", within_s=0)

    shape = topology(zookeepers=1, brokers=1, controllers=1)
    asked = [
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-log"),
    ]
    found = reds(tmp_path, OF_METADATA, shape, act, asked)
    # A position that runs back makes two changes look like one, which took as long as both.
    assert found - {"write_times_are_times"} == {
        "metadata_equivalent",
        "acknowledged_metadata_changes_present",
        "migration_znode_never_moves_back",
        "controller_znodes_tell_who_and_how_far",
        "metadata_changes_stay_accepted",
        "admin_requests_to_zookeeper_brokers_are_carried_out",
        "zookeeper_mirrors_the_log",
    }


def test_a_position_and_an_override_that_stay_and_a_phase_that_is_not_reached_are_seen(tmp_path: Path) -> None:
    """An override is taken back in dual write, and nothing else changes on the topic; ZooKeeper goes on being written.

    Then the broker dies as it starts in KRaft mode.
    """

    def act(run: Run) -> None:
        run.metadata.fill()
        run.driver.advance_to(Phase.HYBRID)
        run.metadata.settle("copied", ("log", "brokers"))  # a broker that has no metadata yet knows no topic
        run.metadata.take_back(families=("topic-configs",))
        run.metadata.settle("unset", within_s=10)  # what is written behind arrives, and the mutant never does
        run.metadata.change(per_s=5)
        run.metadata.await_acknowledged(40)
        run.metadata.stop()
        with pytest.raises(NodeDiedError, match="broker-0 died"):
            run.driver.advance_to(Phase.ALL_KRAFT)

    shape = topology(zookeepers=1, brokers=1, controllers=1)
    asked = [checks.metadata_equivalent("unset-log", "unset-zookeeper"), checks.phase_reached(Phase.ALL_KRAFT)]
    found = reds(tmp_path, TAKEN_BACK + STANDING, shape, act, asked)
    assert {"metadata_equivalent", "zookeeper_mirrors_the_log", "lag_is_the_distance", "phase_reached"} <= found


def reds(runs: Path, mutant: str, shape: Topology, act: Callable[[Run], None], asked: Sequence[Check]) -> set[str]:
    """The checks that a run against a mutant violates, and one without it does not."""
    verdicts = against(runs, mutant, shape, act, asked)
    return {verdict.check for verdict in verdicts if verdict.outcome is Outcome.VIOLATES}


def against(
    runs: Path, mutant: str, shape: Topology, act: Callable[[Run], None], asked: Sequence[Check]
) -> Sequence[Verdict]:
    """The verdicts of one run against a mutant, without violations that any run of the release may show.

    Under a mutant nothing is excused; these are the ones that the same evidence without it is known as.
    """
    rules = runs / "mutant.btm"
    rules.write_text(mutant)
    settings = RunSettings(runs / "runs", seed=1, byteman=rules)
    with open_run(settings, ProcessProvider(print), shape, Claim(__name__), lambda _folder: None) as run:
        act(run)
        verdicts = run.verify(asked).verdicts
    history = read_history(run.folder)
    plain = dataclasses.replace(
        history, header=dataclasses.replace(history.header, extra={**history.header.extra, "byteman": None})
    )
    of_the_release = {verdict.check for verdict in judged(plain) if verdict.known_bugs}
    return [each for each in verdicts if each.outcome is not Outcome.VIOLATES or each.check not in of_the_release]
