"""The gauges of a connector, by their full object names."""

from pytest_kmigrate.documents.kip_125.reference.settings import Settings

_TYPE = "kafka.consumer:type=ZookeeperConsumerConnector"
ACTIVE = f"{_TYPE},name=ActiveKafkaCoordinationCount"


def gauges(settings: Settings, owned: int, kafka_owned: int | None, *, is_kafka: bool) -> dict[str, int]:
    """The values now; a connector without an embedded consumer (``kafka_owned`` is None) has only the old one."""
    tags = f"clientId={settings.client_id},groupId={settings.group}"
    found = {f"{_TYPE},name=OwnedPartitionsCount,{tags}": owned}
    if kafka_owned is None:
        return found
    return {**found, f"{_TYPE},name=KafkaOwnedPartitionsCount,{tags}": kafka_owned, ACTIVE: int(is_kafka)}
