"""Check of how KRaft controllers take over: ``/controller`` and ``/controller_epoch`` are overwritten together."""

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER, CONTROLLER_EPOCH, Claim, kraft_claims
from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns, roles
from pytest_kmigrate.checkers.controllers.quorum_stops import taken_back_ns
from pytest_kmigrate.checkers.controllers.znode_changes import evidence_of, held_in, untampered
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during, phase_at
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.leading import is_of_a_migration, leading
from pytest_kmigrate.documents.kip_866.checks.settled import DUAL_WRITE
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import holds_position
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.evidence import StartConditionMade
from pytest_kmigrate.model.events.faults import FaultBegan
from pytest_kmigrate.model.events.nodes import NodeDied, NodePaused, NodeStopped
from pytest_kmigrate.model.history import History, Sample, ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation

_BUMP, _OVERWRITE = "K866-ZNODE-controller-epoch-bump", "K866-ZNODE-controller-overwrite"
_EPOCH = "RaftCurrentEpoch"
_ELECTION = "K866-ZNODE-controller-every-election"
_TAKES_NS = 100_000_000_000
"""By then a leader in dual write has taken the znode: a driver may wait for 60 s between two looks."""
_TURNS = (
    EventKind.NODE_STARTED,
    EventKind.NODE_STOPPED,
    EventKind.NODE_DIED,
    EventKind.NODE_PAUSED,
    EventKind.NODE_RESUMED,
)
_STANDS_EMPTY_NS = 1_000_000_000
"""The znode is overwritten by a deletion and a creation in one transaction, which a watch may see one by one."""


@dataclass(frozen=True)
class _Claim:
    """A KRaft controller took ``/controller``; ``before`` is what the znode held until then, None: nothing was seen."""

    change: ZnodeChange
    before: ZnodeChange | None
    life: int


@checker(
    _BUMP,
    _OVERWRITE,
    _ELECTION,
    in_every_run=holds_position,
    anomaly="controller taken without its epoch",
    needs=[Capability.ZNODES],
)
def kraft_takes_both_controller_znodes(history: History) -> Verdict:
    """Each time a KRaft controller takes ``/controller``, the same transaction raises ``/controller_epoch``.

    Transaction ids show it, where the watch saw both. The epoch rises by value and by version. A controller in
    ZooKeeper mode that lives is overwritten: the znode did not stand empty before. What a test tampered with is judged
    up to then. In dual write a controller that leads has taken the znode after 100 s, if nothing disturbed it, nor
    ZooKeeper: the epoch of the quorum in it is its own, and no former one.
    """
    rows = ByRequirement(_BUMP, _OVERWRITE, _ELECTION)
    epochs = [each for each in untampered(history, CONTROLLER, CONTROLLER_EPOCH) if each.path == CONTROLLER_EPOCH]
    claims = _claims(history)
    lives_begun = set[int]()
    for claim in claims:
        paired = next((each for each in epochs if each.mzxid == claim.change.mzxid >= 0), None)
        if paired is not None:
            of_claim = (_BUMP, _ELECTION) if claim.life in lives_begun else (_BUMP,)
            _judge_epoch(history, rows, of_claim, claim, epochs[: epochs.index(paired)], paired)
        if claim.life not in lives_begun:
            _judge_overwriting(history, rows, claim)
        lives_begun.add(claim.life)
    _judge_leaders(history, rows)
    text = f"{counted(len(claims), 'claim')} of {CONTROLLER}, each with a higher epoch"
    return rows.verdict(text, f"no KRaft controller was seen to take {CONTROLLER} and {CONTROLLER_EPOCH}")


def _claims(history: History) -> list[_Claim]:
    by_role, starts = roles(history), life_starts_ns(history)
    claims: list[_Claim] = []
    before: ZnodeChange | None = None
    for change in untampered(history, CONTROLLER):
        is_new = all(change.mzxid != each.change.mzxid for each in claims)
        if by_role.get(_name(change, "controller")) == "controller" and is_new:
            claims.append(_Claim(change, before, life_at(starts, change.at_ns)))
        before = change
    return claims


def _name(change: ZnodeChange, role: str) -> str:
    return f"{role}-{held_in(change).get('brokerid')}"


