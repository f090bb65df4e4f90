"""Checks that every partition has an owner again within a bound, and that no owner is interrupted without need."""

import math
from itertools import pairwise

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.grouping import place
from pytest_kmigrate.checkers.evidence.ownership import client_of, happened_ns
from pytest_kmigrate.checkers.evidence.spans import Span, owned_at, spans
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_125.evidence.cuts import link_faults
from pytest_kmigrate.documents.kip_125.evidence.gaps import Cause, cause_of, causes, gaps
from pytest_kmigrate.documents.kip_125.evidence.lives import has_members, horizon_ns, lives
from pytest_kmigrate.documents.kip_125.evidence.modes import Change, changes, took_the_former
from pytest_kmigrate.documents.kip_125.kinds import SESSION_S
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.events.members import MemberAssigned
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict

_COVERAGE = "K125-OWN-full-coverage"
_TOGGLE = "K125-AVL-no-downtime-toggle"
_SAME = "K125-MODE-same-value-noop"
_EVEN = "K125-OWN-even-canary-mezkcc"
_EVEN_NEW = "K125-OWN-even-canary-kc"
_SOON_NS = 2_000_000_000
_BACKOFF_S = 2.0
"""``rebalance.backoff.ms`` of a consumer of ZooKeeper that misses a claim."""


@checker(_COVERAGE)
def every_partition_owned_within(history: History, at_most_s: float | None = None) -> Verdict:
    """After its first owner, every partition has an owner again within ``at_most_s``, until the members end.

    The bound is the test's: a toggle moves partitions within a second, a crash leaves them alone for a session. Without
    one this only measures.
    """
    rows = ByRequirement(_COVERAGE)
    limit_s = math.inf if at_most_s is None else at_most_s
    rows.looked_at(_COVERAGE, len(spans(history)) if at_most_s is not None else 0)
    longest = 0
    for gap in gaps(history):
        gap_ns = gap.ended_ns - gap.began_ns
        longest = max(longest, gap_ns)
        if gap_ns > limit_s * 1e9:
            expected = f"{place(*gap.partition)} has an owner again within {limit_s:g} s"
            awaited = (gap.began_ns, gap.ended_ns)
            observed = f"it had none for {span(gap_ns)}"
            violation = timed_violation(history, expected, observed, gap.began_ns, awaited=awaited)
            rows.violated(_COVERAGE, violation, Kind.LIVENESS)
    text = f"the longest time without an owner was {span(longest)}"
    lacking = "no partition ever had an owner, or no bound was given"
    return rows.verdict(text, lacking, longest_s=longest / 1e9).about_each(())


@checker(_COVERAGE, _TOGGLE)
def pauses_are_bounded(
    history: History,
    after_toggle_s: float = 1.0,
    after_join_s: float = 1.0 + _BACKOFF_S,
    after_fault_s: float = SESSION_S + 1.5 + _BACKOFF_S,
) -> Verdict:
    """A partition has an owner again within a bound that depends on what happened to the group.

    A toggle, a member that joined or left in order, a fault: what happens together is judged by the longest bound of
    it. After a fault a session ends, which ZooKeeper notices at its next tick; a member that wanted the partition
    before may have missed the claim, and waits. A partition whose owner stands still has none.
    """
    rows = ByRequirement(_COVERAGE, _TOGGLE)
    limits = {Cause.TOGGLE: after_toggle_s, Cause.JOIN: after_join_s, Cause.FAULT: after_fault_s}
    longest, known = dict.fromkeys(Cause, 0), causes(history)
    rows.looked_at(_COVERAGE, len(spans(history)))
    for gap in gaps(history, may_stand_still=False):
        cause, gap_ns = cause_of(gap, known), gap.ended_ns - gap.began_ns
        longest[cause] = max(longest[cause], gap_ns)
        row = _TOGGLE if cause is Cause.TOGGLE else _COVERAGE
        rows.looked_at(row)
        if gap_ns > limits[cause] * 1e9:
            word = cause.name.lower()
            expected = f"{place(*gap.partition)} has an owner again {limits[cause]:g} s after a {word}"
            awaited = (gap.began_ns, gap.ended_ns)
            observed = f"it had none for {span(gap_ns)}"
            violation = timed_violation(history, expected, observed, gap.began_ns, awaited=awaited)
            rows.violated(row, violation, Kind.LIVENESS)
    shown = ", ".join(f"{span(gap_ns)} at a {cause.name.lower()}" for cause, gap_ns in longest.items() if gap_ns)
    facts = {f"{cause.name.lower()}_s": gap_ns / 1e9 for cause, gap_ns in longest.items()}
    text = f"the longest times without an owner were {shown or 'none'}"
    return rows.verdict(text, "no partition ever had an owner", **facts)


