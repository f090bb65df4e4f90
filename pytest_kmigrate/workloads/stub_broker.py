"""A stub broker: registers, sends heartbeats, accepts what controllers send it, and records each such request.

It has no log and serves no client. Controllers treat it as a broker in ZooKeeper mode that migrates, so that requests
which real brokers act upon can be looked at; or as one in KRaft mode, which is given replicas that take no disk.
"""

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.workloads import ControlRequestReceived
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.waiting import PATIENCE_S, repeat, until
from pytest_kmigrate.wire.control_requests import (
    API_VERSIONS,
    LAYOUTS,
    LEADER_AND_ISR,
    STOP_REPLICA,
    UPDATE_METADATA,
    ControlRequest,
    answer_to,
    decoded,
)
from pytest_kmigrate.wire.frame_server import LOOPBACK, FrameServer, api_versions_answer
from pytest_kmigrate.wire.registration import Registration, heartbeat_at, register_at

_DURING_DELETE = -2
"""The leader of a partition that is being deleted."""
Answer = TypeVar("Answer", bound=tuple[Any, ...])

_LISTENER, _LEVEL = "INTERNAL", "metadata.version"
_EVERY_S = 1.0
HIGHEST = {LEADER_AND_ISR: 7, STOP_REPLICA: 4, UPDATE_METADATA: 8, API_VERSIONS: 3}
"""The highest version that a broker of 3.4 to 3.9 knows of each request."""
_FULL_TAG = 0
_CAUGHT_UP = (1 << 62) - 1
"""An offset of the metadata log that no log reaches: the stub has read everything there is."""


class StubBroker(FrameServer):
    """Listens from its beginning to ``close``."""

    def __init__(
        self, broker_id: int, recorder: Recorder, controllers: Callable[[], list[Peer]], host: str = LOOPBACK
    ) -> None:
        """``controllers``: where a registration is tried, the active one first."""
        self.broker_id = broker_id
        self.name = f"stub-{broker_id}"
        self.last_update: ControlRequest | None = None
        """The last UpdateMetadata that it received: who is alive, as the controllers have it."""
        self.deleted: set[str] = set()
        """Topics whose replicas a StopReplica had it delete."""
        self._recorder = recorder
        self._controllers = controllers
        self._ended = threading.Event()
        self._wants_to_stop = False
        self._may_stop = threading.Event()
        self._beating: list[threading.Thread] = []
        super().__init__(host)

    @property
    def listeners(self) -> dict[str, str]:
        """What it registers as its listeners."""
        return {_LISTENER: self.address}

    def znode(self) -> bytes:
        """The content of ``/brokers/ids/<id>`` by which a broker in ZooKeeper mode makes itself known."""
        host, _, port = self.address.rpartition(":")
        held = {
            "version": 5,
            "host": host,
            "port": int(port),
            "jmx_port": -1,
            "timestamp": "0",
            "endpoints": [f"{_LISTENER}://{self.address}"],
            "listener_security_protocol_map": {_LISTENER: "PLAINTEXT"},
            "features": {},
        }
        return json.dumps(held).encode()

    def register(self, cluster_id: str, level: int) -> str:
        """Register with the active controller as a broker that migrates, and send heartbeats from then on.

        Returns Kafka's name of the error, or NONE when the controllers hold the stub for alive; AwaitTimeoutError if
        they do not.
        """
        return self._register(Registration(self.broker_id, cluster_id, level, listeners=self.listeners))

    def join(self, cluster_id: str, features: Mapping[str, tuple[int, int]]) -> str:
        """The same as a broker in KRaft mode that supports these levels of features."""
        level, others = features[_LEVEL], {name: each for name, each in features.items() if name != _LEVEL}
        of_kraft = Registration(self.broker_id, cluster_id, level, is_migrating=False, listeners=self.listeners)
        return self._register(replace(of_kraft, features=others))

    def leave(self) -> bool:
        """Say in each heartbeat that it wants to stop; whether an answer lets it, within a minute."""
        self._wants_to_stop = True
        return self._may_stop.wait(PATIENCE_S)

    def _register(self, registration: Registration) -> str:
        answer = self._asked(lambda peer: register_at(peer, registration, within_s=10))
        error, epoch = answer or ("NOT_CONTROLLER", -1)
        if error == "NONE":
            until(lambda: self._beat(epoch), awaited=f"{self.name} unfenced", within_s=PATIENCE_S, every_s=0.1)
            beats = (partial(self._beat, epoch), _EVERY_S, self._ended)
            self._beating.append(threading.Thread(target=repeat, args=beats, daemon=True))
            self._beating[-1].start()
        return error

    def close(self) -> None:
        """End heartbeats, and listen no more; safe to call twice."""
        self._ended.set()
        super().close()
        for thread in self._beating:
            thread.join(timeout=5)

    def _asked(self, ask: Callable[[Peer], Answer]) -> Answer | None:
        """The answer of the active controller, which says itself if it is none; None where nothing answers."""
        answer: Answer | None = None
        for peer in self._controllers():
            with suppress(ClusterError):
                answer = ask(peer)
                if answer[0] != "NOT_CONTROLLER":
                    break
        return answer

    def _beat(self, epoch: int) -> bool:
        """Send one heartbeat; whether the controllers hold the stub for alive."""
        wish, caught_up = self._wants_to_stop, (self.broker_id, epoch, _CAUGHT_UP)
        answer = self._asked(lambda peer: heartbeat_at(peer, *caught_up, wants_to_stop=wish, within_s=5))
        if answer is not None and answer.may_stop:
            self._may_stop.set()
        return answer is not None and answer.error == "NONE" and not answer.is_fenced

    def receive(self, frame: bytes) -> bytes:
        """The answer to one frame; what is no control request is not recorded.

        ClusterError for a request of a client, or of a broker that fetches: a stub serves neither.
        """
        request = decoded(frame)
        if request.api == API_VERSIONS:
            return api_versions_answer(request.version, request.correlation, HIGHEST)
        if request.api not in LAYOUTS:
            raise ClusterError(f"{self.name}: expected a control request, got one of API {request.api}")
        if request.api == UPDATE_METADATA:
            self.last_update = request
        event = _as_event(request)
        self.deleted |= {*event.deleted}
        self._recorder.record(event, self.name)
        return answer_to(request)


