"""Checks of the mode: all members follow what the group's state demands, and what they follow is what they read by."""

from collections import defaultdict

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.ownership import Partition, client_of, happened_ns, partitions_of
from pytest_kmigrate.checkers.evidence.spans import owned_at, spans
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_125.evidence.assignments import assigned_at, assigned_by_kafka, assigned_by_range
from pytest_kmigrate.documents.kip_125.evidence.cuts import cut_at
from pytest_kmigrate.documents.kip_125.evidence.lives import Life, has_members, horizon_ns, lives
from pytest_kmigrate.documents.kip_125.evidence.modes import (
    AGREED_NS,
    KAFKA,
    ZOOKEEPER,
    Change,
    changes,
    may_follow,
    modes_at,
)
from pytest_kmigrate.documents.kip_125.evidence.outages import stood_still
from pytest_kmigrate.documents.kip_125.kinds import NAME
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.events.members import (
    MemberAssigned,
    MemberEnded,
    MemberMode,
    MemberOwns,
    MemberPaused,
    MemberReleased,
    MemberStarted,
    ZnodeWritten,
)
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind
from pytest_kmigrate.model.verdict import Kind, Verdict

_BY_CHANGE = {
    "created": "K125-MODE-watch-create",
    "changed": "K125-MODE-watch-change",
    "deleted": "K125-MODE-watch-delete",
    "unknown": "K125-MODE-unknown-is-zk",
    "older-joined": "K125-MODE-fallback-on-join",
    "older-left": "K125-MODE-resume-on-leave",
    "older-died": "K125-MODE-resume-on-leave",
}
_OLDER = "K125-MODE-nonmezkcc-forces-zk"
_REPEATED, _RAW = "K125-MODE-dynamic-repeat", "K125-MODE-raw-zk-write-suffices"
_MISSED = "K125-MODE-missed-notification"
_WRITTEN = ("created", "changed", "deleted")
"""By the harness, which does nothing else to members."""
_MANY = 10
_KAFKA, _ABSENT = "K125-MODE-kafka", "K125-MODE-absent-is-zk"
_ROWS = (*dict.fromkeys(_BY_CHANGE.values()), _OLDER, _REPEATED, _RAW, _MISSED, _KAFKA, _ABSENT)
_WITHIN_S = AGREED_NS / 1e9


@checker(*_ROWS, in_every_run=has_members)
def mode_agreed_within(history: History, at_most_s: float = _WITHIN_S) -> Verdict:
    """Every member with migration follows each change of the mode within ``at_most_s``.

    Kafka is to be followed only if the mode node holds exactly ``kafka`` and no older member is registered. A change
    that is followed by the next one sooner is judged only if all had agreed by then. Between two changes no member
    that follows the new mode goes back to the other one, however shortly. Members of other groups than the one under
    test are left out.
    """
    rows = ByRequirement(*_ROWS)
    # Of other groups a test may have members, too; their mode nodes are not watched.
    known = {client: each for client, each in lives(history).items() if each.group == NAME}
    found = changes(history)
    slowest, judged = 0, 0
    for change in found:
        late = _late(history, known, change, at_most_s)
        if late is None:
            continue
        judged += 1
        slowest = max(slowest, late[1])
        for row in _rows_of(change, found):
            rows.looked_at(row)
            if late[0]:
                expected = (
                    f"every member follows {change.must_be} within {at_most_s:g} s after the mode was {change.what}"
                )
                observed, awaited = f"{', '.join(late[0])} did not", (change.at_ns, change.at_ns + int(at_most_s * 1e9))
                violation = timed_violation(history, expected, observed, change.at_ns, awaited=awaited)
                rows.violated(row, violation, Kind.LIVENESS)
    _missed(history, rows, known, found, at_most_s)
    _strays(history, rows, known, found)
    text = f"{counted(judged, 'change')} of the mode followed by all, the slowest within {span(slowest)}"
    return rows.verdict(text, "the mode never changed while members could follow it", slowest_s=slowest / 1e9)


