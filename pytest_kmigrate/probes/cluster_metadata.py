"""The brokers' side of the metadata: what an admin client is told.

Mind: a broker in ZooKeeper mode answers describe calls for configs, ACLs and credentials from ZooKeeper, also in hybrid
mode. Only brokers already in KRaft mode are a third opinion.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ClusterMetadata,
    ConfigResource,
    ConfigSource,
    ResourcePatternType,
    ResourceType,
)

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.probes import image_spelling as spelling
from pytest_kmigrate.redaction import HIDDEN, shown

_METADATA_WITHIN_S = 9.0
_ATTEMPT_S = 2.0
"""How long one question may wait.

librdkafka puts some to the controller that the metadata name, which in hybrid mode is any listed broker, dead ones
included; asking again after fresh metadata finds another.
"""
# librdkafka's own codes have an underscore although they are public
_LOCAL = (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._UNSUPPORTED_FEATURE)  # noqa: SLF001
_TRANSIENT = frozenset({*_LOCAL[:2], KafkaError.REQUEST_TIMED_OUT})
_GONE = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.UNKNOWN_TOPIC_ID})
_UNANSWERED = frozenset(
    {
        KafkaError.SECURITY_DISABLED,
        _LOCAL[2],
        KafkaError.UNSUPPORTED_VERSION,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    }
)
_ACL_RESOURCES = {  # librdkafka calls Kafka's CLUSTER "BROKER", and numbers both otherwise than Kafka does
    "TOPIC": "Topic",
    "GROUP": "Group",
    "BROKER": "Cluster",
    "TRANSACTIONAL_ID": "TransactionalId",
}
_TOPIC = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
_BROKER = ConfigSource.DYNAMIC_BROKER_CONFIG.value


def image_from_admin(cluster: Mapping[str, str] | AdminClient, *, within_s: float = 15.0) -> MetadataImage:
    """Configs, ACLs and SCRAM credentials that brokers tell; ``cluster`` is a client, or librdkafka properties.

    SCRAM credentials have iterations only, and a sensitive config is ``[hidden]``: compare the keys that both sides
    have, and let ``[hidden]`` equal anything.
    ``extra`` holds ``brokers`` (ids listed) and ``silent_brokers``, whose own configs are missing: in hybrid mode a
    ZooKeeper-mode broker goes on listing one that is long dead (3.6.0 and 3.9.1).
    ACLs are unknown without authorizer. What every broker must be asked for by itself, and what this client cannot ask
    for, ``running.broker_images`` adds.
    """
    asking = _Asking(_client(cluster) if isinstance(cluster, Mapping) else cluster, within_s)
    metadata = asking.metadata()
    brokers = sorted(metadata.brokers)
    configs, silent = asking.configs(brokers, sorted(metadata.topics))
    acls, scram = asking.acls(), asking.scram()
    answered = {"acls": acls is not None, "scram": scram is not None}
    return MetadataImage(
        source="admin",
        known=("configs", *(family for family, known in answered.items() if known)),
        configs=configs,
        acls=acls or {},
        scram=scram or {},
        extra={"brokers": brokers, "silent_brokers": silent},
    )


def partition_leaders(connection: Mapping[str, str]) -> dict[tuple[str, int], int]:
    """The leader of every partition as brokers tell it, -1 for none; one metadata request, nothing else."""
    metadata = _Asking(_client(connection), _METADATA_WITHIN_S).metadata()
    return {
        (name, partition.id): partition.leader
        for name, topic in metadata.topics.items()
        for partition in topic.partitions.values()
    }


def _client(connection: Mapping[str, str]) -> AdminClient:
    # log_level 2: librdkafka would print every refused connection of a broker that was killed on purpose
    return AdminClient({"log_level": 2, **connection})


class _Asking:
    """One admin client and the patience it is given."""

    def __init__(self, admin: AdminClient, within_s: float) -> None:
        self._admin = admin
        self._within_s = within_s
        self._attempt_s = min(_ATTEMPT_S, within_s)

    def metadata(self) -> ClusterMetadata:
        deadline = time.monotonic() + self._within_s
        while True:
            try:
                return self._admin.list_topics(timeout=self._attempt_s)
            except KafkaException as error:
                if not _is_transient(error) or time.monotonic() >= deadline:
                    raise _cluster_error("the list of topics", error) from error

    def configs(self, brokers: Iterable[int], topics: Iterable[str]) -> tuple[dict[str, dict[str, str]], list[int]]:
        """The dynamic configs, and the brokers that did not tell theirs."""
        found: dict[str, dict[str, str]] = {}
        silent: list[int] = []
        resources = [ConfigResource(ConfigResource.Type.TOPIC, topic) for topic in topics]
        if resources:
            _add_dynamic(found, self._all("topic configs", self._ask_configs(resources)))
        for broker in brokers:  # librdkafka asks the broker itself, and takes one broker per call
            resource = ConfigResource(ConfigResource.Type.BROKER, str(broker))
            try:
                _add_dynamic(found, self._all("broker configs", self._ask_configs([resource]), within_s=0))
            except AwaitTimeoutError:
                silent.append(broker)
        return {key: dict(sorted(values.items())) for key, values in sorted(found.items())}, silent

    def _ask_configs(self, resources: list[ConfigResource]) -> Callable[[], dict[Any, "Future[Any]"]]:
        return lambda: self._admin.describe_configs(resources, request_timeout=self._attempt_s)

    def acls(self) -> dict[str, list[str]] | None:
        """None when the cluster has no authorizer."""
        of_any: Any = None  # the filter takes None for "any", which its own types do not say
        anything = AclBindingFilter(
            ResourceType.ANY, of_any, ResourcePatternType.ANY, of_any, of_any, AclOperation.ANY, AclPermissionType.ANY
        )
        asked = self._one("ACLs", lambda: self._admin.describe_acls(anything, request_timeout=self._attempt_s))
        if asked is None:
            return None
        found: dict[str, list[str]] = {}
        for binding in asked:
            found.setdefault(_acl_key(binding), []).append(_acl_entry(binding))
        return spelling.sorted_acls(found)

    def scram(self) -> dict[str, dict[str, object]] | None:
        """None when the brokers do not answer this."""
        asked = self._one(
            "SCRAM users", lambda: self._admin.describe_user_scram_credentials(request_timeout=self._attempt_s)
        )
        if asked is None:
            return None
        return {
            f"{user}:{spelling.scram_mechanism(credential.mechanism.value)}": {"iterations": credential.iterations}
            for user, description in sorted(asked.items())
            for credential in description.scram_credential_infos
        }

    def _one(self, what: str, ask: Callable[[], Any]) -> Any:
        return self._all(what, lambda: {what: ask()})[what]

    def _all(
        self, what: str, ask: Callable[[], Mapping[Any, "Future[Any]"]], within_s: float | None = None
    ) -> dict[Any, Any]:
        """Every answer; None for a topic that has gone meanwhile and for a question these brokers do not answer."""
        limit_s = self._within_s if within_s is None else within_s
        deadline = time.monotonic() + limit_s
        while True:
            try:
                return {key: self._answer(future) for key, future in ask().items()}
            except KafkaException as error:
                if not _is_transient(error):
                    raise _cluster_error(what, error) from error
                last_seen: object = error.args[0]
            except FutureTimeoutError:
                last_seen = "no answer"
            if time.monotonic() >= deadline:
                raise AwaitTimeoutError(f"the brokers' answer about {what}", limit_s, last_seen)
            self.metadata()

    def _answer(self, future: "Future[Any]") -> Any:
        try:
            return future.result(self._attempt_s + 1)
        except KafkaException as error:
            if error.args[0].code() in _GONE | _UNANSWERED:
                return None
            raise


def _is_transient(error: KafkaException) -> bool:
    return error.args[0].code() in _TRANSIENT


def _cluster_error(what: str, error: KafkaException) -> ClusterError:
    return ClusterError(
        f"expected the brokers to tell {what}, got {error.args[0].str()}; "
        f"check the bootstrap list, the security settings and that a broker is up"
    )


def _add_dynamic(found: dict[str, dict[str, str]], answers: Mapping[ConfigResource, Mapping[str, Any] | None]) -> None:
    """Add what was set at run time on the resource itself."""
    for resource, entries in answers.items():
        kind, source = ("topic", _TOPIC) if resource.restype == ConfigResource.Type.TOPIC else ("broker", _BROKER)
        for entry in (entries or {}).values():
            if entry.source == source:
                value = HIDDEN if entry.value is None else shown(entry.name, entry.value)
                found.setdefault(spelling.config_key(kind, resource.name), {})[entry.name] = value


def _acl_key(binding: Any) -> str:
    resource = _ACL_RESOURCES.get(binding.restype.name, binding.restype.name)
    return spelling.acl_key(resource, binding.resource_pattern_type.name, binding.name)


def _acl_entry(binding: Any) -> str:
    operation, permission = (
        spelling.camel_case(member.name) for member in (binding.operation, binding.permission_type)
    )
    return spelling.acl_entry(binding.principal, binding.host, operation, permission)