def _judge_epoch(
    history: History,
    rows: ByRequirement,
    of_claim: Sequence[str],
    claim: _Claim,
    earlier: Sequence[ZnodeChange],
    epoch: ZnodeChange,
) -> None:
    """By the requirements of this claim: the first one of a life follows no election of the quorum."""
    former = next((each for each in reversed(earlier) if each.data is not None), None)
    if former is None:
        return
    is_raised = _number(epoch) > _number(former) and epoch.version > former.version
    for row in of_claim:
        rows.looked_at(row)
        if not is_raised:
            expected = f"{CONTROLLER_EPOCH} rises above {former.data} (version {former.version}) with the claim"
            observed = f"it is {epoch.data} (version {epoch.version})"
            rows.violated(row, _violation(history, claim, expected, observed))


def _judge_overwriting(history: History, rows: ByRequirement, claim: _Claim) -> None:
    """Of the first claim of a life; what the znode held last before it names who was in office."""
    held = [each for each in untampered(history, CONTROLLER) if each.at_ns < claim.change.at_ns]
    last = next((each for each in reversed(held) if each.data is not None), None)
    if last is None or not _lives(history, _name(last, "broker"), last.at_ns, claim.change.at_ns):
        return
    rows.looked_at(_OVERWRITE)
    empty_ns = claim.change.at_ns - claim.before.at_ns if claim.before and claim.before.data is None else 0
    if empty_ns > _STANDS_EMPTY_NS:
        observed = f"it stood empty for {span(empty_ns)} before the claim"
        rows.violated(
            _OVERWRITE, _violation(history, claim, f"{CONTROLLER} is taken from its present holder", observed)
        )


def _judge_leaders(history: History, rows: ByRequirement) -> None:
    """Leaders that have not taken the znode, one violation each: it holds a claim of an earlier epoch."""
    claims, starts = {each.at_ns: each for each in kraft_claims(history)}, life_starts_ns(history)
    changes = untampered(history, CONTROLLER)
    late: dict[tuple[str, float], tuple[Sample, int, Claim]] = {}
    for sample, since_ns in leading(history):
        epoch, life = sample.values.get(_EPOCH), life_at(starts, sample.at_ns)
        if epoch is None or not _must_have_taken(history, sample, since_ns):
            continue
        at_ns = next((each.at_ns for each in reversed(changes) if each.at_ns <= sample.at_ns), -1)
        last = claims.get(at_ns)  # None also where it was deleted since, by hand
        if last is not None and life_at(starts, last.at_ns) == life and last.epoch < epoch:
            late[sample.node, epoch] = sample, since_ns, last
    for sample, since_ns, last in late.values():
        expected = f"the leader of epoch {sample.values[_EPOCH]:g} takes {CONTROLLER} within {span(_TAKES_NS)}"
        observed = f"{sample.node} led for {span(sample.at_ns - since_ns)}, and it held the claim of epoch {last.epoch}"
        awaited = (since_ns, sample.at_ns)
        found = timed_violation(history, expected, observed, sample.at_ns, last.evidence, awaited=awaited)
        rows.violated(_ELECTION, found, Kind.LIVENESS)


def _must_have_taken(history: History, led: Sample, since_ns: int) -> bool:
    """Whether it has led for long, in dual write, and neither it nor ZooKeeper was disturbed, nor the znode ever."""
    from_ns = led.at_ns - _TAKES_NS
    if since_ns > from_ns or not {phase_at(history, at_ns) for at_ns in (from_ns, led.at_ns)}.issubset(DUAL_WRITE):
        return False
    by_role = roles(history)
    turned = {e.node for e in history.of(*_TURNS) if from_ns <= e.at_ns <= led.at_ns}
    of_tests = [each.what.fault for each in history.of(FaultBegan) if CONTROLLER in each.what.fault]
    return (
        not any(node == led.node or by_role.get(str(node)) == "zookeeper" for node in turned)
        and not of_tests
        and not history.of(StartConditionMade)
        and not faults_during(history, from_ns, led.at_ns)
        and not any(at_ns <= led.at_ns for at_ns in taken_back_ns(history))
        and is_of_a_migration(history, led)
    )


def _lives(history: History, broker: str, from_ns: int, to_ns: int) -> bool:
    if roles(history).get(broker) != "broker":
        return False
    ends = history.of(NodeStopped, NodeDied, NodePaused)
    return not any(each.node == broker and from_ns <= each.at_ns <= to_ns for each in ends)


def _number(change: ZnodeChange) -> int:
    return int(change.data) if change.data is not None and change.data.isdecimal() else -1


def _violation(history: History, claim: _Claim, expected: str, observed: str) -> Violation:
    at_ns = claim.change.at_ns
    return timed_violation(history, expected, observed, at_ns, evidence_of(claim.change))
