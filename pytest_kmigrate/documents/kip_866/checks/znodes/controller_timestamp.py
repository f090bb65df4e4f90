"""Check of the time in ``/controller``: the document shows a number."""

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER
from pytest_kmigrate.checkers.controllers.lives import roles
from pytest_kmigrate.checkers.controllers.znode_changes import (
    evidence_of,
    held_in,
    since_controllers,
    untampered,
)
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import holds_position
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates


@checker("K866-ZNODE-controller-schema-v2", in_every_run=holds_position, needs=[Capability.ZNODES])
def controller_timestamp_is_a_number(history: History) -> Verdict:
    """The JSON that a KRaft controller writes to ``/controller`` has its ``timestamp`` as a number.

    Judged up to where a test tampered with the znode.
    """
    name, by_role = "controller_timestamp_is_a_number", roles(history)
    seen = since_controllers(history, untampered(history, CONTROLLER))
    written = [each for each in seen if _is_of_kraft(by_role, each)]
    if not written:
        return inconclusive(name, Kind.VACUOUS, f"no KRaft controller was seen to write to {CONTROLLER}")
    times = [(each, held_in(each).get("timestamp")) for each in written]
    wrong = [(each, time) for each, time in times if type(time) is not int]
    if wrong:
        found = [_violation(history, *each) for each in wrong]
        # Who reads the znode may stumble; no metadata is at stake, which is what SAFETY says.
        return violates(name, Kind.LIVENESS, found, times=[time for _, time in wrong])
    return conforms(name, f"{counted(len(written), 'content')} of {CONTROLLER} with a number as the time")


def _is_of_kraft(by_role: dict[str, str], change: ZnodeChange) -> bool:
    return by_role.get(f"controller-{held_in(change).get('brokerid')}") == "controller"


def _violation(history: History, change: ZnodeChange, time: object) -> Violation:
    observed = f"it is {time!r} in {change.data}"
    expected = f"the timestamp in {CONTROLLER} is a number"
    return timed_violation(history, expected, observed, change.at_ns, evidence_of(change))
