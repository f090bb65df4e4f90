"""Records become the image a KRaft node would hold."""

from typing import Any

import pytest

from pytest_kmigrate.probes.metadata_replay import changed_at, image_from_records
from pytest_kmigrate.providers.metadata_log import redacted_record
from tests.unit.probes.real_data import records

TOPIC = {"name": "t", "topicId": "id-t"}
PARTITION = {
    "partitionId": 0,
    "topicId": "id-t",
    "replicas": [2, 1],
    "isr": [2, 1],
    "removingReplicas": [],
    "addingReplicas": [],
    "leader": 2,
    "leaderEpoch": 5,
    "partitionEpoch": 7,
}


def log(*entries: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Records with offsets from 0, the type given without its ending."""
    return [
        {"offset": offset, "type": f"{kind}_RECORD", "version": 0, "data": data}
        for offset, (kind, data) in enumerate(entries)
    ]


def change(**fields: Any) -> tuple[str, dict[str, Any]]:
    """A change of partition 0."""
    return ("PARTITION_CHANGE", {"partitionId": 0, "topicId": "id-t", **fields})


def config(
    value: str | None, name: str = "retention.ms", kind: int = 2, resource: str = "t"
) -> tuple[str, dict[str, Any]]:
    """A config record."""
    return ("CONFIG", {"resourceType": kind, "resourceName": resource, "name": name, "value": value})


def quota(entity: dict[str, str | None], value: float, *, remove: bool = False) -> tuple[str, dict[str, Any]]:
    """A quota record for producer_byte_rate."""
    parts = [{"entityType": kind, "entityName": name} for kind, name in entity.items()]
    return ("CLIENT_QUOTA", {"entity": parts, "key": "producer_byte_rate", "value": value, "remove": remove})


@pytest.mark.parametrize("ending", [[], [("ABORT_TRANSACTION", {"reason": "crash"})]], ids=["unfinished", "aborted"])
def test_records_of_a_transaction_without_end_do_not_count(ending: list[tuple[str, dict[str, Any]]]) -> None:
    """A copy that was cut short left nothing behind, and its records are counted as discarded."""
    image = image_from_records(log(("BEGIN_TRANSACTION", {"name": "ZK Migration"}), ("TOPIC", TOPIC), *ending))
    assert image.topics == {}
    assert image.of_log["discarded_record_counts"] == {"TOPIC_RECORD": 1}
    assert image.of_log["in_transaction"] is not bool(ending)


def test_records_of_a_finished_transaction_count_at_its_end() -> None:
    """END makes everything since BEGIN true; what stands outside is true at once."""
    entries = log(("BEGIN_TRANSACTION", {"name": "x"}), ("TOPIC", TOPIC), ("END_TRANSACTION", {}))
    assert set(image_from_records(entries).topics) == {"t"}
    assert image_from_records(entries[:2]).topics == {}
    events = image_from_records(entries).of_log["transactions"]
    begin, end = {"offset": 0, "event": "begin", "name": "x"}, {"offset": 2, "event": "end", "name": ""}
    assert events == [begin, {**end, "copied": {"TOPIC_RECORD": 1}}]


def test_metadata_in_a_transaction_is_counted_at_its_end() -> None:
    """Per type; what is not copied by a migration does not count, and what is aborted is never true."""
    begin, end, abort = ("BEGIN_TRANSACTION", {"name": "x"}), ("END_TRANSACTION", {}), ("ABORT_TRANSACTION", {})
    feature = ("FEATURE_LEVEL", {"name": "metadata.version", "featureLevel": 20})
    entries = log(begin, feature, end, begin, ("TOPIC", TOPIC), abort, begin, config("1"), ("TOPIC", TOPIC), end)
    reported = image_from_records(entries).of_log["transactions"]
    assert isinstance(reported, list)
    assert [each.get("copied") for each in reported] == [
        None,
        {},
        None,
        None,
        None,
        {"CONFIG_RECORD": 1, "TOPIC_RECORD": 1},
    ]


def test_topics_in_transactions_are_told_by_where_they_are() -> None:
    """The first one of each transaction and what ended it; one that has no topics, or no end yet, is left out."""
    topic, begin, end = ("TOPIC", TOPIC), ("BEGIN_TRANSACTION", {"name": "x"}), ("END_TRANSACTION", {})
    aborted = [begin, config("1"), topic, topic, ("ABORT_TRANSACTION", {"reason": "y"})]
    entries = log(*aborted, begin, config("2"), end, topic, begin, topic, end, begin, topic)
    assert image_from_records(entries).of_log["topics_held_back"] == [
        {"first": 2, "until": 4, "event": "abort"},
        {"first": 10, "until": 11, "event": "end"},
    ]


def test_a_migration_state_in_an_aborted_transaction_was_never_reached() -> None:
    """Only states whose transaction ended are listed, with their offsets."""
    state = ("ZK_MIGRATION_STATE", {"zkMigrationState": 1})
    aborted = log(("BEGIN_TRANSACTION", {"name": "x"}), state, ("ABORT_TRANSACTION", {"reason": "y"}), state)
    assert image_from_records(aborted).of_log["migration_states"] == [{"offset": 3, "number": 1, "outside": {}}]


def test_a_state_tells_what_came_before_it_outside_of_transactions() -> None:
    """Metadata per type; registrations, what a transaction holds and what comes later do not count."""
    state, topic = ("ZK_MIGRATION_STATE", {"zkMigrationState": 1}), ("TOPIC", TOPIC)
    broker = ("REGISTER_BROKER", {"brokerId": 1, "brokerEpoch": 1})
    copy = [("BEGIN_TRANSACTION", {"name": "x"}), config("1"), state, ("END_TRANSACTION", {})]
    (reported,) = image_from_records(log(broker, topic, *copy, ("PARTITION", PARTITION))).of_log["migration_states"]  # type: ignore[attr-defined]
    assert reported == {"offset": 4, "number": 1, "outside": {"TOPIC_RECORD": 1}}


@pytest.mark.parametrize("snapshot", [True, False])
def test_a_log_without_its_beginning_is_told_as_such(*, snapshot: bool) -> None:
    """What a snapshot covers has lost its transactions."""
    entries = [{**entry, "snapshot": snapshot} for entry in log(("TOPIC", TOPIC))]
    assert image_from_records(entries).of_log["begins_with_snapshot"] is snapshot


def test_a_leader_in_a_change_raises_the_leader_epoch() -> None:
    """Every change raises the partition epoch; only one that names a leader, -1 included, raises the leader epoch."""
    before = [("TOPIC", TOPIC), ("PARTITION", PARTITION)]
    shrunk = image_from_records(log(*before, change(isr=[1]))).partitions["t-0"]
    assert (shrunk["isr"], shrunk["leader"], shrunk["leader_epoch"], shrunk["partition_epoch"]) == ([1], 2, 5, 8)
    offline = image_from_records(log(*before, change(leader=-1), change(leader=-2))).partitions["t-0"]
    assert (offline["leader"], offline["leader_epoch"], offline["partition_epoch"]) == (-1, 6, 9)


def test_a_reassignment_shows_what_is_added_and_removed() -> None:
    """While replicas move they are listed; an empty list ends it."""
    before = [
        ("TOPIC", TOPIC),
        ("PARTITION", PARTITION),
        change(replicas=[3, 2], addingReplicas=[3], removingReplicas=[1]),
    ]
    moving = image_from_records(log(*before)).partitions["t-0"]
    assert (moving["replicas"], moving["adding"], moving["removing"]) == ([3, 2], [3], [1])
    done = image_from_records(log(*before, change(addingReplicas=[], removingReplicas=[]))).partitions["t-0"]
    assert (done["adding"], done["removing"]) == ([], [])


def test_removing_a_topic_removes_its_partitions_and_configs() -> None:
    """A new topic of the same name starts empty."""
    gone = [("TOPIC", TOPIC), ("PARTITION", PARTITION), config("1"), ("REMOVE_TOPIC", {"topicId": "id-t"})]
    image = image_from_records(log(*gone, ("TOPIC", {"name": "t", "topicId": "id-new"})))
    assert image.topics == {"t": {"id": "id-new"}}
    assert image.partitions == {}
    assert image.configs == {}


def test_null_deletes_a_config_and_the_default_broker_has_one_name() -> None:
    """A resource without configs is absent; the empty broker name is the cluster-wide default."""
    assert image_from_records(log(config("1"), config(None))).configs == {}
    assert image_from_records(log(config("1", "a", kind=4, resource=""))).configs == {"broker:<default>": {"a": "1"}}


def test_the_default_entity_is_not_the_entity_with_an_empty_name() -> None:
    """KAFKA-16411: 3.6.0 copies the default user's quota to the user "", who does not exist; images keep both apart."""
    image = image_from_records(log(quota({"client-id": None, "user": None}, 1), quota({"user": ""}, 2)))
    assert set(image.quotas) == {"user=<default>,client-id=<default>", "user="}


def test_a_removed_quota_is_gone() -> None:
    """The last key takes the entity with it."""
    assert image_from_records(log(quota({"user": "a"}, 1), quota({"user": "a"}, 0, remove=True))).quotas == {}


def test_acls_are_removed_by_id_and_a_double_one_stays_visible() -> None:
    """The same entry under two ids is a finding, as when a copy ran twice."""
    binding = {"resourceType": 2, "resourceName": "t", "patternType": 3, "principal": "User:a", "host": "*"}
    entries = [("ACCESS_CONTROL_ENTRY", {**binding, "id": key, "operation": 10, "permissionType": 3}) for key in "xy"]
    assert image_from_records(log(*entries)).acls == {"Topic:LITERAL:t": ["User:a|*|DescribeConfigs|Allow"] * 2}
    removed = image_from_records(log(*entries, *(("REMOVE_ACCESS_CONTROL_ENTRY", {"id": key}) for key in "xy")))
    assert removed.acls == {}
    assert removed.of_log["unplaced"] == []


def test_credentials_are_digested_and_removable() -> None:
    """No part of a credential is in the image, and an image of redacted records is the same one."""
    secret = {"salt": "c2FsdA==", "storedKey": "c3RvcmVk", "serverKey": "c2VydmVy"}
    entries = log(("USER_SCRAM_CREDENTIAL", {"name": "u", "mechanism": 2, "iterations": 4096, **secret}))
    image = image_from_records(entries)
    assert image.scram["u:SCRAM-SHA-512"]["iterations"] == 4096
    assert not any(part in str(image) for part in secret.values())
    redacted_entries = [redacted_record(entry) for entry in entries]
    assert image_from_records(redacted_entries) == image
    assert not any(part in str(redacted_entries) for part in secret.values())
    removal = log(("REMOVE_USER_SCRAM_CREDENTIAL", {"name": "u", "mechanism": 2}))
    assert image_from_records([*entries, *removal]).scram == {}


def test_a_password_config_is_hashed() -> None:
    """Images are built redacted."""
    image = image_from_records(log(config("hunter2", "ssl.key.password", kind=4, resource="1")))
    assert image.configs["broker:1"]["ssl.key.password"].startswith("hidden:")


def test_tokens_producer_ids_and_features_follow_their_last_record() -> None:
    """The later record wins; a feature of level 0 and a removed token are gone."""
    token = {"owner": "User:a", "renewers": ["User:c", "User:b"], "issueTimestamp": 1, "maxTimestamp": 3}
    made = ("DELEGATION_TOKEN", {**token, "requester": "", "expirationTimestamp": 2, "tokenId": "k"})
    ids = [("PRODUCER_IDS", {"brokerId": 1, "brokerEpoch": 1, "nextProducerId": at}) for at in (1000, 2000)]
    levels = [("FEATURE_LEVEL", {"name": "f", "featureLevel": level}) for level in (3, 0)]
    image = image_from_records(log(made, *ids, *levels))
    assert image.delegation_tokens["k"]["renewers"] == ["User:b", "User:c"]
    assert image.delegation_tokens["k"]["requester"] == "User:a"
    assert image.producer_ids == {"next": 2000}
    assert image.features == {}
    assert image_from_records(log(made, ("REMOVE_DELEGATION_TOKEN", {"tokenId": "k"}))).delegation_tokens == {}


def test_features_registrations_and_states_are_kept_as_they_are() -> None:
    """Checks read versions and fields of them that no image holds."""
    entries = log(
        ("FEATURE_LEVEL", {"name": "metadata.version", "featureLevel": 21}),
        ("NO_OP", {}),
        ("ZK_MIGRATION_STATE", {"zkMigrationState": 2}),
        ("REGISTER_BROKER", {"brokerId": 0, "brokerEpoch": 3, "features": []}),
        ("BROKER_REGISTRATION_CHANGE", {"brokerId": 0, "brokerEpoch": 3, "fenced": 0, "inControlledShutdown": 1}),
    )
    announced = image_from_records(entries).of_log["announced"]
    assert announced == [
        {key: entries[at].get(key) for key in ("offset", "type", "version", "data")} for at in (0, 2, 3, 4)
    ]


def test_brokers_are_fenced_and_unfenced_in_every_releases_way() -> None:
    """Older releases have records of their own for it, newer ones a registration change."""
    register = ("REGISTER_BROKER", {"brokerId": 1, "brokerEpoch": 9, "isMigratingZkBroker": True, "fenced": True})
    for unfence in (
        ("UNFENCE_BROKER", {"id": 1, "epoch": 9}),
        ("BROKER_REGISTRATION_CHANGE", {"brokerId": 1, "fenced": -1}),
    ):
        broker = image_from_records(log(register, unfence)).of_log["brokers"]["1"]  # type: ignore[index]
        assert broker == {"is_migrating_zk_broker": True, "fenced": False, "epoch": 9, "offset": 0}
    assert image_from_records(log(register, ("UNREGISTER_BROKER", {"brokerId": 1}))).of_log["brokers"] == {}


@pytest.mark.parametrize(
    "entry",
    [
        change(isr=[1]),
        ("REMOVE_TOPIC", {"topicId": "nobody"}),
        ("PARTITION", {**PARTITION, "topicId": "nobody"}),
        ("REMOVE_ACCESS_CONTROL_ENTRY", {"id": "nobody"}),
        ("FENCE_BROKER", {"id": 4, "epoch": 1}),
    ],
)
def test_a_change_to_what_does_not_exist_is_a_finding_not_a_crash(entry: tuple[str, dict[str, Any]]) -> None:
    """A damaged log is evidence: the replay names the offset and goes on."""
    image = image_from_records(log(entry, ("TOPIC", TOPIC)))
    assert len(image.of_log["unplaced"]) == 1
    assert set(image.topics) == {"t"}


def test_a_topic_copied_twice_is_a_finding() -> None:
    """Two ids for one name, as when the initial copy runs twice (KAFKA-15263)."""
    image = image_from_records(log(("TOPIC", TOPIC), ("TOPIC", {"name": "t", "topicId": "id-2"})))
    assert len(image.of_log["unplaced"]) == 1  # type: ignore[arg-type]


def test_a_topic_that_is_repeated_under_its_id_is_none() -> None:
    """Without transactions a copy that begins anew writes it again."""
    assert image_from_records(log(("TOPIC", TOPIC), ("TOPIC", TOPIC))).of_log["unplaced"] == []


def test_a_real_log_of_3_9_1() -> None:
    """The migration of a filled cluster: states 2 then 1, both transactions ended, nothing unplaced."""
    image = image_from_records(records("3.9.1"))
    assert [state["number"] for state in image.of_log["migration_states"]] == [2, 1]  # type: ignore[attr-defined]
    assert [event["event"] for event in image.of_log["transactions"]] == ["begin", "end"] * 2  # type: ignore[attr-defined]
    assert image.of_log["unplaced"] == []
    assert image.features == {"metadata.version": 21}
    assert image.of_log["brokers"]["2"]["fenced"] is True  # type: ignore[index]
    assert image.partitions["moving-0"]["leader"] == -1
    assert "gone" not in image.topics


def test_each_place_has_the_offsets_of_its_changes() -> None:
    """Also of what is gone; a transaction changes things at its end."""
    acl = {"resourceType": 2, "patternType": 3, "resourceName": "t", "principal": "User:a", "host": "*"}
    records = log(
        ("BEGIN_TRANSACTION", {"name": "ZK Migration"}),
        ("TOPIC", TOPIC),
        ("PARTITION", PARTITION),
        ("END_TRANSACTION", {}),
        change(isr=[2]),
        config("7"),
        ("ACCESS_CONTROL_ENTRY", {"id": "acl-1", "operation": 3, "permissionType": 3, **acl}),
        quota({"user": "a"}, 7.0),
        ("USER_SCRAM_CREDENTIAL", {"name": "a", "mechanism": 2, "iterations": 4096, "digest": "d"}),
        ("NO_OP", {}),
        ("REMOVE_ACCESS_CONTROL_ENTRY", {"id": "acl-1"}),
        ("REMOVE_USER_SCRAM_CREDENTIAL", {"name": "a", "mechanism": 2}),
        ("REMOVE_TOPIC", {"topicId": "id-t"}),
    )
    assert changed_at(records) == {
        ("topics", "t"): [3, 12],
        ("partitions", "t-0"): [3, 4, 12],
        ("configs", "topic:t"): [5, 12],
        ("acls", "Topic:LITERAL:t"): [6, 10],
        ("quotas", "user=a"): [7],
        ("scram", "a:SCRAM-SHA-512"): [8, 11],
    }
