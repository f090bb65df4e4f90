"""JMX of nodes, read through their Jolokia agents: many attributes in one HTTP request."""

import http.client
import json
import math
import socket
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.metrics import CATALOGUES, RAFT_STATES, ZOOKEEPER_SESSION_STATES, MBean
from pytest_kmigrate.model.topology import Role

_ANSWER_WITHIN_S = 1.0
_COLLECTED_WITHIN_S = 30.0
_MEMORY = "java.lang:type=Memory"
_JACOCO = "org.jacoco:type=Runtime"
_REQUESTS = "kafka.network:type=RequestMetrics,name=RequestsPerSec,*"
_TEXTS: Mapping[str, float] = {**RAFT_STATES, **ZOOKEEPER_SESSION_STATES, "true": 1, "false": 0}


class JolokiaClient:
    """Reads metrics of the nodes of one cluster. Connections are kept for later requests, and closed by ``close``.

    Safe to call from any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[str, list[http.client.HTTPConnection]] = {}
        self._is_closed = False

    def metrics_at(self, base_url: str, role: Role, names: Iterable[str]) -> Mapping[str, float | None]:
        """The metrics of these names that nodes of this role have; None for each without an answer.

        Names are those of the catalogue; ``base_url`` as for ``read_many``.
        """
        catalogue = CATALOGUES[role.value]
        known = {name: catalogue[name] for name in names if name in catalogue}
        try:
            return self.read_many(base_url, known, _ANSWER_WITHIN_S)
        except (OSError, ClusterError):  # paused, starting or gone: that is a fact of the series, not an error
            return dict.fromkeys(known)

    def read_many(self, base_url: str, mbeans: Mapping[str, MBean], timeout_s: float) -> dict[str, float | None]:
        """The value of every name in ``mbeans``; None where the node has no such MBean or attribute, or no number yet.

        Texts become the numbers of the tables in model.metrics. ``base_url`` is the agent's, as in
        ``http://127.0.0.1:7777/jolokia``. OSError (TimeoutError, ConnectionError) when the node does not answer,
        ClusterError when the answer is not Jolokia's.
        """
        names = list(mbeans)
        questions = [_question(*mbeans[name]) for name in names]
        answers = self._posted(base_url, json.dumps(questions), timeout_s)
        if not isinstance(answers, list) or len(answers) != len(names):
            raise ClusterError(
                f"{base_url}: expected {len(names)} answers of a Jolokia agent, got {str(answers)[:200]}"
            )
        return {name: _number(answer) for name, answer in zip(names, answers, strict=True)}

    def requests_at(self, base_url: str, timeout_s: float = _ANSWER_WITHIN_S) -> dict[tuple[str, int], int]:
        """How many requests a node has received since its start, by name and version. Errors are those of read_many.

        A node counts what was inside an Envelope under its own name.
        """
        (answer,) = self._posted(base_url, json.dumps([_question(_REQUESTS, "Count")]), timeout_s)
        counted: dict[tuple[str, int], int] = {}
        for mbean, values in (answer.get("value") or {}).items():
            properties = dict(part.split("=", 1) for part in mbean.partition(":")[2].split(","))
            if "version" in properties:
                counted[properties["request"], int(properties["version"])] = int(values["Count"])
        return counted

    def clock_at(self, base_url: str, timeout_s: float = _ANSWER_WITHIN_S) -> float | None:
        """The time of a node's answer by its own clock, in seconds since 1970; None if it does not answer."""
        try:
            (answer,) = self._posted(base_url, json.dumps([{"type": "version"}]), timeout_s)
            return float(answer["timestamp"])
        except (OSError, ClusterError):
            return None

    def live_heap_at(self, base_url: str, timeout_s: float = _COLLECTED_WITHIN_S) -> int:
        """Bytes of a node's heap in use right after it collected all garbage. Errors are those of read_many."""
        collect = {"type": "exec", "mbean": _MEMORY, "operation": "gc"}
        used = {**_question(_MEMORY, "HeapMemoryUsage"), "path": "used"}
        _, answer = self._posted(base_url, json.dumps([collect, used]), timeout_s)
        return int(answer["value"])

    def executed_at(self, base_url: str, timeout_s: float = _ANSWER_WITHIN_S, *, anew: bool = False) -> bytes | None:
        """What JaCoCo's agent in a node has recorded, in its own format; None where there is no such agent.

        With ``anew`` it begins anew from here. Errors are those of read_many.
        """
        asked = {"type": "exec", "mbean": _JACOCO, "operation": "getExecutionData", "arguments": [anew]}
        (answer,) = self._posted(base_url, json.dumps([asked]), timeout_s)
        value = answer.get("value")
        return bytes(each & 0xFF for each in value) if isinstance(value, list) else None

    def text_at(self, base_url: str, mbean: MBean, timeout_s: float = _ANSWER_WITHIN_S) -> str | None:
        """The value of an attribute that is a text; None where there is none. Errors are those of read_many."""
        (answer,) = self._posted(base_url, json.dumps([_question(*mbean)]), timeout_s)
        value = answer.get("value")
        return value if isinstance(value, str) else None

    def close(self) -> None:
        """Close every idle connection, and each of the others when its answer is there. Safe to call twice."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, {}
        for connections in idle.values():
            for connection in connections:
                connection.close()

    def _posted(self, base_url: str, body: str, timeout_s: float) -> Any:
        """The answer; if an idle connection leads nowhere, because its node was restarted since, by a new one."""
        idle = self._taken(base_url)
        if idle is not None:
            with suppress(ConnectionError):
                return self._answered(idle, base_url, body, timeout_s)
        fresh = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=timeout_s)
        return self._answered(fresh, base_url, body, timeout_s)

    def _answered(self, connection: http.client.HTTPConnection, base_url: str, body: str, timeout_s: float) -> Any:
        try:
            answer = _asked(connection, base_url, body, timeout_s)
        except http.client.HTTPException as error:
            connection.close()
            raise _as_os_error(base_url, error) from error
        except BaseException:
            connection.close()
            raise
        self._keep(base_url, connection)
        return answer

    def _taken(self, base_url: str) -> http.client.HTTPConnection | None:
        with self._lock:
            idle = self._idle.get(base_url)
            return idle.pop() if idle else None

    def _keep(self, base_url: str, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if not self._is_closed:
                self._idle.setdefault(base_url, []).append(connection)
                return
        connection.close()


def _question(mbean: str, attribute: str) -> dict[str, object]:
    """Without the stack traces, of several kilobytes each, that stand for MBeans which do not exist."""
    return {"type": "read", "mbean": mbean, "attribute": attribute, "config": {"includeStackTrace": "false"}}


def _number(answer: Mapping[str, Any]) -> float | None:
    """Absent MBeans have an error instead of a value; NaN, which Kafka shows before the first event, is no number.

    The value of a pattern is how many MBeans match it.
    """
    value = answer.get("value")
    if isinstance(value, dict):
        return float(len(value)) if value else None
    if isinstance(value, str):
        return None if value not in _TEXTS else float(_TEXTS[value])
    if isinstance(value, bool | int | float) and math.isfinite(value):
        return float(value)
    return None


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
        raise ClusterError(
            f"{base_url}: expected JSON of a Jolokia agent, got HTTP {response.status} {content[:200]!r}; "
            f"check that the address is the agent's"
        ) from error


def _as_os_error(base_url: str, error: Exception) -> OSError:
    return error if isinstance(error, OSError) else ConnectionError(f"{base_url}: broken HTTP answer: {error!r}")
