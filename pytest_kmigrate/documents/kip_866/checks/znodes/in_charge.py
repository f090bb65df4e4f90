"""Check of who acts as controller once KRaft has taken over: no broker in ZooKeeper mode, in the znode or by itself."""

from collections.abc import Iterator

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER, kraft_claims
from pytest_kmigrate.checkers.controllers.lives import DEPROVISIONING, life_at, life_starts_ns, processes, roles
from pytest_kmigrate.checkers.controllers.quorum_stops import taken_back_ns
from pytest_kmigrate.checkers.controllers.znode_changes import evidence_of, held_in, untampered
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import holds_position
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.events.steps import StepBegan
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Verdict

_WATCH, _MANAGED = "K866-ZNODE-controller-watch", "K866-ZNODE-managed-by-kraft"
_NOTICED_NS = 5_000_000_000
"""By then a broker has been notified of the new content of the znode, and resigned."""
_FEWEST = 2


@checker(
    _WATCH,
    _MANAGED,
    in_every_run=holds_position,
    anomaly="a ZooKeeper controller beside KRaft",
    needs=[Capability.ZNODES, Capability.METRICS],
)
def no_zookeeper_broker_is_in_charge(history: History) -> Verdict:
    """From the take-over on no broker takes ``/controller``, nor reports that it is the active controller.

    Until the controllers are taken away again, by a step or by hand. The former controller has 5 s to notice, and
    reports for itself; that a broker stands for election in vain is seen where one is started in ZooKeeper mode
    meanwhile.
    """
    rows = ByRequirement(_WATCH, _MANAGED)
    ruled = list(_ruled(history))
    for from_ns, to_ns in ruled:
        _judge_reports(history, rows, from_ns, to_ns)
        _judge_znode(history, rows, from_ns, to_ns)
    text = f"no broker was in charge after {counted(len(ruled), 'take-over')}"
    return rows.verdict(text, "no broker was seen that had been in charge before, or was started meanwhile")


def _ruled(history: History) -> Iterator[tuple[int, int]]:
    """From the first claim of KRaft in each life of the log until its controllers are taken away.

    By a step, or by hand; in the latter case from the next claim on again.
    """
    starts, last_ns = life_starts_ns(history), history.end_ns
    leaving = [e.at_ns for e in history.of(StepBegan) if e.what.step == DEPROVISIONING]
    by_life: dict[int, list[int]] = {}
    for claim in kraft_claims(history):
        by_life.setdefault(life_at(starts, claim.at_ns), []).append(claim.at_ns)
    for claimed in by_life.values():
        to_ns = min((at_ns for at_ns in [*leaving, *starts] if at_ns > claimed[0]), default=last_ns)
        yield from _between(claimed, [at_ns for at_ns in taken_back_ns(history) if at_ns < to_ns], to_ns)


def _between(claimed: list[int], taken_back: list[int], to_ns: int) -> Iterator[tuple[int, int]]:
    """From a claim to when control was taken back, from the next one to when it was taken back again, and so on."""
    until_ns = -1
    for from_ns in claimed:
        if until_ns <= from_ns < to_ns:
            until_ns = min((at_ns for at_ns in taken_back if at_ns > from_ns), default=to_ns)
            yield from_ns, until_ns


def _judge_reports(history: History, rows: ByRequirement, from_ns: int, to_ns: int) -> None:
    for samples in processes(history, "broker"):
        was_active = any(_is_active(each) for each in samples if each.at_ns < from_ns)
        later = [each for each in samples if from_ns + _NOTICED_NS <= each.at_ns < to_ns]
        reported = [each for each in later if each.values.get("ActiveControllerCount") is not None]
        active = [each for each in reported if _is_active(each)]
        if was_active and len(reported) >= _FEWEST:
            rows.looked_at(_WATCH)
        if len(active) >= _FEWEST and not faults_during(history, from_ns, active[0].at_ns):
            first = active[0]
            observed = f"{first.node} reported that it is, {span(first.at_ns - from_ns)} after the take-over"
            violation = timed_violation(
                history,
                "no broker is the active controller once KRaft has taken over",
                observed,
                first.at_ns,
                "metrics/metrics.jsonl",
            )
            rows.violated(_WATCH, violation)


def _judge_znode(history: History, rows: ByRequirement, from_ns: int, to_ns: int) -> None:
    started = [e for e in history.of(NodeStarted) if e.what.mode == "zookeeper"]
    rows.looked_at(_MANAGED, sum(from_ns < each.at_ns < to_ns for each in started))
    by_role = roles(history)
    for change in untampered(history, CONTROLLER):
        holder = f"broker-{held_in(change).get('brokerid')}"
        if from_ns < change.at_ns < to_ns and by_role.get(holder) == "broker":
            observed = f"{holder} took it"
            expected = f"{CONTROLLER} is KRaft's from the take-over on"
            rows.violated(_MANAGED, timed_violation(history, expected, observed, change.at_ns, evidence_of(change)))


def _is_active(sample: Sample) -> bool:
    return sample.values.get("ActiveControllerCount") == 1
