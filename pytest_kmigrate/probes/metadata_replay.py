"""Replay of decoded metadata records into a MetadataImage, as a KRaft node would apply them.

A record is ``{"offset", "type", "data", ...}``, as ``Cluster.metadata_log`` gives them. Records between
BEGIN_TRANSACTION_RECORD and END_TRANSACTION_RECORD count only when the end arrives: a copy that was aborted or cut
short left nothing behind.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pytest_kmigrate import redaction
from pytest_kmigrate.model.image import (
    HeldBack,
    MetadataImage,
    OfLog,
    RecordedMigrationState,
    RegisteredBroker,
    Transaction,
)
from pytest_kmigrate.model.protocols import Record
from pytest_kmigrate.probes import image_spelling as spelling

Place = tuple[str, str]
"""A family of metadata, and a key in it."""

_NO_LEADER_CHANGE = -2
_COPIED = frozenset(
    {
        "TOPIC_RECORD",
        "PARTITION_RECORD",
        "CONFIG_RECORD",
        "ACCESS_CONTROL_ENTRY_RECORD",
        "CLIENT_QUOTA_RECORD",
        "USER_SCRAM_CREDENTIAL_RECORD",
        "DELEGATION_TOKEN_RECORD",
        "PRODUCER_IDS_RECORD",
    }
)
"""What a migration copies. Brokers register, and features are set, before it."""
_PARTS = ("offset", "type", "version", "data")
_ANNOUNCED = (  # how such types begin
    "FEATURE_LEVEL_RECORD",
    "REGISTER_BROKER_RECORD",
    "BROKER_REGISTRATION_CHANGE_RECORD",
    "ZK_MIGRATION_",
)


def image_from_records(records: Iterable[Record]) -> MetadataImage:
    """Return the image after these records; its ``of_log`` has the transactions, registrations and migration states."""
    replay = _Replay()
    for record in records:
        replay.feed(record)
    return replay.image()


def changed_at(records: Iterable[Record]) -> Mapping[Place, Sequence[int]]:
    """By family and key, the offsets at which each place of an image was changed, in the order of the log.

    What a transaction holds back changes it at the transaction's end.
    """
    replay = _Replay()
    for record in records:
        replay.feed(record)
    return replay.touched


class _Replay:
    """The state of a replay; ``feed`` in the order of the log, then ``image``."""

    def __init__(self) -> None:
        self.touched: dict[Place, list[int]] = {}
        self._pending: list[Record] | None = None
        self._counts: Counter[str] = Counter()
        self._discarded: Counter[str] = Counter()
        self._transactions: list[Transaction] = []
        self._held_topics: list[HeldBack] = []
        self._states: list[RecordedMigrationState] = []
        self._outside: Counter[str] = Counter()
        self._begins_with_snapshot = False
        self._brokers: dict[str, RegisteredBroker] = {}
        self._announced: list[Record] = []
        self._unplaced: list[str] = []
        self._last_offset = -1
        self._topics: dict[str, str] = {}
        self._partitions: dict[tuple[str, int], dict[str, Any]] = {}
        self._configs: dict[str, dict[str, str]] = {}
        self._acls: dict[str, tuple[str, str]] = {}
        self._quotas: dict[str, dict[str, float]] = {}
        self._scram: dict[str, dict[str, object]] = {}
        self._tokens: dict[str, dict[str, object]] = {}
        self._block: Record = {}
        self._features: dict[str, int] = {}
        self._appliers: Mapping[str, Callable[[Record, int], None]] = {
            "TOPIC_RECORD": self._topic,
            "REMOVE_TOPIC_RECORD": self._remove_topic,
            "PARTITION_RECORD": self._partition,
            "PARTITION_CHANGE_RECORD": self._partition_change,
            "CONFIG_RECORD": self._config,
            "ACCESS_CONTROL_ENTRY_RECORD": self._acl,
            "REMOVE_ACCESS_CONTROL_ENTRY_RECORD": self._remove_acl,
            "CLIENT_QUOTA_RECORD": self._quota,
            "USER_SCRAM_CREDENTIAL_RECORD": self._credential,
            "REMOVE_USER_SCRAM_CREDENTIAL_RECORD": self._remove_credential,
            "DELEGATION_TOKEN_RECORD": self._token,
            "REMOVE_DELEGATION_TOKEN_RECORD": self._remove_token,
            "PRODUCER_IDS_RECORD": self._next_producer_id,
            "FEATURE_LEVEL_RECORD": self._feature,
            "ZK_MIGRATION_STATE_RECORD": self._migration_state,
            "REGISTER_BROKER_RECORD": self._broker,
            "UNREGISTER_BROKER_RECORD": self._remove_broker,
            "BROKER_REGISTRATION_CHANGE_RECORD": self._broker_change,
            "FENCE_BROKER_RECORD": self._fence,
            "UNFENCE_BROKER_RECORD": self._unfence,
        }

    def feed(self, record: Record) -> None:
        kind = record["type"]
        self._counts[kind] += 1
        self._announced += [{key: record.get(key) for key in _PARTS}] if kind.startswith(_ANNOUNCED) else []
        self._last_offset = max(self._last_offset, record["offset"])
        self._begins_with_snapshot |= bool(record.get("snapshot"))
        if kind in ("BEGIN_TRANSACTION_RECORD", "END_TRANSACTION_RECORD", "ABORT_TRANSACTION_RECORD"):
            self._transaction(kind.split("_")[0].lower(), record)
        elif self._pending is not None:
            self._pending.append(record)
        else:
            self._outside.update([kind] if kind in _COPIED else [])
            self._apply(record)

    def _transaction(self, event: str, record: Record) -> None:
        name = record["data"].get("name") or record["data"].get("reason") or ""
        reported: Transaction = {"offset": record["offset"], "event": event, "name": name}
        self._transactions.append(reported)
        pending, self._pending = self._pending or [], [] if event == "begin" else None
        if event == "end":
            copied = Counter(held_back["type"] for held_back in pending if held_back["type"] in _COPIED)
            reported["copied"] = dict(sorted(copied.items()))
        topics = [held_back["offset"] for held_back in pending if held_back["type"] == "TOPIC_RECORD"]
        if topics:
            self._held_topics.append({"first": topics[0], "until": record["offset"], "event": event})
        if event == "end":
            for held_back in pending:
                self._apply(held_back)
        else:  # an abort; or a begin inside a transaction, which no healthy log has and which ends the earlier one
            self._discarded.update(held_back["type"] for held_back in pending)

    def _apply(self, record: Record) -> None:
        applier = self._appliers.get(record["type"])
        if applier is not None:
            applier(record["data"], record["offset"])

    def image(self) -> MetadataImage:
        """The image of what was fed so far; a transaction still open counts as discarded."""
        unfinished = Counter(record["type"] for record in self._pending or ())
        acls: dict[str, list[str]] = {}
        for key, entry in self._acls.values():
            acls.setdefault(key, []).append(entry)
        return MetadataImage(
            source="metadata-log",
            topics={name: {"id": topic_id} for topic_id, name in sorted(self._topics.items(), key=lambda at: at[1])},
            partitions={f"{self._topics[at[0]]}-{at[1]}": value for at, value in self._partitions.items()},
            configs={key: dict(sorted(value.items())) for key, value in sorted(self._configs.items()) if value},
            acls=spelling.sorted_acls(acls),
            quotas={key: value for key, value in sorted(self._quotas.items()) if value},
            scram=dict(sorted(self._scram.items())),
            delegation_tokens=dict(sorted(self._tokens.items())),
            producer_ids={"next": self._block["nextProducerId"]} if self._block else {},
            features=self._features,
            extra=OfLog(
                migration_states=self._states,
                record_counts=dict(sorted(self._counts.items())),
                discarded_record_counts=dict(sorted((self._discarded + unfinished).items())),
                brokers=self._brokers,
                announced=self._announced,
                transactions=self._transactions,
                topics_held_back=self._held_topics,
                in_transaction=self._pending is not None,
                unplaced=self._unplaced,
                begins_with_snapshot=self._begins_with_snapshot,
                last_offset=self._last_offset,
            ),
        )

    def _touch(self, family: str, key: str) -> None:
        self.touched.setdefault((family, key), []).append(self._last_offset)

    def _topic(self, data: Record, offset: int) -> None:
        """A topic may come again under the same id: where there are no transactions, a copy begun anew repeats it."""
        is_repeated = self._topics.get(data["topicId"]) == data["name"]
        if data["name"] in self._topics.values() and not is_repeated:
            self._unplaced.append(
                f"offset {offset}: topic {data['name']} exists already, now with id {data['topicId']}"
            )
        self._topics[data["topicId"]] = data["name"]
        self._touch("topics", data["name"])

    def _remove_topic(self, data: Record, offset: int) -> None:
        name = self._topics.pop(data["topicId"], None)
        if name is None:
            self._unplaced.append(f"offset {offset}: removal of unknown topic id {data['topicId']}")
            return
        for each in [at for at in self._partitions if at[0] == data["topicId"]]:
            del self._partitions[each]
            self._touch("partitions", f"{name}-{each[1]}")
        self._configs.pop(spelling.config_key("topic", name), None)
        self._touch("topics", name)
        self._touch("configs", spelling.config_key("topic", name))

    def _partition(self, data: Record, offset: int) -> None:
        if data["topicId"] not in self._topics:
            self._unplaced.append(f"offset {offset}: partition {data['partitionId']} of unknown id {data['topicId']}")
            return
        self._touch("partitions", f"{self._topics[data['topicId']]}-{data['partitionId']}")
        self._partitions[data["topicId"], data["partitionId"]] = {
            "replicas": list(data["replicas"]),
            "isr": sorted(data["isr"]),
            "leader": data["leader"],
            "leader_epoch": data["leaderEpoch"],
            "partition_epoch": data["partitionEpoch"],
            "adding": sorted(data.get("addingReplicas") or ()),
            "removing": sorted(data.get("removingReplicas") or ()),
        }

    def _partition_change(self, data: Record, offset: int) -> None:
        """Absent fields mean no change; every change raises the partition epoch, naming a leader raises its epoch."""
        partition = self._partitions.get((data["topicId"], data["partitionId"]))
        if partition is None:
            self._unplaced.append(f"offset {offset}: change of unknown {data['topicId']}-{data['partitionId']}")
            return
        self._touch("partitions", f"{self._topics[data['topicId']]}-{data['partitionId']}")
        if data.get("replicas") is not None:
            partition["replicas"] = list(data["replicas"])
        for name, field in (("isr", "isr"), ("adding", "addingReplicas"), ("removing", "removingReplicas")):
            if data.get(field) is not None:
                partition[name] = sorted(data[field])
        if data.get("leader", _NO_LEADER_CHANGE) != _NO_LEADER_CHANGE:
            partition["leader"] = data["leader"]
            partition["leader_epoch"] += 1
        partition["partition_epoch"] += 1

    def _config(self, data: Record, _: int) -> None:
        key = spelling.config_key_of(data["resourceType"], data["resourceName"])
        values = self._configs.setdefault(key, {})
        self._touch("configs", key)
        if data["value"] is None:
            values.pop(data["name"], None)
        else:
            values[data["name"]] = redaction.shown(data["name"], data["value"])

    def _acl(self, data: Record, _: int) -> None:
        key = spelling.acl_key_of(data["resourceType"], data["patternType"], data["resourceName"])
        entry = spelling.acl_entry_of(data["principal"], data["host"], data["operation"], data["permissionType"])
        self._acls[data["id"]] = (key, entry)
        self._touch("acls", key)

    def _remove_acl(self, data: Record, offset: int) -> None:
        removed = self._acls.pop(data["id"], None)
        if removed is None:
            self._unplaced.append(f"offset {offset}: removal of unknown ACL {data['id']}")
        else:
            self._touch("acls", removed[0])

    def _quota(self, data: Record, _: int) -> None:
        entity = {part["entityType"]: part["entityName"] for part in data["entity"]}
        values = self._quotas.setdefault(spelling.quota_key(entity), {})
        self._touch("quotas", spelling.quota_key(entity))
        if data.get("remove"):
            values.pop(data["key"], None)
        else:
            values[data["key"]] = float(data["value"])

    def _credential(self, data: Record, _: int) -> None:
        digest = data.get("digest") or redaction.scram_digest(data["salt"], data["storedKey"], data["serverKey"])
        key = f"{data['name']}:{spelling.scram_mechanism(data['mechanism'])}"
        self._scram[key] = {"iterations": data["iterations"], "digest": digest}
        self._touch("scram", key)

    def _remove_credential(self, data: Record, _: int) -> None:
        key = f"{data['name']}:{spelling.scram_mechanism(data['mechanism'])}"
        self._scram.pop(key, None)
        self._touch("scram", key)

    def _token(self, data: Record, _: int) -> None:
        self._tokens[data["tokenId"]] = spelling.token_value(
            owner=data["owner"],
            requester=data.get("requester", ""),
            renewers=data["renewers"],
            issued_ms=data["issueTimestamp"],
            max_ms=data["maxTimestamp"],
            expires_ms=data["expirationTimestamp"],
        )

    def _remove_token(self, data: Record, _: int) -> None:
        self._tokens.pop(data["tokenId"], None)

    def _next_producer_id(self, data: Record, _: int) -> None:
        self._block = data

    def _feature(self, data: Record, _: int) -> None:
        self._features.pop(data["name"], None)
        if data["featureLevel"] != 0:
            self._features[data["name"]] = data["featureLevel"]

    def _migration_state(self, data: Record, offset: int) -> None:
        outside = dict(sorted(self._outside.items()))
        self._states.append({"offset": offset, "number": data["zkMigrationState"], "outside": outside})

    def _broker(self, data: Record, offset: int) -> None:
        self._brokers[str(data["brokerId"])] = {
            "is_migrating_zk_broker": bool(data.get("isMigratingZkBroker", False)),
            "fenced": bool(data.get("fenced", True)),
            "epoch": data["brokerEpoch"],
            "offset": offset,
        }

    def _remove_broker(self, data: Record, _: int) -> None:
        self._brokers.pop(str(data["brokerId"]), None)

    def _broker_change(self, data: Record, offset: int) -> None:
        if data.get("fenced", 0) != 0:
            self._set_fenced(data["brokerId"], offset, fenced=data["fenced"] == 1)

    def _fence(self, data: Record, offset: int) -> None:
        self._set_fenced(data["id"], offset, fenced=True)

    def _unfence(self, data: Record, offset: int) -> None:
        self._set_fenced(data["id"], offset, fenced=False)

    def _set_fenced(self, broker: int, offset: int, *, fenced: bool) -> None:
        if str(broker) in self._brokers:
            self._brokers[str(broker)]["fenced"] = fenced
        else:
            self._unplaced.append(f"offset {offset}: change of unknown broker {broker}")
