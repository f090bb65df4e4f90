"""Check that clients get the same metadata from every broker, whatever its mode, and no broker that has gone."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import span
from pytest_kmigrate.documents.kip_866.checks.clients.answers import (
    EVIDENCE,
    GONE_NS,
    Answer,
    answers,
    has_answers,
    has_served,
)
from pytest_kmigrate.documents.kip_866.checks.clients.pairs import BROKERS, Pair
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict

_SAME, _CONSISTENT = "K866-FWD-same-metadata", "K866-TEST-broker-consistency"
_EXPECTED = "both brokers report the same {}"
SAME_TOPIC = re.compile(_EXPECTED.format(r"topic (\S+)"))
"""How a violation begins that is about a topic, with its name."""
_BOUND_NS = 10_000_000_000
"""How long two brokers may report different metadata. KIP-866 names no bound; this one is the suite's."""


@checker(
    _SAME,
    _CONSISTENT,
    in_every_run=has_answers,
    anomaly="brokers report different metadata",
    needs=[Capability.REQUESTS],
)
def clients_are_told_the_same(history: History) -> Verdict:
    """While a KRaft controller is in charge, two brokers do not report different metadata for more than 10 s.

    Compared are the list of brokers, and each topic with its id, leaders, replicas and in-sync replicas. A broker that
    has been away for 15 s is listed by none. Judged where controllers, ZooKeeper and the network are undisturbed.
    Brokers of different modes speak for K866-TEST-broker-consistency, too.
    """
    rows = ByRequirement(_SAME, _CONSISTENT)
    calm = [each for each in answers(history) if each.is_calm]
    pairs = list(combinations(sorted({each.content.node for each in calm}), 2))
    longest_ns = max((_judge_pair(history, rows, pair, calm) for pair in pairs), default=0)
    _judge_gone(history, rows, calm)
    text = f"brokers reported the same metadata after {span(longest_ns)} at most"
    lacking = "no two brokers answered for long enough after a change while a KRaft controller was in charge"
    return rows.verdict(text, lacking, longest_difference_s=round(longest_ns / 1e9, 1))


def _judge_pair(history: History, rows: ByRequirement, nodes: Sequence[str], calm: Sequence[Answer]) -> int:
    pair = Pair(_BOUND_NS)
    for each in calm:
        if each.content.node in nodes:
            pair.add(each)
            if pair.both is not None:
                _judge_both(history, rows, pair, *pair.both)
    return pair.longest_ns


def _judge_both(history: History, rows: ByRequirement, pair: Pair, first: Answer, second: Answer) -> None:
    now_ns = max(first.at_ns, second.at_ns)
    ids = (_SAME,) if first.broker.mode == second.broker.mode else (_SAME, _CONSISTENT)
    ripe = pair.ripe_changes(now_ns)
    for each in ids:
        rows.looked_at(each, ripe)
    for key, lasted_ns in pair.overdue(now_ns):
        parts = _brokers(first, second) if key == BROKERS else _topic(key, first, second)
        observed = f"{'; '.join(parts)}, for {span(lasted_ns)}"
        expected, awaited = _EXPECTED.format(key), (now_ns - lasted_ns, now_ns)
        violation = timed_violation(history, expected, observed, now_ns, EVIDENCE, awaited=awaited)
        for each in ids:
            rows.violated(each, violation, Kind.LIVENESS)


def _brokers(first: Answer, second: Answer) -> Iterator[str]:
    for one, other in ((first, second), (second, first)):
        for broker_id in sorted(set(one.content.brokers) - set(other.content.brokers)):
            peer = one.brokers.get(broker_id)
            # One that is only just coming back was away while the answers differed.
            away = "" if peer is not None and has_served(peer, one.at_ns) else ", which is away,"
            yield f"{one} lists broker-{broker_id}{away} and {other} does not"


def _topic(key: str, first: Answer, second: Answer) -> Iterator[str]:
    name = key.removeprefix("topic ")
    one, other = (each.content.topics.get(name, "").split("; ") for each in (first, second))
    for answer, own, others in ((first, one, other), (second, other, one)):
        unlike = [each for each in own if each not in others]
        yield f"{answer} reports {'; '.join(unlike[:2]) or 'nothing more'}"


def _judge_gone(history: History, rows: ByRequirement, calm: Sequence[Answer]) -> None:
    """Two answers of one broker have to list the broker that is away."""
    listing, away = defaultdict[tuple[str, int, int], list[Answer]](list), Counter[tuple[str, int, int]]()
    for answer in calm:
        for broker_id, broker in answer.brokers.items():
            if broker.away_ns is None or answer.at_ns - broker.away_ns < GONE_NS:
                continue
            away[answer.content.node, broker_id, broker.away_ns] += 1
            if broker_id in answer.content.brokers:
                listing[answer.content.node, broker_id, broker.away_ns].append(answer)
    rows.looked_at(_SAME, sum(count for count in away.values() if count > 1))
    for (_, broker_id, away_ns), found in listing.items():
        if len(found) > 1:
            last_ns = found[-1].at_ns
            observed = f"{found[-1]} lists broker-{broker_id}, which is away, for {span(last_ns - away_ns)}"
            expected, awaited = "clients get no broker that is away", (away_ns, last_ns)
            violation = timed_violation(history, expected, observed, last_ns, EVIDENCE, awaited=awaited)
            rows.violated(_SAME, violation, Kind.LIVENESS)
