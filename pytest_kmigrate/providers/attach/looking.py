"""Who of a standing cluster answers, and as what: asked of the nodes themselves, and each change recorded."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.nodes import HowStopped, NodeReady, NodeStarted, NodeStopped
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.topology import BrokerMode, NodeSpec, Role
from pytest_kmigrate.providers.attach.file.loading import Site
from pytest_kmigrate.providers.zookeeper_words import mode_of
from pytest_kmigrate.wire.request import api_versions

LOOK_EVERY_S = 0.5
_ANSWER_WITHIN_S = 1.0
_OF_ZOOKEEPER_MODE = 4
"""LeaderAndIsr, which only brokers in ZooKeeper mode take: they have no metadata log to learn it from."""


@dataclass(frozen=True)
class Seen:
    """What one look at a node shows."""

    is_alive: bool = False
    stands_still: bool = False
    mode: BrokerMode | None = None


class Looker:
    """Looks at the nodes of one site, at each at most every ``LOOK_EVERY_S``; safe to call from any thread."""

    def __init__(self, site: Site, recorder: Recorder) -> None:
        self._site = site
        self._recorder = recorder
        self._locks = {spec.name: threading.Lock() for spec in site.topology.nodes}
        self._seen: dict[str, tuple[float, Seen]] = {}
        self._starts: dict[str, int] = {}
        self._ended: dict[str, HowStopped] = {}

    def seen(self, node: str) -> Seen:
        """What the node shows now, or did a moment ago. That it came or went is recorded before anybody sees it."""
        with self._locks[node]:
            at_s, last = self._seen.get(node, (-LOOK_EVERY_S, Seen()))
            if time.monotonic() - at_s < LOOK_EVERY_S:
                return last
            now = _looked_at(self._site, self._site.topology.node(node), last)
            self._seen[node] = (time.monotonic(), now)
            if now.is_alive != last.is_alive:
                self._record(self._site.topology.node(node), now)
            return now

    def down(self) -> list[str]:
        """Those that were there in this run, and are down now or stand still."""
        seen = {node: self.seen(node) for node in self._locks}
        return [node for node, now in seen.items() if node in self._starts and (not now.is_alive or now.stands_still)]

    @contextmanager
    def ending(self, node: str, how: HowStopped) -> Iterator[None]:
        """The node's end in this block comes about in this way; of any other it is not known."""
        self._ended[node] = how
        try:
            yield
        finally:
            self._ended.pop(node, None)

    def look(self, node: str) -> None:
        """Look for the sake of what is recorded."""
        self.seen(node)

    def _record(self, spec: NodeSpec, now: Seen) -> None:
        if not now.is_alive:
            how = self._ended.pop(spec.name, "gone")
            self._recorder.record(NodeStopped(how, exit_code=None, took_ms=0, said=""), spec.name)
            return
        self._starts[spec.name] = self._starts.get(spec.name, 0) + 1
        started = NodeStarted(spec.role, now.mode, None, self._site.topology.kafka, self._starts[spec.name])
        self._recorder.record(started, spec.name)
        self._recorder.record(NodeReady(took_ms=0), spec.name)


def greeting(site: Site, role: Role) -> Mapping[str, str]:
    """What a node of this role needs to answer before anybody logs in, which Kafka lets everybody do."""
    security = site.quorum if role is Role.CONTROLLER else site.client
    is_tls = security.get("security.protocol", "").endswith("SSL")
    kept = {key: value for key, value in security.items() if key.startswith("ssl.")}
    return {"security.protocol": "SSL", **kept} if is_tls else {}


def _looked_at(site: Site, spec: NodeSpec, last: Seen) -> Seen:
    """A node that takes connections and does not answer stands still, and is what it was."""
    address = site.addresses[spec.name]
    if spec.role is Role.ZOOKEEPER:
        return Seen(mode_of((address.host, address.port), _ANSWER_WITHIN_S, site.zookeeper_tls) is not None)
    try:
        answer = api_versions(Peer(str(address), greeting(site, spec.role)), within_s=_ANSWER_WITHIN_S)
    except AwaitTimeoutError as unanswered:
        stands_still = isinstance(unanswered.__cause__, TimeoutError)
        return Seen(stands_still, stands_still, last.mode)
    except ClusterError:
        return Seen(mode=last.mode)
    if spec.role is Role.CONTROLLER:
        return Seen(is_alive=True)
    known = {int(each.api_key) for each in answer.api_keys}
    return Seen(is_alive=True, mode=BrokerMode.ZOOKEEPER if _OF_ZOOKEEPER_MODE in known else BrokerMode.KRAFT)
