"""Topics that are created one after the other through chosen brokers, while something else goes on."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.refusals import NOT_CONNECTED
from pytest_kmigrate.waiting import PATIENCE_S, until
from pytest_kmigrate.wire.admin import create_topics_at

_SOME = 6
"""How many answers there are before the block begins, and again after what it does."""
_ANSWER_WITHIN_S = 60
"""As long as a broker keeps a request that it forwards."""


@contextmanager
def creating(brokers: Mapping[str, Peer]) -> Iterator[Mapping[str, str]]:
    """Create topics through each of these brokers while the block runs: by topic, Kafka's name of the error.

    ``_TIMED_OUT`` without an answer, ``_NOT_CONNECTED`` where nothing was sent. AwaitTimeoutError when nothing is
    answered any more.
    """
    answers: dict[str, str] = {}
    ended = threading.Event()
    threads = [threading.Thread(target=_create, args=(*each, answers, ended), daemon=True) for each in brokers.items()]
    for each in threads:
        each.start()
    try:
        _await_more(answers)
        yield answers
        _await_more(answers)
    finally:
        ended.set()
        for each in threads:
            each.join(PATIENCE_S)


def _await_more(answers: Mapping[str, str]) -> None:
    enough = len(answers) + _SOME
    until(lambda: len(answers) >= enough, awaited="answers to creations", within_s=PATIENCE_S)


def _create(name: str, broker: Peer, answers: dict[str, str], ended: threading.Event) -> None:
    for number in count():
        if ended.is_set():
            return
        topic = f"under-way-{name}-{number}"
        answers[topic] = _answer(broker, topic)


def _answer(broker: Peer, topic: str) -> str:
    try:
        return create_topics_at(broker, [topic], partitions=1, replication=1, within_s=_ANSWER_WITHIN_S)[topic]
    except AwaitTimeoutError:
        return "_TIMED_OUT"
    except ClusterError:
        return NOT_CONNECTED
