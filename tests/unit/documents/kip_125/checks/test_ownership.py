"""Checks of who reads what, each with a group that conforms and one with a planted defect."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_125.checks.ownership.coverage import (
    every_partition_owned_within,
    no_needless_release,
    owners_are_even,
    pauses_are_bounded,
)
from pytest_kmigrate.documents.kip_125.checks.ownership.handover import plain_consumers_wait_for_releases
from pytest_kmigrate.documents.kip_125.checks.ownership.one_owner import naive_mix_is_detected, one_owner_at_a_time
from pytest_kmigrate.documents.kip_125.kinds import NEW, WITHOUT
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import MS, event, history
from tests.unit.documents.kip_125.groups import (
    assigned,
    ended,
    follows,
    member,
    owns,
    paused,
    read,
    released,
    worked_until,
    wrote,
)

HANDED_OVER = [member(1), member(2), owns(1, 10, 0), released(1, 100, 0), owns(2, 150, 0)]


def killed(again_ms: int) -> list[Event]:
    """A member is killed, and another owns its partition at this time."""
    return [member(1), member(2), owns(1, 10, 0), ended(1, 1000, "killed"), owns(2, again_ms, 0), worked_until(9000)]


def test_a_handover_has_one_reader_at_a_time() -> None:
    """The second member reads after the first one's last record."""
    rows = [*read(1, 50, 1), *read(1, 90, 2), *read(2, 160, 3), *read(2, 200, 4)]
    verdict = one_owner_at_a_time.judge(history(rows, HANDED_OVER))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.facts["spans"] == 2


def test_a_former_owner_that_reads_on_is_seen() -> None:
    """As a member does that stood still and does not know that its time is over, though its claim is gone."""
    rows = [*read(1, 50, 1), *read(2, 160, 3), *read(1, 170, 2, 3), *read(2, 200, 4)]
    verdict = one_owner_at_a_time.judge(history(rows, HANDED_OVER))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.SAFETY)
    assert "MEZKCC-1 read 2 records of it, from offset 2 on" in verdict.violations[0].observed


def test_without_a_handover_nothing_could_overlap() -> None:
    """One member alone proves nothing."""
    verdict = one_owner_at_a_time.judge(history(read(1, 50, 1), [member(1), owns(1, 10, 0)]))
    assert verdict.is_vacuous


