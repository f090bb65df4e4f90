"""A suite run against a mutant (``--kmigrate-byteman``) sees it, and its crash points work as ever."""

from pathlib import Path

from pytest_kmigrate.checkers import checks
from pytest_kmigrate.faults.holding import Hold
from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.model.protocols import CrashPoint
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.model.verdict import Kind, Outcome
from pytest_kmigrate.running import RunSettings, open_run
from pytest_kmigrate.running.software import software_for
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
RULE nobody comes by
CLASS org.apache.kafka.common.requests.ProduceResponse$PartitionResponse
METHOD toString
IF true
DO $0.baseOffset = 0
ENDRULE
"""
HEARTBEAT = CrashPoint(
    "heartbeat", "org.apache.kafka.common.requests.BrokerHeartbeatRequest$Builder", "build", held_s=1
)


def test_a_mutant_is_told_also_after_its_broker_was_held(tmp_path: Path) -> None:
    """A crash point's rule joins the mutant's in the same Byteman; taken back, it leaves the mutant in force.

    Those of its rules that do nothing are named, by the words of the real Byteman.
    """
    rules = tmp_path / "mutant.btm"
    rules.write_text(MUTANT)
    shape = topology(zookeepers=0, brokers=1, controllers=1)
    settings = RunSettings(tmp_path / "runs", seed=1, byteman=rules)
    with open_run(settings, shape, software_for(shape, print), __name__, (), lambda _folder: None) as run:
        with inject(run.scene, Hold(HEARTBEAT, Role.BROKER)) as injection:
            injection.await_bitten()
        run.traffic.start()
        run.traffic.await_acked(50)
        verdicts = {verdict.check: verdict for verdict in run.verify([checks.no_offset_given_twice()]).verdicts}
    outcomes = {check: verdict.outcome for check, verdict in verdicts.items()}
    assert [check for check, outcome in outcomes.items() if outcome is Outcome.VIOLATES] == ["no_offset_given_twice"]
    assert outcomes["every_fault_was_witnessed"] is Outcome.CONFORMS
    idle = verdicts["mutant_was_in_force"]
    assert (idle.outcome, idle.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert [told.partition(" FieldExpresssion")[0] for told in idle.summary.split("; ")] == [
        "rule nobody comes by: woven in, never reached",
        "rule nothing has a field of this name: failed: TypeException:",
        "rule nothing has a method of this name: woven into nothing",
    ]