@checker(_TOGGLE, _SAME, in_every_run=has_members)
def no_needless_release(history: History) -> Verdict:
    """A change of the mode interrupts only partitions that change their owner; the same value again interrupts none.

    A release counts to the last change before it, but for a member that took the former one on its way: of writes in
    quick succession it reads an earlier one first, and goes there and back. The partition may have had another owner
    in between if another change, or a decision of Kafka's coordinator for the member, lies between the release and the
    member's next span. While a member is cut off ZooKeeper its session may end, and what it was given goes back. Plain
    KafkaConsumers know no mode.
    """
    rows = ByRequirement(_TOGGLE, _SAME)
    found, members = spans(history), lives(history)
    known = [each for each in changes(history) if each.what in ("created", "changed", "deleted", "same")]
    moved = 0
    for change in known:
        row = _SAME if change.what == "same" else _TOGGLE
        owned = [client for those in owned_at(found, change.at_ns).values() for client in those]
        rows.looked_at(row, int(any(members[each].is_migrating for each in owned)))
        for those in found.values():
            for before, after in pairwise(those):
                if not change.at_ns <= before.ended_ns <= min(change.until_ns, change.at_ns + _SOON_NS):
                    continue
                moved += 1
                is_its_own = before.client == after.client and members[before.client].is_migrating
                if is_its_own and not _has_a_reason(history, before, after, change):
                    expected = f"{place(*before.partition)} is not released at a change of the mode that leaves it"
                    observed = f"client {before.client} released it and owned it again after the mode was {change.what}"
                    rows.violated(row, timed_violation(history, expected, observed, before.ended_ns))
    text = f"{counted(moved, 'partition')} released at {counted(len(known), 'change')} of the mode, none without need"
    return rows.verdict(
        text, "the mode was never written while a member that follows it owned a partition", moved=moved
    )


def _has_a_reason(history: History, before: Span, after: Span, change: Change) -> bool:
    decided = [
        event
        for event in history.of(MemberAssigned)
        if client_of(event) == before.client and before.ended_ns - _SOON_NS <= happened_ns(event) <= after.began_ns
    ]
    was_cut = any(
        each.effect == "cut" and each.began_ns < after.began_ns and before.ended_ns < each.healed_ns + _SOON_NS
        for each in link_faults(history)
    )
    is_over = after.began_ns > change.until_ns
    return bool(decided) or is_over or was_cut or took_the_former(history, before.client, change, before.ended_ns)


@checker(_EVEN, _EVEN_NEW)
def owners_are_even(history: History) -> Verdict:
    """Before the members end, each owns as many partitions of each topic as any other, or one more or less."""
    rows = ByRequirement(_EVEN, _EVEN_NEW)
    end_ns = horizon_ns(history)
    alive = [each for each in lives(history).values() if each.began_ns <= end_ns < each.ended_ns]
    owned = owned_at(spans(history), end_ns)
    kinds = [each.kind for each in alive]
    row = _EVEN_NEW if any(not each.is_of_zookeeper for each in alive) else _EVEN
    shares = {}
    for topic in sorted({topic for topic, _ in owned}) if len(set(kinds)) > 1 else ():
        of_topic = [those for (name, _), those in owned.items() if name == topic]
        counts = {each.member: sum(each.client in those for those in of_topic) for each in alive}
        shares[topic] = counts
        rows.looked_at(row)
        if max(counts.values()) - min(counts.values()) > 1:
            expected = f"members own equally many partitions of {topic}, or one more"
            rows.violated(row, timed_violation(history, expected, f"they own {counts}", end_ns))
    return rows.verdict(f"members own {shares}", "the group has not members of several kinds at its end", owned=shares)
