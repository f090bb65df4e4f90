"""Check that brokers in ZooKeeper mode list every broker, also those in KRaft mode."""

from collections.abc import Sequence

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import span
from pytest_kmigrate.documents.kip_866.checks.broker_modes import BrokerAt
from pytest_kmigrate.documents.kip_866.checks.clients.answers import (
    EVIDENCE,
    TAKEN_OVER_NS,
    Answer,
    answers,
    has_answers,
    named,
)
from pytest_kmigrate.documents.kip_866.checks.leading import is_led
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict

LISTS_NONE = "it lists none"
"""What is observed of a broker that was sent nothing since it was started: it lists not even itself."""
_ROW = "K866-REG-learn-peers-umr"
_LISTED_NS = 5_000_000_000
"""By then the controllers have informed every broker of one that is ready."""
_SENT_NS = 90_000_000_000
"""By then a controller that leads all the time has sent all brokers what there is, after any take-over."""


@checker(_ROW, in_every_run=has_answers, anomaly="broker not listed to clients", needs=[Capability.REQUESTS])
def clients_are_told_of_every_broker(history: History) -> Verdict:
    """A broker in ZooKeeper mode lists each broker that started in dual write, from 5 s after it was ready.

    Judged where controllers, ZooKeeper and the network are undisturbed; two answers in a row have to lack the broker.
    One that lists none at all for 90 s, not even itself, while one controller leads, was sent nothing and violates.
    """
    rows = ByRequirement(_ROW)
    lacking: dict[tuple[str, str], Answer] = {}
    all_answers = answers(history)
    for each in all_answers:
        # The first answer that counts is so much later than the take-over, and a broker may be rolled in between.
        for peer in _peers(each, since_ns=all_answers[0].at_ns - TAKEN_OVER_NS):
            key = (each.content.node, peer.name)
            former = lacking.pop(key, None)
            if int(peer.node_id) in each.content.brokers:
                rows.looked_at(_ROW)
                continue
            lacking[key] = former or each
            if former is not None:
                _violate(history, rows, each, peer)
    _judge_unsent(history, rows, all_answers)
    text = "brokers in ZooKeeper mode list every broker that started in dual write"
    return rows.verdict(text, "no broker in ZooKeeper mode answered after another one had started in dual write")


def _peers(answer: Answer, since_ns: int) -> list[BrokerAt]:
    """The brokers that the answer must list, and that the answering broker learned of from a KRaft controller."""
    if answer.broker.mode != "zookeeper" or not answer.is_calm:
        return []
    return [
        each
        for each in answer.brokers.values()
        if each.name != answer.broker.name
        and each.away_ns is None
        and each.started_ns >= since_ns
        and each.ready_ns is not None
        and answer.at_ns - each.ready_ns >= _LISTED_NS
    ]


def _judge_unsent(history: History, rows: ByRequirement, all_answers: Sequence[Answer]) -> None:
    """Whether a broker stays without any broker, as one that came with a checkpoint has nothing when it starts."""
    first: dict[str, Answer] = {}
    for each in all_answers:
        node = each.content.node
        if each.content.brokers or not each.is_calm or each.broker.mode != "zookeeper":
            first.pop(node, None)
            continue
        since = first.setdefault(node, each)
        if each.broker.started_ns > since.at_ns:
            first[node] = each
        elif each.at_ns - since.at_ns >= _SENT_NS and is_led(history, since.at_ns, each.at_ns):
            awaited = (since.at_ns, each.at_ns)
            observed = f"{LISTS_NONE}, for {span(each.at_ns - since.at_ns)}"
            expected = f"{each} lists the brokers that there are"
            violation = timed_violation(history, expected, observed, each.at_ns, EVIDENCE, awaited=awaited)
            rows.violated(_ROW, violation, Kind.LIVENESS)
            first[node] = each


def _violate(history: History, rows: ByRequirement, answer: Answer, peer: BrokerAt) -> None:
    expected = f"{answer} lists {named(peer)}"
    since = span(answer.at_ns - (peer.ready_ns or 0))
    listed = ", ".join(map(str, answer.content.brokers))
    observed = f"{f'it lists {listed}' if listed else LISTS_NONE}, {since} after {peer.name} was ready"
    awaited = (peer.ready_ns or 0, answer.at_ns)
    violation = timed_violation(history, expected, observed, answer.at_ns, EVIDENCE, awaited=awaited)
    rows.violated(_ROW, violation, Kind.LIVENESS)
