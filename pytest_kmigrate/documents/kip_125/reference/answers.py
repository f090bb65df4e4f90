"""Answers of ZooKeeper: what kazoo's results hold, whichever way they ended."""

import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kazoo.exceptions import KazooException, NodeExistsError, NoNodeError


def gather(asked: Sequence[Any], then: Callable[[Sequence[Any]], None]) -> None:
    """Call ``then`` with all answers or exceptions when the last one has come."""
    if not asked:
        then(())
        return
    left, lock = [len(asked)], threading.Lock()

    def one(_: object) -> None:
        with lock:
            left[0] -= 1
            is_last = left[0] == 0
        if is_last:
            then([answer(each) for each in asked])

    for each in asked:
        each.rawlink(one)


def answer(result: Any) -> Any:
    """Return the value of a result, or its exception."""
    return result.value if result.successful() else result.exception


def wrong(answer: Any) -> Exception | None:
    """The exception that an answer is, or that an operation of a transaction brought."""
    if isinstance(answer, Exception):
        return answer
    if isinstance(answer, list):
        return next((each for each in answer if isinstance(each, Exception)), None)
    return None


def is_an_answer(error: KazooException) -> bool:
    """Whether the server answered, though not as hoped."""
    return isinstance(error, NoNodeError | NodeExistsError)


def partition_count(answer: Any) -> int:
    """How many partitions the znode of a topic lists."""
    return len(json.loads(answer[0])["partitions"]) if answer else 0


def subscription(answer: Any) -> Mapping[str, int]:
    """The streams by topic of an entry in ``ids``; a member whose payload cannot be read takes part with nothing."""
    if isinstance(answer, Exception):
        return {}
    try:
        return {str(topic): int(streams) for topic, streams in json.loads(answer[0])["subscription"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def number(data: bytes) -> int | None:
    """A stored offset; None when it is no decimal text."""
    return int(data) if data.isdigit() else None


def is_known_here(host: str) -> bool:
    """Whether this machine knows the address of a host."""
    try:
        socket.getaddrinfo(host, None)
    except OSError:
        return False
    return True


def plain_listeners(broker: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Host and port of each listener of a registered broker that needs neither TLS nor a login."""
    protocols = broker.get("listener_security_protocol_map", {})
    found = []
    for endpoint in broker["endpoints"]:
        listener, _, address = endpoint.partition("://")
        host, _, port = address.rpartition(":")
        if protocols.get(listener, listener) == "PLAINTEXT":
            found.append((host, int(port)))
    return found
