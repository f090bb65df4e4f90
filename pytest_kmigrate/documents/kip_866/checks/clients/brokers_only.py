"""Check of the controller that clients are given: a live broker drawn at random, never the KRaft controller."""

from collections import defaultdict
from collections.abc import Sequence

from pytest_kmigrate.checkers.controllers.lives import controller_ids
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.clients.answers import EVIDENCE, Answer, answers, has_answers
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict

_ROW = "K866-FWD-random-controller-id"
_VARIES_WITHIN = 30
"""Of two brokers drawn at random so often, one is drawn every time in one of half a billion cases."""


@checker(_ROW, in_every_run=has_answers, anomaly="clients sent to no broker", needs=[Capability.REQUESTS])
def clients_are_told_of_brokers_only(history: History) -> Verdict:
    """While a KRaft controller is in charge, brokers give clients a random live broker as the controller.

    A KRaft controller's id violates at once. No id, the id of a broker that has been away for 15 s, and always the same
    id of several are judged only where controllers, ZooKeeper and the network are undisturbed. Of a broker that gave
    one id so far it is not known whether it draws.
    """
    rows = ByRequirement(_ROW)
    controllers = controller_ids(history)
    by_broker = defaultdict[str, list[Answer]](list)
    for each in answers(history):
        observed = _wrong(each, controllers)
        if observed:
            _violate(history, rows, each, "the controller given to clients is a broker that lives", observed)
        by_broker[each.content.node].append(each)
    for of_broker in by_broker.values():
        _judge_drawing(history, rows, [each for each in of_broker if each.is_calm and len(each.content.brokers) > 1])
        is_drawn = len({each.content.controller for each in of_broker} - {-1}) > 1
        rows.looked_at(_ROW, len(of_broker) if is_drawn else 0)
    text = "every controller that clients were given is a broker that lives"
    return rows.verdict(text, "no broker answered often enough to show that it draws")


def _wrong(answer: Answer, controllers: frozenset[int]) -> str:
    """What is wrong with the controller of an answer; empty if nothing is."""
    controller = answer.content.controller
    if controller in controllers and controller not in answer.brokers:
        return f"{answer} gives controller-{controller}"
    if not answer.is_calm:
        return ""
    # A broker that lists none has received no metadata yet: it has none to draw from.
    if controller == -1 and answer.content.brokers:
        return f"{answer} gives none"
    if controller in answer.gone:
        return f"{answer} gives broker-{controller}, which is away"
    return ""


def _judge_drawing(history: History, rows: ByRequirement, of_broker: Sequence[Answer]) -> None:
    if len(of_broker) >= _VARIES_WITHIN and len({each.content.controller for each in of_broker}) == 1:
        observed = (
            f"{of_broker[-1]} gives {of_broker[0].content.controller} in all of {counted(len(of_broker), 'answer')}"
        )
        _violate(history, rows, of_broker[-1], "the controller given to clients is drawn at random", observed)


def _violate(history: History, rows: ByRequirement, answer: Answer, expected: str, observed: str) -> None:
    rows.violated(_ROW, timed_violation(history, expected, observed, answer.at_ns, EVIDENCE), Kind.LIVENESS)
