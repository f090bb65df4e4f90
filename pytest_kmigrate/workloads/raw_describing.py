"""What one chosen broker has of the whole cluster's metadata, by raw requests.

An admin client asks whichever broker it takes, so it cannot tell that another one is behind. Errors are those of
``wire.ask``, and ClusterError when a broker refuses to tell.
"""

import base64
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from kio.schema.api_versions.v3.request import ApiVersionsRequest
from kio.schema.api_versions.v3.response import ApiVersionsResponse
from kio.schema.describe_client_quotas.v1.request import DescribeClientQuotasRequest
from kio.schema.describe_client_quotas.v1.response import DescribeClientQuotasResponse
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v12.request import MetadataRequest
from kio.schema.metadata.v12.response import MetadataResponse

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.workloads.wire import CLIENT_ID, ask, named

Quota = tuple[dict[str, str | None], dict[str, float]]
"""An entity, {"user": "a", "client-id": None} say, where None means the default; and its quotas by their keys."""


@dataclass(frozen=True)
class ToldTopic:
    """One topic in a broker's metadata cache; the id as Kafka writes it."""

    topic_id: str
    partitions: Mapping[int, dict[str, object]]
    """By number: ``replicas``, ``isr`` (sorted), ``leader`` (-1 for none), ``leader_epoch``."""


def all_topics_at(peer: Peer | str, *, within_s: float = 10) -> dict[str, ToldTopic]:
    """Every topic in this broker's metadata cache, by its name."""
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False, include_topic_authorized_operations=False)
    topics = ask(peer, request, MetadataResponse, within_s).topics
    return {
        str(topic.name): ToldTopic(
            _written(topic.topic_id),
            {
                int(each.partition_index): {
                    "replicas": [int(broker) for broker in each.replica_nodes],
                    "isr": sorted(int(broker) for broker in each.isr_nodes),
                    "leader": int(each.leader_id),
                    "leader_epoch": int(each.leader_epoch),
                }
                for each in topic.partitions
            },
        )
        for topic in topics
    }


def quotas_at(peer: Peer | str, *, within_s: float = 10) -> list[Quota]:
    """The quotas of every entity as this broker has them."""
    request = DescribeClientQuotasRequest(components=(), strict=False)
    answer = ask(peer, request, DescribeClientQuotasResponse, within_s)
    _must_be_answered(answer.error_code, "quotas")
    return [
        (
            {part.entity_type: part.entity_name for part in entry.entity},
            {value.key: float(value.value) for value in entry.values},
        )
        for entry in answer.entries or ()
    ]


def features_at(peer: Peer | str, *, within_s: float = 10) -> dict[str, int]:
    """The finalized features, metadata.version among them; a broker in ZooKeeper mode knows of none."""
    request = ApiVersionsRequest(client_software_name=CLIENT_ID, client_software_version="1")
    answer = ask(peer, request, ApiVersionsResponse, within_s)
    _must_be_answered(answer.error_code, "features")
    return {each.name: int(each.max_version_level) for each in answer.finalized_features}


def _must_be_answered(code: ErrorCode, what: str) -> None:
    if code is not ErrorCode.none:
        raise ClusterError(f"expected a broker to tell its {what}; got {named(code)}")


def _written(topic_id: uuid.UUID | None) -> str:
    raw = bytes(16) if topic_id is None else topic_id.bytes
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
