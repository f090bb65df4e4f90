"""The names of the document: kinds of members, the group under test and its znodes."""

import enum
from typing import Any

OLD, WITHOUT, WITH, NEW, JAVA = "OZKCC", "MDZKCC", "MEZKCC", "KC", "JKC"
"""Of an older build, without migration, with it, and plain KafkaConsumers: of librdkafka, and of the Java client."""
PLAIN = (NEW, JAVA)


class ActKind(enum.StrEnum):
    """What may be done to a group in a schedule, by the name that its line has."""

    TOGGLE = "toggle"
    BURST = "burst"
    JOIN = "join"
    LEAVE = "leave"
    KILL = "kill"
    FREEZE = "freeze"
    CUT = "cut"
    SLOW = "slow"
    OUTAGE = "outage"
    OLDER = "older"
    PLAIN = "plain"


NAME = "migrating"
BYSTANDER = "bystander"
"""The client id of what a test puts beside the members in Kafka's group."""
TOPIC = "orders"
PARTITIONS = 12
"""Of the topic that tests let the group read."""
ROOT = f"/consumers/{NAME}"
MIGRATION = f"{ROOT}/migration"
MODE = f"{MIGRATION}/mode"
HIDDEN = b"(not readable)"
"""What is recorded of a mode that no member may read."""
IDS = f"{ROOT}/ids"
MIGRATING = f"{MIGRATION}/ids"
OWNERS = f"{ROOT}/owners"
OFFSETS = f"{ROOT}/offsets"

_ROUND_ROBIN = "org.apache.kafka.clients.consumer.RoundRobinAssignor"
"""Settings of Kafka's consumers are spelled as its Java client has them, which the document is about."""
ROUND_ROBIN: dict[str, Any] = {"coordination_migration_partition_assignment_strategy": _ROUND_ROBIN}
"""With it Kafka's coordinator assigns otherwise than ZooKeeper's range: a toggle moves 8 of 12 partitions of three."""
PLAIN_ROUND_ROBIN: dict[str, Any] = {"partition_assignment_strategy": _ROUND_ROBIN}
"""The same of a plain KafkaConsumer."""

SESSION_S = 3.0
"""Session timeouts, of ZooKeeper and of Kafka, that tests choose."""
COMMIT_EVERY_S = 1.0
"""The commit interval that tests choose."""
