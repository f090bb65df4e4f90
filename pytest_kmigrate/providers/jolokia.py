"""JMX of one node, read through its Jolokia agent: many attributes in one HTTP request."""

import http.client
import json
import math
import socket
import threading
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.metrics import CATALOGUES, RAFT_STATES, ZOOKEEPER_SESSION_STATES, MBean
from pytest_kmigrate.model.topology import Role

_ANSWER_WITHIN_S = 1.0
_TEXTS: Mapping[str, float] = {**RAFT_STATES, **ZOOKEEPER_SESSION_STATES, "true": 1, "false": 0}
_connections = threading.local()  # a connection serves one thread; samplers come back on the same thread every time


def metrics_at(base_url: str, role: Role, names: Iterable[str]) -> Mapping[str, float | None]:
    """Those of these metrics that nodes of this role have, by the catalogue's names; None for each without an answer.

    ``base_url`` as for ``read_many``.
    """
    catalogue = CATALOGUES[role.value]
    known = {name: catalogue[name] for name in names if name in catalogue}
    try:
        return read_many(base_url, known, _ANSWER_WITHIN_S)
    except (OSError, ClusterError):  # paused, starting or gone: that is a fact of the series, not an error
        return dict.fromkeys(known)


def read_many(base_url: str, mbeans: Mapping[str, MBean], timeout_s: float) -> dict[str, float | None]:
    """The value of every name in ``mbeans``; None where the node has no such MBean or attribute, or no number yet.

    Texts become the numbers of the tables in model.metrics. ``base_url`` is the agent's, as in ``http://127.0.0.1:7777/jolokia``.
    Raises OSError (TimeoutError, ConnectionError) when the node does not answer, ClusterError when the answer is not
    Jolokia's; the connection is kept for the next call of the same thread.
    """
    names = list(mbeans)
    questions = [{"type": "read", "mbean": mbeans[name][0], "attribute": mbeans[name][1]} for name in names]
    answers = _posted(base_url, json.dumps(questions), timeout_s)
    if not isinstance(answers, list) or len(answers) != len(names):
        raise ClusterError(f"{base_url}: expected {len(names)} answers of a Jolokia agent, got {str(answers)[:200]}")
    return {name: _number(answer) for name, answer in zip(names, answers, strict=True)}


def _number(answer: Mapping[str, Any]) -> float | None:
    """Absent MBeans have an error instead of a value; NaN, which Kafka shows before the first event, is no number."""
    value = answer.get("value")
    if isinstance(value, str):
        return None if value not in _TEXTS else float(_TEXTS[value])
    if isinstance(value, bool | int | float) and math.isfinite(value):
        return float(value)
    return None


def _posted(base_url: str, body: str, timeout_s: float) -> Any:
    kept = _kept_connections()
    for fresh in (False, True):
        connection = None if fresh else kept.pop(base_url, None)
        if connection is None:
            if not fresh:
                continue
            connection = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=timeout_s)
        try:
            answer = _asked(connection, base_url, body, timeout_s)
        except (http.client.HTTPException, ConnectionError) as error:
            connection.close()
            if fresh:
                raise _as_os_error(base_url, error) from error
            continue  # the node was restarted since: the kept connection leads nowhere, a new one may do
        except OSError:
            connection.close()
            raise
        kept[base_url] = connection
        return answer
    raise AssertionError("unreachable: a fresh connection answers or raises")


def _asked(connection: http.client.HTTPConnection, base_url: str, body: str, timeout_s: float) -> Any:
    if connection.sock is not None:
        connection.sock.settimeout(timeout_s)
    path = urlsplit(base_url).path.rstrip("/") + "/"
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    # Java's HTTP server sends head and body apart and waits 40 ms for the acknowledgement that the kernel holds back.
    if connection.sock is not None and hasattr(socket, "TCP_QUICKACK"):
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
    response = connection.getresponse()
    content = response.read()
    try:
        return json.loads(content)
    except ValueError as error:
        connection.close()
        raise ClusterError(
            f"{base_url}: expected JSON of a Jolokia agent, got HTTP {response.status} {content[:200]!r}; "
            f"check that the address is the agent's"
        ) from error


def _as_os_error(base_url: str, error: Exception) -> OSError:
    return error if isinstance(error, OSError) else ConnectionError(f"{base_url}: broken HTTP answer: {error!r}")


def _kept_connections() -> dict[str, http.client.HTTPConnection]:
    if not hasattr(_connections, "kept"):
        _connections.kept = {}
    kept: dict[str, http.client.HTTPConnection] = _connections.kept
    return kept
