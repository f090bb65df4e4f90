"""Delegation tokens: what brokers answer, how a token opens a broker, and what is recorded of changes to one."""

from typing import Any

import pytest
from kio.serial import entity_reader

from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire import tokens as delegation_tokens
from pytest_kmigrate.wire.tokens import Token, create_token_at, logged_in_by, renew_token_at
from pytest_kmigrate.workloads.metadata import metadata_invocation
from pytest_kmigrate.workloads.metadata.filling import FillingPlan, fill
from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange
from pytest_kmigrate.workloads.metadata.metadata_invocation import UNKNOWN_TOKEN, MetadataAdmin
from tests.unit.fakes import MemoryRecorder

NOBODY_LISTENS = {"bootstrap.servers": "127.0.0.1:1"}
TOKEN = Token("id-1", b"\x00hmac", "User:admin", "User:admin", ("User:b", "User:a"), 1, 3, 2)
CREATED = MetadataChange("create-token", "mine", {"owner": None, "renewers": ["b", "a"]})


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> MetadataAdmin:
    """Every broker can be reached, and makes the same token of whatever is asked for."""
    monkeypatch.setattr(metadata_invocation, "first_answering", lambda peers: peers[0])
    monkeypatch.setattr(metadata_invocation, "create_token_at", lambda *_, **__: ("NONE", TOKEN))
    monkeypatch.setattr(metadata_invocation, "AdminClient", lambda _: None)  # it knows no tokens, and ends in a second
    return MetadataAdmin(NOBODY_LISTENS, within_s=5)


def answering(monkeypatch: pytest.MonkeyPatch, answer: bytes) -> None:
    """Whatever is asked, a broker answers this message."""

    def ask(_peer: object, _request: object, answer_type: Any, _within_s: float) -> Any:
        return entity_reader(answer_type)(answer, 0)[0]

    monkeypatch.setattr(delegation_tokens, "ask", ask)


def test_a_refusal_is_read_although_its_times_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kafka puts -1 where an error leaves no time, which is no moment; the error's name comes out all the same."""
    never = (-1).to_bytes(8, "big", signed=True)
    answering(monkeypatch, bytes([0, 61]) + bytes([1, 1, 1, 1]) + 3 * never + bytes([1, 1]) + bytes(4) + b"\0")
    assert create_token_at("broker:1") == ("DELEGATION_TOKEN_AUTH_DISABLED", None)
    answering(monkeypatch, bytes([0, 62]) + never + bytes(4) + b"\0")
    assert renew_token_at("broker:1", TOKEN, for_ms=1)[0] == UNKNOWN_TOKEN


def test_a_token_opens_a_broker_and_is_not_printed() -> None:
    """Its id is the user and its HMAC the password, on the same listener; neither token nor peer shows it."""
    peer = Peer("broker:1", {"security.protocol": "SASL_SSL", "sasl.username": "admin", "sasl.password": "p"})
    by_token = logged_in_by(peer, TOKEN)
    assert by_token.address == "broker:1"
    assert by_token.security == {
        "security.protocol": "SASL_SSL",
        "sasl.username": "id-1",
        "sasl.password": "AGhtYWM=",
        "tokenauth": "true",
    }
    assert "hmac" not in repr(TOKEN)
    assert "AGht" not in repr(by_token)


def test_a_token_is_recorded_by_the_id_that_kafka_gave(admin: MetadataAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    """What must hold later is in the events: owner, renewers and expiry, as asked; of a removed one nothing."""
    monkeypatch.setattr(metadata_invocation, "renew_token_at", lambda *_, **__: ("NONE", 9))
    monkeypatch.setattr(metadata_invocation, "remove_token_at", lambda *_, **__: "NONE")
    recorder = MemoryRecorder()
    for change in (
        CREATED,
        MetadataChange("renew-token", "mine", {"for_ms": 7}),
        MetadataChange("remove-token", "mine"),
    ):
        assert admin.record(change, recorder).outcome is OperationOutcome.OK
    reported = {"owner": "User:admin", "renewers": ["User:a", "User:b"]}
    wanted = [{**reported, "expires_ms": 2}, {**reported, "expires_ms": 9}, {}]
    assert [event.data["wanted"] for event in recorder.events] == wanted
    assert {event.data["subject"] for event in recorder.events} == {"id-1"}
    assert "hmac" not in str(recorder.events)


def test_a_controller_that_does_not_know_its_token_yet_is_asked_again(
    admin: MetadataAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A KRaft controller answers for a token before it is in its own cache; one that was never made stays unknown."""
    answers = iter([UNKNOWN_TOKEN, UNKNOWN_TOKEN, "NONE"])
    monkeypatch.setattr(metadata_invocation, "remove_token_at", lambda *_, **__: next(answers))
    removal = MetadataChange("remove-token", "mine")
    assert admin.invoke(removal).error == UNKNOWN_TOKEN
    admin.invoke(CREATED)
    assert admin.invoke(removal).outcome is OperationOutcome.OK
    assert next(answers, "no more") == "no more"


@pytest.mark.parametrize(
    ("error", "why"),
    [
        ("DELEGATION_TOKEN_AUTH_DISABLED", "the brokers have no delegation.token.secret.key"),
        ("DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", "clients are not authenticated"),
    ],
)
def test_a_cluster_without_tokens_is_filled_without_them(
    error: str, why: str, admin: MetadataAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The family is left out, the result says why, and nothing counts as failed; the first answer is enough."""
    asked: list[str] = []
    monkeypatch.setattr(metadata_invocation, "create_token_at", lambda *_, **__: asked.append(error) or (error, None))
    plan = FillingPlan(1, (0,), families=("delegation-tokens",))
    filled = fill(MetadataAdmin(NOBODY_LISTENS), MemoryRecorder(), plan)
    assert (filled.left_out, filled.failed, asked) == ({"delegation-tokens": why}, (), [error])