def _missed(
    history: History, rows: ByRequirement, known: dict[int, Life], found: list[Change], at_most_s: float
) -> None:
    """A member that was cut off ZooKeeper when the mode changed follows it when it is healed."""
    for change in found:
        for life in known.values():
            cut = cut_at(history, life.member, change.at_ns) if life.is_migrating else None
            if cut is None:
                continue
            looked_ns = min(cut.healed_ns + int(at_most_s * 1e9), change.until_ns)
            if looked_ns < cut.healed_ns or not life.began_ns < change.at_ns < looked_ns < life.ended_ns:
                continue
            rows.looked_at(_MISSED)
            if modes_at(history, looked_ns).get(life.client) != change.must_be:
                expected = f"{life.member} follows {change.must_be} within {at_most_s:g} s after its link is healed"
                rows.violated(_MISSED, timed_violation(history, expected, "it did not", looked_ns), Kind.LIVENESS)


def _strays(history: History, rows: ByRequirement, known: dict[int, Life], found: list[Change]) -> None:
    """Each report of a mode that neither the node nor the members registered then allow."""
    for event in history.of(MemberMode):
        life, at_ns, mode = known.get(client_of(event)), happened_ns(event), event.what.mode
        is_asked = life is not None and life.is_migrating and at_ns <= min(life.left_ns, horizon_ns(history))
        if life is None or not is_asked or mode in may_follow(history, life, at_ns):
            continue
        before = [each for each in found if each.at_ns <= at_ns][-1:]
        must_be = before[0].must_be if before else ZOOKEEPER
        for row in (*_rows_of(before[0], found), _KAFKA if must_be == KAFKA else _ABSENT) if before else (_ABSENT,):
            expected = f"{life.member} follows {must_be} as long as nothing about the mode changes"
            rows.violated(row, timed_violation(history, expected, f"it followed {mode}", at_ns))


def _rows_of(change: Change, found: list[Change]) -> list[str]:
    rows = [_BY_CHANGE[change.what]] if change.what in _BY_CHANGE else []
    if change.what in _WRITTEN:
        rows.append(_RAW)
    if change.what == "older-joined" and not any(each.must_be == KAFKA for each in found if each.at_ns < change.at_ns):
        rows = []  # nothing to fall back from
    if change.what == "older-joined" or (change.what in ("created", "changed") and _is_forced(change, found)):
        rows.append(_OLDER)
    return [*rows, _REPEATED] if len([each for each in found if each.what == "changed"]) >= _MANY else rows


def _is_forced(change: Change, found: list[Change]) -> bool:
    """Whether an older member keeps the group with ZooKeeper at this change."""
    before = [each.what for each in found if each.at_ns <= change.at_ns]
    return before.count("older-joined") > before.count("older-left") + before.count("older-died")


def _late(history: History, known: dict[int, Life], change: Change, at_most_s: float) -> tuple[list[str], int] | None:
    """The members that did not follow in time, and how long the slowest took; None: nothing can be said."""
    limit_ns = change.at_ns + int(at_most_s * 1e9)
    looked_ns = min(limit_ns, change.until_ns)
    members = [
        each
        for each in known.values()
        if each.is_migrating
        and each.began_ns < change.at_ns
        and each.ended_ns > looked_ns
        and not stood_still(history, each.member, change.at_ns, looked_ns)
        and cut_at(history, each.member, change.at_ns) is None
    ]
    modes = modes_at(history, looked_ns)
    late = [each.member for each in members if modes.get(each.client) != change.must_be]
    if not members or (late and looked_ns < limit_ns):
        return None
    events = [
        happened_ns(event) - change.at_ns
        for event in history.of(MemberMode)
        if change.at_ns < happened_ns(event) <= looked_ns and event.what.mode == change.must_be
    ]
    return late, max(events, default=0)


_ACTIVE, _LISTENER = "K125-MET-active-one", "K125-MEM-rebalance-listener"
_SETTLED_S = 1.0
_READ_NS = 500_000_000
_LEAVES_WITHIN_S = 5.0
"""From its first release to its end, for a member that was asked to leave; on a busy machine, too."""


