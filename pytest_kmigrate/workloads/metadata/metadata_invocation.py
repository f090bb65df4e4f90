"""Carries out changes of metadata on a live cluster and says how each ended."""

import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from confluent_kafka.cimpl import NewPartitions, NewTopic

from pytest_kmigrate.distributions.steady_clients import forgets_brokers
from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError, WrongUseError
from pytest_kmigrate.model.event import Event, Recorder
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.refusals import NOT_CONNECTED
from pytest_kmigrate.redaction import shown
from pytest_kmigrate.waiting import NotYet, answered, until
from pytest_kmigrate.wire.admin import BROKER_RESOURCE, AclToRemove, alter_config_at, alter_quota_at, remove_acl_at
from pytest_kmigrate.wire.request import UnsupportedRequestError, first_answering, peers
from pytest_kmigrate.wire.tokens import Token, create_token_at, remove_token_at, renew_token_at
from pytest_kmigrate.workloads.clients.client_properties import QUICK_FAILOVER
from pytest_kmigrate.workloads.clients.outcomes import error_name, request_outcome
from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange

DEFAULT = "<default>"
QUOTA_SUBJECT = re.compile(r"(?:user=(?P<user>.+?))?(?:(?:^|,)client-id=(?P<client>.+))?|ip=(?P<ip>.+)")

UNKNOWN_TOKEN = "DELEGATION_TOKEN_NOT_FOUND"  # noqa: S105 - an error's name

GRACE_S = 2
"""How much longer than the request's own timeout its future is waited for."""


@dataclass(frozen=True)
class Completion:
    """How a change ended; ``error`` is Kafka's name, empty when it was done."""

    outcome: OperationOutcome
    error: str = ""


class MetadataAdmin:
    """Carries out MetadataChanges, each within ``within_s``; ``connection`` holds librdkafka properties."""

    def __init__(self, connection: Mapping[str, str], within_s: float = 10) -> None:
        self._within_s = within_s
        self._timeouts = {"request_timeout": within_s}
        self.peers = peers(connection)
        """The brokers, for requests of one's own."""
        self._tokens: dict[str, Token] = {}
        self._properties = {**QUICK_FAILOVER, **connection, "socket.timeout.ms": int(within_s * 1000)}
        self._admin = AdminClient(self._properties)
        self._ways: Mapping[str, Callable[[MetadataChange], str]] = {
            "create-topic": self._create_topic,
            "delete-topic": self._delete_topic,
            "add-partitions": self._add_partitions,
            "alter-config": self._alter_config,
            "set-acl": self._set_acl,
            "remove-acl": self._remove_acl,
            "set-quota": self._set_quota,
            "set-scram": self._set_scram,
            "remove-scram": self._remove_scram,
            "create-token": self._create_token,
            "renew-token": self._renew_token,
            "remove-token": self._remove_token,
        }

    def invoke(self, change: MetadataChange) -> Completion:
        """Carry out one change; a missing answer is INDEFINITE, as is one that says that it was made before."""
        if forgets_brokers():
            self._admin = AdminClient(self._properties)
        try:
            error = self._ways[change.change](change)
        except KafkaException as refused:
            error = error_name(refused.args[0])
        except (AwaitTimeoutError, FutureTimeoutError):
            error = "_TIMED_OUT"
        except UnsupportedRequestError:
            error = "_UNSUPPORTED_FEATURE"
        except ClusterError:
            error = NOT_CONNECTED
        return Completion(request_outcome(error, change.change), "" if error == "NONE" else error)

    def record(self, change: MetadataChange, recorder: Recorder) -> Completion:
        """Carry out one change and write it down."""
        began_ns = recorder.now_ns()
        completion = self.invoke(change)
        recorded(recorder, self._as_made(change), completion, began_ns)
        return completion

    def _as_made(self, change: MetadataChange) -> MetadataChange:
        """The change with what Kafka chose: a token's id, and when it expires."""
        token = self._tokens.get(change.subject) if change.change.endswith("-token") else None
        if token is None:
            return change
        reported = {"owner": token.owner, "renewers": sorted(token.renewers), "expires_ms": token.expires_ms}
        return replace(change, subject=token.token_id, wanted={} if change.change == "remove-token" else reported)

    def _done(self, futures: Mapping[Any, Future[Any]]) -> str:
        for future in futures.values():
            answered(future, awaited="an answer to a change of metadata", within_s=self._within_s + GRACE_S)
        return ""

    def _create_topic(self, change: MetadataChange) -> str:
        partitions, replication = _number(change, "partitions"), _number(change, "replication")
        topic = NewTopic(change.subject, num_partitions=partitions, replication_factor=replication)
        return self._done(
            self._admin.create_topics([topic], operation_timeout=self._within_s, request_timeout=self._within_s)
        )

    def _delete_topic(self, change: MetadataChange) -> str:
        return self._done(
            self._admin.delete_topics(
                [change.subject], operation_timeout=self._within_s, request_timeout=self._within_s
            )
        )

    def _add_partitions(self, change: MetadataChange) -> str:
        grown = NewPartitions(change.subject, _number(change, "partitions"))
        return self._done(
            self._admin.create_partitions([grown], operation_timeout=self._within_s, request_timeout=self._within_s)
        )

    def _alter_config(self, change: MetadataChange) -> str:
        kind, _, name = change.subject.partition(":")
        wanted = {key: None if value is None else str(value) for key, value in change.wanted.items()}
        if name == DEFAULT:
            # librdkafka takes the name for a broker's number and refuses the empty one.
            peer = first_answering(self.peers)
            return alter_config_at(peer, BROKER_RESOURCE, "", wanted, within_s=self._within_s)
        entries = [
            ConfigEntry(
                key,
                value or "",
                incremental_operation=AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET,
            )
            for key, value in wanted.items()
        ]
        resource = ConfigResource(ResourceType[kind.upper()], name, incremental_configs=entries)
        return self._done(self._admin.incremental_alter_configs([resource], **self._timeouts))

    def _set_acl(self, change: MetadataChange) -> str:
        return self._done(self._admin.create_acls([AclBinding(*_acl(change))], **self._timeouts))

    def _remove_acl(self, change: MetadataChange) -> str:
        numbers = (each.value if isinstance(each, Enum) else each for each in _acl(change))
        return remove_acl_at(first_answering(self.peers), AclToRemove(*numbers), within_s=self._within_s)

    def _set_quota(self, change: MetadataChange) -> str:
        wanted = {key: None if value is None else float(str(value)) for key, value in change.wanted.items()}
        peer = first_answering(self.peers)
        return alter_quota_at(peer, quota_entity(change.subject), wanted, within_s=self._within_s)

    def _set_scram(self, change: MetadataChange) -> str:
        user, _, mechanism = change.subject.rpartition(":")
        info = ScramCredentialInfo(_mechanism(mechanism), _number(change, "iterations"))
        # The password opens nothing: it belongs to a user that exists only to be migrated.
        upsertion = UserScramCredentialUpsertion(user, info, f"password of {user}".encode())
        return self._done(self._admin.alter_user_scram_credentials([upsertion], **self._timeouts))

    def _remove_scram(self, change: MetadataChange) -> str:
        user, _, mechanism = change.subject.rpartition(":")
        deletion = UserScramCredentialDeletion(user, _mechanism(mechanism))
        return self._done(self._admin.alter_user_scram_credentials([deletion], **self._timeouts))

    def _create_token(self, change: MetadataChange) -> str:
        owner, renewers = change.wanted["owner"], change.wanted["renewers"]
        error, token = create_token_at(
            first_answering(self.peers),
            renewers if isinstance(renewers, list) else (),
            owner=None if owner is None else str(owner),
            within_s=self._within_s,
        )
        if token is not None:
            self._tokens[change.subject] = token
        return error

    def _renew_token(self, change: MetadataChange) -> str:
        def ask(peer: Peer, token: Token) -> str:
            error, expires_ms = renew_token_at(peer, token, for_ms=_number(change, "for_ms"), within_s=self._within_s)
            if error == "NONE":
                self._tokens[change.subject] = replace(token, expires_ms=expires_ms)
            return error

        return self._of_token(change, ask)

    def _remove_token(self, change: MetadataChange) -> str:
        return self._of_token(change, lambda peer, token: remove_token_at(peer, token, within_s=self._within_s))

    def _of_token(self, change: MetadataChange, ask: Callable[[Peer, Token], str]) -> str:
        """Ask until the controller knows the token: a KRaft one does a little later than it answers that it made it."""
        peer, token = first_answering(self.peers), self._tokens.get(change.subject)
        if token is None:
            return UNKNOWN_TOKEN

        def answer() -> str | NotYet:
            error = ask(peer, token)
            return NotYet(error) if error == UNKNOWN_TOKEN else error

        return until(answer, awaited=f"token {token.token_id} known to the controller", within_s=self._within_s)


