"""Checks of how members register: in both directories at once, and with the payload that old members read."""

import json

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_125.evidence.lives import Life, lives
from pytest_kmigrate.documents.kip_125.evidence.writes import EVIDENCE, group_writes, has_writes
from pytest_kmigrate.documents.kip_125.kinds import IDS, MIGRATING
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History, Transaction
from pytest_kmigrate.model.verdict import Verdict

_BOTH, _EPHEMERAL, _TOGETHER = "K125-ZN-ids-registration", "K125-ZN-ids-ephemeral", "K125-ZN-registration-atomic"
_NO_EKC, _PAYLOAD, _LEAVING = "K125-CFG-mdzkcc-no-ekc", "K125-ZN-ids-v1-unchanged", "K125-ZN-deregistration-order"
_PATTERNS = ("static", "white_list", "black_list")
_NEEDS = [Capability.ZOOKEEPER_LOG]


@checker(_BOTH, _EPHEMERAL, _TOGETHER, _NO_EKC, in_every_run=has_writes, needs=_NEEDS)
def members_register_as_their_kind(history: History) -> Verdict:
    """A member with migration registers in both directories, any other one in ``ids`` alone.

    Both entries are ephemeral nodes of one session, and the one that names the member as migrating comes no later:
    each time that it registers, as it does anew when its session has expired.
    """
    rows = ByRequirement(_BOTH, _EPHEMERAL, _TOGETHER, _NO_EKC)
    count = 0
    for life in lives(history).values():
        for transaction in _written(history, "create", f"{IDS}/{life.consumer_id}") if life.is_of_zookeeper else ():
            count += 1
            if life.is_migrating:
                _judge_migrating(history, rows, life, transaction)
            else:
                rows.looked_at(_NO_EKC)
                if _written(history, "create", f"{MIGRATING}/{life.consumer_id}"):
                    observed = f"{life.member} registered in {MIGRATING}"
                    expected = "a member without migration is in ids alone"
                    rows.violated(_NO_EKC, timed_violation(history, expected, observed, transaction.at_ns, EVIDENCE))
    return rows.verdict(f"{counted(count, 'registration')} of members as their kind", "no member registered")


def _judge_migrating(history: History, rows: ByRequirement, life: Life, transaction: Transaction) -> None:
    other = _migrating_entry(history, life, transaction)
    for row in (_BOTH, _EPHEMERAL, _TOGETHER):
        rows.looked_at(row)

    def violated(row: str, expected: str, observed: str) -> None:
        rows.violated(row, timed_violation(history, expected, observed, transaction.at_ns, EVIDENCE))

    if other is None:
        violated(_BOTH, f"{life.member} registers in {MIGRATING}, too", f"it registered in {IDS} alone")
        return
    paths = {f"{IDS}/{life.consumer_id}", f"{MIGRATING}/{life.consumer_id}"}
    created = [write for each in (transaction, other) for write in each.writes if write.path in paths]
    if not all(write.is_ephemeral for write in created) or transaction.session != other.session:
        sessions = f"sessions {transaction.session:#x} and {other.session:#x}"
        kinds = ", ".join("ephemeral" if write.is_ephemeral else "persistent" for write in created)
        violated(_EPHEMERAL, f"both entries of {life.member} go with one session", f"they are {kinds}, of {sessions}")
    if other.zxid > transaction.zxid:
        violated(_TOGETHER, f"{life.member} is never in {IDS} alone", f"it was in {MIGRATING} only later")


def _migrating_entry(history: History, life: Life, registered: Transaction) -> Transaction | None:
    """The entry among those that migrate that belongs to one registration: of its session, or the nearest before it."""
    found = _written(history, "create", f"{MIGRATING}/{life.consumer_id}")
    own = [each for each in found if each.session == registered.session]
    before = [each for each in found if each.zxid <= registered.zxid]
    return next(iter(own or before[-1:]), None)


def _written(history: History, operation: str, path: str) -> list[Transaction]:
    return [each for each, write in group_writes(history) if (write.operation, write.path) == (operation, path)]


@checker(_LEAVING, in_every_run=has_writes, needs=_NEEDS)
def members_deregister_together(history: History) -> Verdict:
    """A member that leaves by itself leaves ``ids`` no later than the directory of those that migrate, each time."""
    rows = ByRequirement(_LEAVING)
    count = 0
    for life in (each for each in lives(history).values() if each.is_migrating):
        left = _written(history, "delete", f"{IDS}/{life.consumer_id}")
        for migrating in _written(history, "delete", f"{MIGRATING}/{life.consumer_id}"):
            count += 1
            rows.looked_at(_LEAVING)
            mine = [each for each in left if each.session == migrating.session]
            if not mine or mine[0].zxid > migrating.zxid:
                expected = f"{life.member} leaves {IDS} no later than {MIGRATING}"
                observed = "it left it later" if mine else "it never did"
                rows.violated(_LEAVING, timed_violation(history, expected, observed, migrating.at_ns, EVIDENCE))
    text = f"both directories left together {counted(count, 'time')}"
    return rows.verdict(text, "no member with migration left by itself")


@checker(_PAYLOAD, in_every_run=has_writes, needs=_NEEDS)
def ids_payload_is_version_1(history: History) -> Verdict:
    """Each entry in ``ids`` is JSON of version 1 with subscription, pattern and timestamp, and nothing else."""
    rows = ByRequirement(_PAYLOAD)
    count = 0
    for each, write in group_writes(history):
        if write.operation != "create" or not write.path.startswith(f"{IDS}/"):
            continue
        count += 1
        rows.looked_at(_PAYLOAD)
        if wrong := _wrong_payload(write.data or ""):
            expected = f"{write.path} holds what members of older builds read"
            rows.violated(_PAYLOAD, timed_violation(history, expected, wrong, each.at_ns, EVIDENCE))
    return rows.verdict(f"{counted(count, 'entry', 'entries')} in ids, each of version 1", "no member registered")


def _wrong_payload(text: str) -> str:
    try:
        data = json.loads(text)
    except ValueError:
        return f"it holds no JSON: {text[:80]!r}"
    wanted = {"version", "subscription", "pattern", "timestamp"}
    if not isinstance(data, dict) or data.keys() != wanted:
        return f"its keys are {sorted(data) if isinstance(data, dict) else data}"
    is_valid = (
        data["version"] == 1
        and data["pattern"] in _PATTERNS
        and str(data["timestamp"]).isdigit()
        and isinstance(data["subscription"], dict)
        and all(isinstance(streams, int) for streams in data["subscription"].values())
    )
    return "" if is_valid else f"it holds {text[:120]}"