@checker(_KAFKA, _ABSENT, _ACTIVE, _LISTENER, in_every_run=has_members)
def consumption_follows_the_chosen_system(history: History) -> Verdict:
    """Members own what the system in force assigns: Kafka's coordinator, or ``range`` over the ids in ZooKeeper.

    Looked at just before each change of the mode, and before the members end, if membership was quiet for a second; not
    where a member is leaving, for it and the others act on that before its end is recorded; and not where a member is
    cut off ZooKeeper and should follow it, as its session may end before it knows. No other member reads a partition in
    the half second before. Whether partitions are claimed by Kafka's word only is judged at each claim.
    """
    rows = ByRequirement(_KAFKA, _ABSENT, _ACTIVE, _LISTENER)
    found, known = changes(history), lives(history)
    left = {each.at_ns for each in found if each.what in ("older-left", "older-died")}
    instants = [(each.until_ns, each.must_be) for each in found if each.until_ns not in left]
    if first := [each.at_ns for each in found[:1]]:
        instants.insert(0, (first[0], ZOOKEEPER))
    looked = 0
    for at_ns, mode in instants:
        alive = [each for each in known.values() if each.began_ns <= at_ns < each.ended_ns]
        if not alive or not _is_quiet(history, at_ns) or _is_unaware(history, alive, at_ns, mode, found):
            continue
        wanted = assigned_by_kafka(history, alive, at_ns) if mode == KAFKA else assigned_by_range(history, alive, at_ns)
        if wanted is None:
            continue
        looked += 1
        owned = {each: min(those) for each, those in owned_at(spans(history), at_ns).items() if those}
        readers = _readers(history, at_ns)
        wrong = sorted(
            each for each in wanted if owned.get(each) != wanted[each] or readers.get(each, set()) - {wanted[each]}
        )
        for row in (_KAFKA, _ACTIVE) if mode == KAFKA else (_ABSENT,):
            rows.looked_at(row)
            if wrong:
                expected = f"members own and read what {mode} assigns"
                observed = f"{counted(len(wrong), 'partition')} owned or read otherwise, such as {wrong[0]}"
                rows.violated(row, timed_violation(history, expected, observed, at_ns))
    _claims(history, rows)
    return rows.verdict(f"{counted(looked, 'quiet moment')} at which members own what is assigned", "never quiet")


def _readers(history: History, at_ns: int) -> dict[Partition, set[int]]:
    """By partition, the members that read it just before an instant."""
    reads = history.operations.of(OperationKind.CONSUME)
    last = reads.where((reads.ended_ns > at_ns - _READ_NS) & (reads.ended_ns <= at_ns))
    found: dict[Partition, set[int]] = defaultdict(set)
    for row in range(len(last)):
        if int(last.client[row]) in lives(history):
            found[str(last.topic[row]), int(last.partition[row])].add(int(last.client[row]))
    return found


def _is_quiet(history: History, at_ns: int) -> bool:
    since_ns = at_ns - int(_SETTLED_S * 1e9)
    paused = history.of(MemberPaused)
    written = any(since_ns <= event.at_ns < at_ns for event in history.of(ZnodeWritten))
    if paused or written or _is_leaving(history, since_ns, at_ns):
        return False
    changes = [*history.of(MemberAssigned, MemberStarted, MemberEnded), *history.of(MemberMode)]
    return not any(since_ns <= happened_ns(event) <= at_ns for event in changes)


def _is_unaware(history: History, alive: list[Life], at_ns: int, mode: str, found: list[Change]) -> bool:
    """Whether a member is cut off ZooKeeper, and owners come from there or the mode changed since then."""
    cuts = [cut for each in alive if (cut := cut_at(history, each.member, at_ns)) is not None]
    return any(mode == ZOOKEEPER or any(cut.began_ns <= each.at_ns < at_ns for each in found) for cut in cuts)


def _is_leaving(history: History, since_ns: int, at_ns: int) -> bool:
    """Whether a member gave something up by then and ended soon after, as it was asked to."""
    released = history.of(MemberReleased)
    giving_up = {client_of(event) for event in released if since_ns <= happened_ns(event) <= at_ns}
    until_ns = at_ns + int(_LEAVES_WITHIN_S * 1e9)
    return any(
        event.what.how == "stopped" and client_of(event) in giving_up and at_ns < happened_ns(event) <= until_ns
        for event in history.of(MemberEnded)
    )


def _claims(history: History, rows: ByRequirement) -> None:
    """Each partition that a member with migration claims by Kafka's word is in its assignment then."""
    migrating = {each.client for each in lives(history).values() if each.is_migrating}
    for event in history.of(MemberOwns):
        if event.what.source != KAFKA or client_of(event) not in migrating:
            continue
        rows.looked_at(_LISTENER)
        at_ns = happened_ns(event)
        assigned = assigned_at(history, client_of(event), at_ns)
        taken = set(partitions_of(event)) - (assigned or set())
        if assigned is not None and taken:
            expected = "a member claims by Kafka's word what its embedded consumer is assigned"
            observed = f"client {client_of(event)} claimed {sorted(taken)}"
            rows.violated(_LISTENER, timed_violation(history, expected, observed, at_ns))