def recorded(
    recorder: Recorder, change: MetadataChange, completion: Completion, began_ns: int, node: str | None = None
) -> Event:
    """Write down a change that ended; a password that was set is recorded by its digest, as in images.

    ``node``: the one that alone was asked; None: whichever a client chose.
    """
    outcome = completion.outcome.name.lower()
    changed = MetadataChanged(change.change, change.subject, _shown(change), outcome, completion.error, began_ns)
    return recorder.record(changed, node)


def _shown(change: MetadataChange) -> dict[str, object]:
    if change.change != "alter-config":
        return dict(change.wanted)
    return {key: value if value is None else shown(key, str(value)) for key, value in change.wanted.items()}


def quota_entity(subject: str) -> dict[str, str | None]:
    """The parts of "user=a,client-id=<default>" by their kind, None for a default; a user may contain "=" and ","."""
    match = QUOTA_SUBJECT.fullmatch(subject)
    parts = {"user": match["user"], "client-id": match["client"], "ip": match["ip"]} if match else {}
    entity = {kind: None if name == DEFAULT else name for kind, name in parts.items() if name}
    if not entity:
        raise WrongUseError(f"quota of {subject!r}: expected user=…, client-id=…, both in this order, or ip=…")
    return entity


def _acl(change: MetadataChange) -> tuple[Any, ...]:
    kind, pattern, name = change.subject.split(":", 2)
    principal, host, operation, permission = str(change.wanted["binding"]).split("|")
    return (
        ResourceType[kind.upper()],
        name,
        ResourcePatternType[pattern],
        principal,
        host,
        AclOperation[operation.upper()],
        AclPermissionType[permission.upper()],
    )


def _mechanism(name: str) -> ScramMechanism:
    return ScramMechanism[name.replace("-", "_")]


def _number(change: MetadataChange, key: str) -> int:
    return int(str(change.wanted[key]))
