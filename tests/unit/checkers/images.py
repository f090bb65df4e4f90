"""A metadata image with something in every family, for tests to take apart."""

from pytest_kmigrate.model.image import MetadataImage

PARTITION = {
    "replicas": [1, 2],
    "isr": [1, 2],
    "leader": 1,
    "leader_epoch": 4,
    "partition_epoch": 7,
    "adding": [],
    "removing": [],
}
FULL = MetadataImage(
    "metadata log",
    topics={"orders": {"id": "x1"}},
    partitions={"orders-0": PARTITION, "orders-1": PARTITION},
    configs={"topic:orders": {"retention.ms": "1"}, "broker:1": {"a": "b"}},
    acls={"Topic:LITERAL:orders": ["User:a|*|READ|ALLOW"]},
    quotas={"user=a": {"producer_byte_rate": 1024.0}},
    scram={"a:SCRAM-SHA-256": {"iterations": 4096, "digest": "d"}},
    delegation_tokens={"t1": {"owner": "User:a"}},
    producer_ids={"next": 1000},
    features={"metadata.version": 20},
)
