"""Facts about the mistakes of operators that messages give advice for."""

import pytest

from pytest_kmigrate.catalogue.mistakes import advice, general_mistakes, mistakes
from pytest_kmigrate.catalogue.places import profiles

SHOWN = {
    "authorizer-of-zookeeper-mode": 'java.lang.NullPointerException: Cannot invoke "String.indexOf(String)" because '
    '"connectString" is null',
    "controllers-without-authorizer": "SecurityDisabledException: No Authorizer is configured.",
    "controllers-started-without-the-flag": "java.lang.RuntimeException: Should not have ZK migrations enabled on a "
    "cluster that was created in KRaft mode.",
    "flag-missing": "controller-3000 runs without zookeeper.metadata.migration.enable=true",
    "controllers-without-zookeeper": "If using `zookeeper.metadata.migration.enable` in KRaft mode, "
    "`zookeeper.connect` must also be set.",
    "another-zookeeper": "controller-3000 runs with another zookeeper.connect than the cluster's: a:1, not b:1",
    "old-migration-znode": "RuntimeException: Check op on KRaft Migration ZNode failed. Sent zkVersion = 3.",
    "another-cluster-id": "InconsistentClusterIdException: The Cluster ID x doesn't match stored clusterId Some(y)",
    "not-formatted": "RuntimeException: No `meta.properties` found in /disk (have you run `kafka-storage.sh`?)",
    "inter-broker-protocol-missing": "requirement failed: Cannot enable ZooKeeper migration without setting "
    "'inter.broker.protocol.version' to 3.4 or higher",
    "several-log-directories-too-early": "requirement failed: Cannot enable ZooKeeper migration with multiple log "
    "directories (aka JBOD) without setting 'inter.broker.protocol.version' to 3.7 or higher",
    "metadata-version-too-old": "Should not have ZK migrations enabled on a cluster running metadata.version 3.0-IV1",
    "generated-broker-ids": "broker.id generation is incompatible with ZooKeeper migration. Please stop using it",
    "quorum-missing": "If using zookeeper.metadata.migration.enable, either controller.quorum.bootstrap.servers must",
}


def test_each_mistake_is_known_by_kafkas_own_words_and_no_other_is() -> None:
    """The words are those of the jars of Kafka 3.9.1; advice for another mistake would lead astray."""
    known = {each.id: each for each in mistakes("kip-866")}
    assert known.keys() - {each.id for each in general_mistakes()} <= SHOWN.keys() <= known.keys()
    for name, text in SHOWN.items():
        assert advice("kip-866", f"broker-1 died with exit code 1: ERROR x / {text}") == [known[name].advice]


def test_each_advice_is_one_sentence_that_names_what_to_use() -> None:
    """A property, a znode or a tool."""
    words = (".enable", ".connect", "kafka-storage.sh", "class.name", "version", "/migration", "voters", "node.id")
    of_groups = ("session.timeout.ms", "partition.assignment.strategy", "offsets.storage")
    for profile in profiles():
        for each in mistakes(profile):
            assert each.advice.endswith(".")
            assert ". " not in each.advice
            assert any(word in each.advice for word in (*words, *of_groups))


def test_other_messages_and_other_documents_get_none() -> None:
    """A mistake of a migration shows in no other document but its draft."""
    assert advice("kip-866", "broker-1 ready: not within 180 s; last seen: no answer yet") == []
    assert advice("kip-125", SHOWN["flag-missing"]) == []
    assert advice("kip-866-draft", SHOWN["flag-missing"]) == advice("kip-866", SHOWN["flag-missing"])


OF_ANY_CLUSTER = {
    "quorum-dropped": "If using process.roles, either controller.quorum.bootstrap.servers must\ncontain the set of",
    "zookeeper-mode-in-4": 'Missing required configuration "process.roles" which has no default value.',
    "level-too-old-for-4": "Unsupported metadata version - if you are currently upgrading your cluster, please ensure "
    "the metadata version is set to 3.3-IV3 (or higher) before updating the software version.",
    "software-too-old-for-the-level": "Unable to register because the broker does not support finalized version 21 of "
    "metadata.version. The broker wants a version between 1 and 20, inclusive.",
    "level-does-not-go-back": "Refusing to perform the requested downgrade because it might delete metadata.",
    "another-node-id": "RuntimeException: Stored node id 1 doesn't match previous node id 2 in /disk.",
    "another-cluster-id": "RuntimeException: Invalid cluster.id in: /disk/meta.properties. Expected a, but read b",
    "not-formatted": "RuntimeException: No `meta.properties` found in /disk (have you run `kafka-storage.sh`?)",
    "dynamic-quorum-not-said": "Because controller.quorum.voters is not set on this controller, you must specify one",
    "quorum-both-fixed-and-dynamic": "You cannot specify controller.quorum.voters and format the node with "
    "--initial-controllers or --standalone.",
}


@pytest.mark.parametrize("profile", ["kip-500", "kip-778", "kip-125"])
def test_mistakes_of_any_cluster_have_advice_in_every_document(profile: str) -> None:
    """By Kafka's own words of 3.9.1 and 4.3.0, one advice each."""
    known = {each.id: each for each in general_mistakes()}
    assert known.keys() == OF_ANY_CLUSTER.keys()
    for name, text in OF_ANY_CLUSTER.items():
        assert advice(profile, f"broker-1 died with exit code 1: ERROR x / {text}") == [known[name].advice]


def test_mistakes_with_groups_have_advice() -> None:
    """What brokers answer to members, and what members refuse."""
    for text, word in (
        ("JoinGroup failed: INVALID_SESSION_TIMEOUT", "group.min.session.timeout.ms"),
        ("Broker: Inconsistent group protocol", "partition.assignment.strategy=range"),
        ("offsets.storage: expected kafka with kafka.migration.enabled=true", "dual.commit.enabled=true"),
    ):
        (only,) = advice("kip-125", text)
        assert word in only


def test_a_migration_znode_without_data_is_one_of_them() -> None:
    """A step that never came reports it among what it waits for."""
    (only,) = advice("kip-866", "phase HYBRID: not within 180 s; /controller holds {}; /migration holds no data")
    assert "deleteall /migration" in only
