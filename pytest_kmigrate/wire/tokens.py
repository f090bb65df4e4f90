"""Delegation tokens, by raw requests to a chosen broker: librdkafka cannot ask for them.

A token's HMAC is its password. It is in Kafka's answers, and here never in anything that is printed or recorded.
Errors are those of ``wire.ask``; each call returns Kafka's own error name, "NONE" for none.
"""

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from kio.schema.create_delegation_token.v3 import request as create_request
from kio.schema.create_delegation_token.v3.response import CreateDelegationTokenResponse
from kio.schema.describe_delegation_token.v3.request import DescribeDelegationTokenRequest
from kio.schema.describe_delegation_token.v3.response import DescribeDelegationTokenResponse
from kio.schema.expire_delegation_token.v2.request import ExpireDelegationTokenRequest
from kio.schema.expire_delegation_token.v2.response import ExpireDelegationTokenResponse
from kio.schema.renew_delegation_token.v2.request import RenewDelegationTokenRequest
from kio.schema.renew_delegation_token.v2.response import RenewDelegationTokenResponse
from kio.static.primitive import i64, i64Timedelta

from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.request import ANSWER_WITHIN_S, TOKEN_LOGIN, ask, named

_AT_ONCE = -1
_INT64 = {"kafka_type": "int64"}  # kio's own type cannot be -1, which is the time in every answer that is an error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Created(CreateDelegationTokenResponse):
    issue_timestamp: i64 = field(metadata=_INT64)  # type: ignore[assignment]  # on purpose
    expiry_timestamp: i64 = field(metadata=_INT64)  # type: ignore[assignment]  # on purpose
    max_timestamp: i64 = field(metadata=_INT64)  # type: ignore[assignment]  # on purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class _Renewed(RenewDelegationTokenResponse):
    expiry_timestamp: i64 = field(metadata=_INT64)  # type: ignore[assignment]  # on purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class _Expired(ExpireDelegationTokenResponse):
    expiry_timestamp: i64 = field(metadata=_INT64)  # type: ignore[assignment]  # on purpose


@dataclass(frozen=True)
class Token:
    """A delegation token as one broker reports it; principals are in the form "User:alice"."""

    token_id: str
    hmac: bytes = field(repr=False)
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issued_ms: int
    max_ms: int
    expires_ms: int


def create_token_at(
    peer: Peer | str, renewers: Iterable[str] = (), *, owner: str | None = None, within_s: float = ANSWER_WITHIN_S
) -> tuple[str, Token | None]:
    """A new token for ``owner`` (None: the client itself), which these users may renew; None with an error."""
    names = tuple(renewers)
    request = create_request.CreateDelegationTokenRequest(
        owner_principal_type=owner and "User",
        owner_principal_name=owner,
        renewers=tuple(create_request.CreatableRenewers(principal_type="User", principal_name=name) for name in names),
        max_lifetime=_duration(_AT_ONCE),  # here it means the longest that the brokers allow
    )
    answer = ask(peer, request, _Created, within_s)
    error = named(answer.error_code)
    if error != "NONE":
        return error, None
    return error, Token(
        token_id=answer.token_id,
        hmac=answer.hmac,
        owner=f"{answer.principal_type}:{answer.principal_name}",
        requester=f"{answer.token_requester_principal_type}:{answer.token_requester_principal_name}",
        renewers=tuple(f"User:{name}" for name in names),
        issued_ms=int(answer.issue_timestamp),
        max_ms=int(answer.max_timestamp),
        expires_ms=int(answer.expiry_timestamp),
    )


def renew_token_at(
    peer: Peer | str, token: Token, *, for_ms: int, within_s: float = ANSWER_WITHIN_S
) -> tuple[str, int]:
    """Have a token expire so long after now: the error, and when that is."""
    request = RenewDelegationTokenRequest(hmac=token.hmac, renew_period=_duration(for_ms))
    answer = ask(peer, request, _Renewed, within_s)
    return named(answer.error_code), int(answer.expiry_timestamp)


def remove_token_at(peer: Peer | str, token: Token, *, within_s: float = ANSWER_WITHIN_S) -> str:
    """Have a token expire at once, which removes it: the error."""
    request = ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period=_duration(_AT_ONCE))
    return named(ask(peer, request, _Expired, within_s).error_code)


def tokens_at(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> tuple[str, dict[str, Token]]:
    """The error, and by their ids all tokens that this broker knows and we may see."""
    answer = ask(peer, DescribeDelegationTokenRequest(owners=None), DescribeDelegationTokenResponse, within_s)
    tokens = {
        each.token_id: Token(
            token_id=each.token_id,
            hmac=each.hmac,
            owner=f"{each.principal_type}:{each.principal_name}",
            requester=f"{each.token_requester_principal_type}:{each.token_requester_principal_name}",
            renewers=tuple(f"{one.principal_type}:{one.principal_name}" for one in each.renewers),
            issued_ms=int(each.issue_timestamp),
            max_ms=int(each.max_timestamp),
            expires_ms=int(each.expiry_timestamp),
        )
        for each in answer.tokens
    }
    return named(answer.error_code), tokens


def logged_in_by(peer: Peer, token: Token) -> Peer:
    """The same broker for somebody who has nothing but the token: its id is the user, its HMAC the password."""
    credential = {"sasl.username": token.token_id, "sasl.password": base64.b64encode(token.hmac).decode()}
    return replace(peer, security={**peer.security, **credential, TOKEN_LOGIN: "true"})


def _duration(milliseconds: int) -> i64Timedelta:
    return i64Timedelta.parse(timedelta(milliseconds=milliseconds))