def _as_event(request: ControlRequest) -> ControlRequestReceived:
    body = request.body
    topics: list[dict[str, Any]] = body.get("topics") or []
    parts = [part for each in topics for part in each["partitions"]]
    kept = [part for part in parts if part.get("leader") != _DURING_DELETE] if request.api == UPDATE_METADATA else None
    return ControlRequestReceived(
        request=request.name,
        version=request.version,
        controller_id=body["controller_id"],
        controller_epoch=body["controller_epoch"],
        broker_epoch=body["broker_epoch"],
        is_kraft=body.get("is_kraft"),
        is_full=_is_full(request),
        topics={each["name"]: len(each["partitions"]) for each in topics},
        deleted=sorted({each["name"] for each in topics for part in each["partitions"] if part.get("is_deleted")}),
        live_brokers=sorted(each["id"] for each in body.get("live_brokers") or []),
        tags=sorted(request.tags),
        unread_bytes=request.left,
        kraft_controller_id=body.get("kraft_controller_id"),
        replicas=None if kept is None else sorted({each for part in kept for each in part["replicas"]}),
        offline=None if kept is None else sorted({each for part in kept for each in part["offline"]}),
        deleted_epochs=_deleted_epochs(parts) if request.api == STOP_REPLICA else None,
    )


def _deleted_epochs(parts: list[dict[str, Any]]) -> list[int]:
    return sorted({part["leader_epoch"] for part in parts if part["is_deleted"]})


def _is_full(request: ControlRequest) -> bool | None:
    """Whether it says that it holds everything; None where it says nothing of that (Type 0)."""
    kind = request.body.get("type") if request.api == LEADER_AND_ISR else None
    if request.api == UPDATE_METADATA and _FULL_TAG in request.tags:
        kind = request.tags[_FULL_TAG][0]
    return None if not kind else kind == 2
