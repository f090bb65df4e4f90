"""Check of control requests that a stub broker received: conforming, each violation by its own row, and vacuous."""

from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.checks.control_requests import control_requests_are_right
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import event, history
from tests.unit.documents.kip_866.checks.nodes import controller
from tests.unit.documents.kip_866.checks.outcomes import looked_at

VERSIONS = {"LeaderAndIsr": 7, "StopReplica": 4, "UpdateMetadata": 8}


def received(at_ms: int, request: str = "UpdateMetadata", controller_id: int = 3000, **more: Any) -> Event:
    """A control request as it must be; of a KRaft controller unless another id is given."""
    data = {"request": request, "version": VERSIONS[request], "controller_id": controller_id, "controller_epoch": 5}
    data |= {"is_kraft": controller_id >= 3000, "topics": {"a": 2, "b": 1}, "deleted": [], "tags": []}
    return event(EventKind.CONTROL_REQUEST, at_ms, "stub-9", **{**data, "unread_bytes": 0, **more})


def sent(request: str = "UpdateMetadata", **more: Any) -> Event:
    """A control request of the last controller."""
    return received(30, request, 3001, controller_epoch=6, **more)


WAY = [
    received(1, controller_id=0, controller_epoch=1),
    received(2, controller_id=0, controller_epoch=1, topics={"a": 1}),
    received(10),
    received(11, "LeaderAndIsr"),
    received(12, "StopReplica", deleted=["b"], deleted_epochs=[-2, 4]),
    received(13, topics={"a": 2}, replicas=[0, 1, 2], offline=[2], live_brokers=[0, 1, 9]),
    received(20, controller_id=3001, controller_epoch=6, topics={"a": 2}),
]
HELD = received(21, "LeaderAndIsr", 3001, controller_epoch=6, topics={"a": 2})


def run(*events: Event) -> History:
    """A run with two controllers and these requests."""
    return history(events=[controller(0, 3000), controller(0, 3001), *events])


def test_requests_as_documented_conform() -> None:
    """Conforming: each row by its own requests; what was deleted need not come again after a failover."""
    verdict = control_requests_are_right.judge(run(*WAY))
    rows = {each.partition("-")[2] for each in control_requests_are_right.requirements}
    assert looked_at(verdict) == dict.fromkeys(rows, "CONFORMS")


@pytest.mark.parametrize(
    ("wrong", "row"),
    [
        (received(30, controller_id=3001, controller_epoch=6, is_kraft=False), "RPC-isKRaft-true"),
        (received(30, controller_id=0, controller_epoch=1, is_kraft=True), "RPC-isKRaft-false-from-zk"),
        (received(30, "LeaderAndIsr", 3001, controller_epoch=6, version=6), "RPC-LeaderAndIsr-v7"),
        (received(30, "StopReplica", 3001, controller_epoch=6, unread_bytes=1), "RPC-StopReplica-v4"),
        (received(30, controller_id=3001, controller_epoch=6, version=7), "RPC-UpdateMetadata-v8"),
        (received(30, controller_id=3000, controller_epoch=7, topics={"a": 1}), "RPC-full-state-on-takeover"),
        (received(30, controller_id=3000, controller_epoch=7, topics={}), "RPC-full-state-on-takeover"),
        (received(30, "LeaderAndIsr", 3001, controller_epoch=6, topics={"a": 1}), "RPC-full-state-on-takeover"),
        (received(30, "LeaderAndIsr", 3001, controller_epoch=6, topics={"later": 1}), "RPC-full-state-on-takeover"),
        (sent(replicas=[0, 1], offline=[0, 1], live_brokers=[0, 1, 9]), "RPC-umr-on-change"),
        (sent(replicas=[0, 1, 2], offline=[], live_brokers=[0, 1, 9]), "RPC-umr-on-change"),
        (sent("StopReplica", deleted=["a"], deleted_epochs=[-1]), "RPC-stopreplica"),
    ],
)
def test_what_is_otherwise_violates_its_own_row(wrong: Event, row: str) -> None:
    """Violating: the others stand as they were."""
    verdict = control_requests_are_right.judge(run(*WAY, wrong))
    assert (verdict.outcome, verdict.count) == (Outcome.VIOLATES, 1)
    assert looked_at(verdict)[row] == "VIOLATES"
    assert list(looked_at(verdict).values()).count("VIOLATES") == 1


def test_replicas_are_given_anew_by_the_first_request_alone() -> None:
    """Later ones hold what changed; a broker that is to have no replica is sent none."""
    later = received(30, "LeaderAndIsr", 3001, controller_epoch=6, topics={"later": 1})
    for events in ([*WAY, HELD, later], [WAY[0], WAY[2], later]):
        assert control_requests_are_right.judge(run(*events)).outcome is Outcome.CONFORMS


def test_replicas_come_with_what_they_are() -> None:
    """Violating: brokers delete what a complete request lacks. Releases before 3.6.1 have no such word at all."""
    for is_full, outcome in ((None, Outcome.VIOLATES), (False, Outcome.CONFORMS), (True, Outcome.CONFORMS)):
        replicas = sent("LeaderAndIsr", topics={"a": 2}, is_full=is_full)
        verdict = control_requests_are_right.judge(run(*WAY, replicas, sent(topics={"a": 2}, is_full=False)))
        assert verdict.outcome is outcome
        assert looked_at(verdict)["RPC-full-state-on-takeover"] == outcome.name
    assert (
        control_requests_are_right.judge(run(*WAY, sent("LeaderAndIsr", topics={"a": 2}))).outcome is Outcome.CONFORMS
    )


def test_a_tagged_field_more_is_as_documented() -> None:
    """KIP-482: flexible versions may gain tagged fields, and a receiver skips those that it does not know."""
    verdict = control_requests_are_right.judge(
        run(*WAY, received(30, controller_id=3001, controller_epoch=6, tags=[0]))
    )
    assert looked_at(verdict)["RPC-UpdateMetadata-v8"] == "CONFORMS"


def test_a_run_without_a_takeover_shows_only_what_it_has() -> None:
    """Vacuous for what KRaft controllers send, and as a whole without any request."""
    assert looked_at(control_requests_are_right.judge(run(*WAY[:2]))) == {"RPC-isKRaft-false-from-zk": "CONFORMS"}
    assert control_requests_are_right.judge(run()).outcome is Outcome.INCONCLUSIVE