def test_a_partition_is_owned_again_in_time() -> None:
    """The time without an owner is measured from the end of the process, and to the end of the work."""
    assert every_partition_owned_within.judge(history(events=killed(4000)), at_most_s=4).outcome is Outcome.CONFORMS
    late = every_partition_owned_within.judge(history(events=killed(6000)), at_most_s=4)
    assert (late.outcome, late.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    never = every_partition_owned_within.judge(history(events=[*killed(4000)[:4], worked_until(9000)]), at_most_s=4)
    assert never.outcome is Outcome.VIOLATES


BOUNDS = {"after_toggle_s": 1, "after_join_s": 3, "after_fault_s": 5}
TWO = [member(1), member(2), owns(1, 10, 0), owns(2, 10, 1)]
GOES_ON = event(EventKind.MEMBER_RESUMED, 9000, member="MEZKCC-1")


@pytest.mark.parametrize(
    ("what", "gap_ms", "rows"),
    [
        ([], 500, []),
        ([], 1500, ["K125-AVL-no-downtime-toggle"]),
        ([wrote(9990, "kafka")], 500, []),
        ([wrote(9990, "kafka")], 1500, ["K125-AVL-no-downtime-toggle"]),
        ([member(3, at_ms=9990)], 1500, []),
        ([member(3, at_ms=9990)], 3500, ["K125-OWN-full-coverage"]),
        ([ended(1, 10_100)], 1500, []),
        ([wrote(9990, "kafka"), ended(1, 10_000, "killed")], 4500, []),
        ([ended(1, 10_000, "killed")], 5500, ["K125-OWN-full-coverage"]),
        ([ended(1, 5000, "killed")], 1500, ["K125-AVL-no-downtime-toggle"]),  # over long ago
    ],
)
def test_a_pause_is_bounded_by_what_happened(what: list[Event], gap_ms: int, rows: list[str]) -> None:
    """A toggle, a join or a fault; of several that happen together the longest bound counts."""
    events = [*TWO, *what, released(1, 10_000, 0), owns(2, 10_000 + gap_ms, 0), worked_until(20_000)]
    verdict = pauses_are_bounded.judge(history(events=events), **BOUNDS)
    assert [each.requirement for each in verdict.about if each.outcome is Outcome.VIOLATES] == rows


def test_a_claim_that_was_missed_is_waited_for_after_a_session_has_ended() -> None:
    """By the bounds that are counted on where no test gives its own."""
    for taken_ms, outcome in ((16_400, Outcome.CONFORMS), (16_600, Outcome.VIOLATES)):
        events = [*TWO, ended(1, 10_000, "killed"), owns(2, taken_ms, 0), worked_until(30_000)]
        assert pauses_are_bounded.judge(history(events=events)).outcome is outcome


def test_a_member_leaves_with_its_last_release() -> None:
    """Its process may end long after, on a machine that is busy."""
    events = [*TWO, released(1, 10_000, 0), owns(2, 11_500, 0), ended(1, 14_500), worked_until(20_000)]
    assert pauses_are_bounded.judge(history(events=events), **BOUNDS).outcome is Outcome.CONFORMS


def test_a_member_that_stands_still_owns_nothing() -> None:
    """Though it reports no release before it goes on; its time counts as one of a fault."""
    for taken_ms, outcome in ((7500, Outcome.CONFORMS), (8500, Outcome.VIOLATES)):
        fault = [event(EventKind.FAULT_APPLIED, 3000, fault_id="1"), paused(1, 3000), GOES_ON]
        events = [*TWO, *fault, owns(2, taken_ms, 0), released(1, 9100, 0), worked_until(20_000)]
        verdict = pauses_are_bounded.judge(history(events=events), **BOUNDS)
        assert verdict.outcome is outcome
        assert verdict.facts["fault_s"] == (taken_ms - 3000) / 1000
        assert every_partition_owned_within.judge(history(events=events), at_most_s=1).outcome is Outcome.CONFORMS


def toggled(again: int) -> list[Event]:
    """At a toggle, two members release a partition each; the second is owned by this one afterwards."""
    before = [member(1), member(2), owns(1, 10, 0), owns(2, 10, 1), assigned(1, 20, 0), wrote(9000, "kafka")]
    moved = [released(1, 9050, 0), owns(2, 9090, 0), released(2, 9050, 1), owns(again, 9100, 1)]
    return [*before, *moved, worked_until(20_000)]


def test_a_toggle_interrupts_only_what_moves() -> None:
    """A partition that its owner keeps must not be released; the time that it takes proves nothing."""
    assert no_needless_release.judge(history(events=toggled(again=1))).outcome is Outcome.CONFORMS
    needless = no_needless_release.judge(history(events=toggled(again=2)))
    assert needless.outcome is Outcome.VIOLATES
    assert [each.requirement for each in needless.about if each.outcome is Outcome.VIOLATES] == [
        "K125-AVL-no-downtime-toggle"
    ]


def test_a_decision_of_kafka_is_a_reason_though_its_line_was_read_late() -> None:
    """The member's own time counts; a folder without it has the time at which the line was read."""
    for own_ms, outcome in ((9060, Outcome.CONFORMS), (9500, Outcome.VIOLATES)):
        decided = assigned(2, own_ms, 1, read_ms=9500)
        events = [*toggled(again=2), decided]
        assert no_needless_release.judge(history(events=events)).outcome is outcome
    without = replace(decided, data={key: each for key, each in decided.data.items() if key != "member_ns"})
    for read_ms, outcome in ((9060, Outcome.CONFORMS), (9500, Outcome.VIOLATES)):
        events = [*toggled(again=2), replace(without, at_ns=read_ms * MS)]
        assert no_needless_release.judge(history(events=events)).outcome is outcome


def test_a_member_that_takes_the_former_of_two_quick_changes_goes_there_and_back() -> None:
    """It says which it took; one that took none, or one of long before, released without need."""
    for written_ms, took, outcome in (
        (8990, [follows(2, 9010, "zookeeper")], Outcome.CONFORMS),
        (8990, [follows(1, 9010, "zookeeper")], Outcome.VIOLATES),
        (8990, [follows(2, 9010, "kafka")], Outcome.VIOLATES),
        (6900, [follows(2, 9010, "zookeeper")], Outcome.VIOLATES),
        (8990, [follows(2, 9060, "zookeeper")], Outcome.VIOLATES),  # after it had released
        (8990, [], Outcome.VIOLATES),
    ):
        events = [wrote(5000, "kafka"), wrote(written_ms, "zookeeper"), *took, *toggled(again=2)]
        assert no_needless_release.judge(history(events=sorted(events, key=lambda each: each.at_ns))).outcome is outcome


def test_the_same_value_again_interrupts_nothing() -> None:
    """The second write of the same value is judged by itself."""
    events = [*toggled(again=1)[:-1], wrote(15_000, "kafka"), worked_until(20_000)]
    assert no_needless_release.judge(history(events=events)).outcome is Outcome.CONFORMS
    events += [released(1, 15_010, 1), owns(1, 15_020, 1)]
    verdict = no_needless_release.judge(history(events=events))
    assert [each.requirement for each in verdict.about if each.outcome is Outcome.VIOLATES] == [
        "K125-MODE-same-value-noop"
    ]


def test_a_canary_gets_its_share() -> None:
    """Counted just before the members end, for each mix of kinds by its own requirement."""
    even = [member(1), member(2, WITHOUT), owns(1, 10, 0, 1), owns(2, 10, 2), worked_until(100)]
    assert owners_are_even.judge(history(events=even)).outcome is Outcome.CONFORMS
    greedy = [member(1), member(2, NEW), owns(1, 10, 0, 1, 2), owns(2, 10, 3), worked_until(100)]
    verdict = owners_are_even.judge(history(events=greedy))
    assert [each.requirement for each in verdict.about if each.outcome is Outcome.VIOLATES] == [
        "K125-OWN-even-canary-kc"
    ]
    skewed = [owns(1, 10, 0, 1), owns(2, 10, 0, 1, topic="bills"), worked_until(100)]  # two each, by topic none
    verdict = owners_are_even.judge(history(events=[member(1), member(2, WITHOUT), *skewed]))
    assert verdict.outcome is Outcome.VIOLATES
    alike = [member(1), member(2), owns(1, 10, 0, 1, 2), owns(2, 10, 3), worked_until(100)]
    assert owners_are_even.judge(history(events=alike)).is_vacuous


def test_an_overlap_in_a_group_that_was_not_migrated_is_a_control() -> None:
    """Two readers of a naive mix violate nothing but the control, when they are not seen."""
    events = [member(1, WITHOUT), member(2, NEW), owns(1, 10, 0), owns(2, 20, 0)]
    both = [*read(1, 50, 1), *read(2, 60, 1), *read(1, 70, 2), *read(2, 80, 2)]
    assert one_owner_at_a_time.judge(history(both, events)).facts["unsupported"] == 2
    assert naive_mix_is_detected.judge(history(both, events)).outcome is Outcome.CONFORMS
    apart = [*read(1, 50, 1), *read(2, 160, 2)]
    assert naive_mix_is_detected.judge(history(apart, events)).outcome is Outcome.VIOLATES


def test_a_member_that_follows_kafka_shares_nothing_with_plain_consumers() -> None:
    """Only where the mode is ZooKeeper's is their overlap unsupported, whatever the member reports."""
    both = [*read(1, 9050, 1), *read(2, 9060, 1), *read(1, 9070, 2), *read(2, 9080, 2)]
    for mode, outcome in (("kafka", Outcome.VIOLATES), ("zookeeper", Outcome.CONFORMS)):
        for reported in ("kafka", "zookeeper"):
            group = [member(1), member(2, NEW), wrote(1, mode), follows(1, 2, mode), follows(1, 9000, reported)]
            events = [*group, owns(1, 9010, 0), owns(2, 9020, 0)]
            assert one_owner_at_a_time.judge(history(both, events)).outcome is outcome


TAKEN = [assigned(1, 900, 0, 1), assigned(1, 1000, 0, 1, what="revoked", read_ms=2000)]
ASSIGNED_ANEW = [*TAKEN, assigned(1, 1010, 1, read_ms=2000)]
REPORTED_LATE = [assigned(1, 900, 0, 1), assigned(1, 1090, 0, 1, what="revoked"), assigned(1, 1091, 1)]
EVICTED = [assigned(1, 900, 0), assigned(1, 1090, 0, what="lost")]
LOST = [*TAKEN, assigned(1, 1010, 0, 1, what="lost", read_ms=2000)]


@pytest.mark.parametrize(
    ("decided", "owned_ms", "mode", "outcome"),
    [
        (TAKEN, 1110, "kafka", Outcome.CONFORMS),
        (TAKEN, 1050, "kafka", Outcome.VIOLATES),
        (ASSIGNED_ANEW, 1050, "kafka", Outcome.VIOLATES),
        (REPORTED_LATE, 1050, "kafka", Outcome.VIOLATES),
        ([*REPORTED_LATE, paused(1, 950)], 1050, "kafka", Outcome.INCONCLUSIVE),
        (ASSIGNED_ANEW, 1050, "zookeeper", Outcome.INCONCLUSIVE),  # unsupported beside a plain consumer
        (EVICTED, 1050, "kafka", Outcome.INCONCLUSIVE),  # it is not asked
        (LOST, 1050, "kafka", Outcome.INCONCLUSIVE),
    ],
)
def test_a_plain_consumer_waits_until_a_member_has_released(
    decided: list[Event], owned_ms: int, mode: str, outcome: Outcome
) -> None:
    """A release that takes long keeps Kafka's group from going on."""
    group = [member(1), member(2, NEW), follows(1, 1, mode), owns(1, 10, 0)]
    events = [*group, *decided, released(1, 1100, 0), owns(2, owned_ms, 0)]
    verdict = plain_consumers_wait_for_releases.judge(history(events=events))
    assert verdict.outcome is outcome
    violated = [each.requirement for each in verdict.about if each.outcome is Outcome.VIOLATES]
    assert violated == (["K125-OWN-kc-roll", "K125-MEM-rebalance-listener"] if outcome is Outcome.VIOLATES else [])
