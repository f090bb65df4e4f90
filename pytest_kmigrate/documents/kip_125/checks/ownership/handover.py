"""Check that what Kafka's coordinator takes from a member is released before a plain KafkaConsumer begins to own it."""

from collections.abc import Iterator

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.grouping import place
from pytest_kmigrate.checkers.evidence.ownership import client_of, happened_ns, partitions_of
from pytest_kmigrate.checkers.evidence.spans import Span, spans
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_125.evidence.lives import Life, lives
from pytest_kmigrate.documents.kip_125.evidence.modes import KAFKA, modes_at
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.events.members import MemberAssigned, MemberPaused
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_ROLL, _LISTENER = "K125-OWN-kc-roll", "K125-MEM-rebalance-listener"


def _goes_over(history: History) -> bool:
    known = lives(history).values()
    return any(each.is_migrating for each in known) and any(not each.is_of_zookeeper for each in known)


@checker(_ROLL, _LISTENER, in_every_run=_goes_over)
def plain_consumers_wait_for_releases(history: History) -> Verdict:
    """Kafka's group goes on only when a member has released what is taken from it, so that no two own a partition.

    Judged where a member in Kafka mode reported that a partition was taken from it, and a plain KafkaConsumer, which
    looks at no owner node, owned it next. A member that was evicted, or ended without an order, is not asked.
    """
    rows = ByRequirement(_ROLL, _LISTENER)
    known = lives(history)
    count = 0
    for before, after in _handovers(history, known):
        count += 1
        early_ns = before.ended_ns - after.began_ns
        for row in (_ROLL, _LISTENER):
            rows.looked_at(row)
            if early_ns > 0:
                names = known[before.client].member, known[after.client].member
                expected = f"{names[0]} has released {place(*before.partition)} before {names[1]} owns it"
                observed = f"it released it {span(early_ns)} later"
                rows.violated(row, timed_violation(history, expected, observed, after.began_ns))
    text = f"{counted(count, 'partition')} released before a plain consumer owned it"
    return rows.verdict(text, "Kafka's coordinator gave no partition of a member to a plain consumer")


def _handovers(history: History, known: dict[int, Life]) -> Iterator[tuple[Span, Span]]:
    """Spans of members with migration that Kafka took away, each with the one of the plain consumer that came next."""
    for those in spans(history).values():
        for after in (each for each in those if not known[each.client].is_of_zookeeper):
            earlier = [each for each in those if each.began_ns < after.began_ns]
            if earlier and _is_taken(history, known[earlier[-1].client], earlier[-1], after.began_ns):
                yield earlier[-1], after


def _is_taken(history: History, life: Life, before: Span, at_ns: int) -> bool:
    """Whether a member was asked to release a partition: it may report that later than the next owner began."""
    if not (life.is_migrating and before.is_orderly and modes_at(history, at_ns).get(life.client) == KAFKA):
        return False
    mine = [event for event in history.of(MemberAssigned) if client_of(event) == life.client]
    decided = [event for event in mine if before.began_ns < happened_ns(event) <= before.ended_ns]
    paused = [event for event in history.of(MemberPaused) if event.what.member == life.member]
    stood_still = any(before.began_ns < event.at_ns <= before.ended_ns for event in paused)
    if not decided or stood_still or any(event.what.what == "lost" for event in decided):
        return False
    return decided[-1].what.what == "revoked" or before.partition not in partitions_of(decided[-1])
