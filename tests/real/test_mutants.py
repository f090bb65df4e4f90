"""A suite run against a mutant (``--kmigrate-byteman``) sees it, and its crash points work as ever."""

from pathlib import Path

from pytest_kmigrate.checkers import checks
from pytest_kmigrate.faults.holding import Hold
from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.model.protocols import CrashPoint
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.model.verdict import Outcome
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
"""
HEARTBEAT = CrashPoint(
    "heartbeat", "org.apache.kafka.common.requests.BrokerHeartbeatRequest$Builder", "build", held_s=1
)


def test_a_mutant_is_told_also_after_its_broker_was_held(tmp_path: Path) -> None:
    """A crash point's rule joins the mutant's in the same Byteman; taken back, it leaves the mutant in force."""
    rules = tmp_path / "mutant.btm"
    rules.write_text(MUTANT)
    shape = topology(zookeepers=0, brokers=1, controllers=1)
    settings = RunSettings(tmp_path / "runs", seed=1, byteman=rules)
    with open_run(settings, shape, software_for(shape, print), __name__, (), lambda _folder: None) as run:
        with inject(run.scene, Hold(HEARTBEAT, Role.BROKER)) as injection:
            injection.await_bitten()
        run.traffic.start()
        run.traffic.await_acked(50)
        outcomes = {verdict.check: verdict.outcome for verdict in run.verify([checks.no_offset_given_twice()]).verdicts}
    assert [check for check, outcome in outcomes.items() if outcome is Outcome.VIOLATES] == ["no_offset_given_twice"]
    assert outcomes["every_fault_was_witnessed"] is Outcome.CONFORMS
