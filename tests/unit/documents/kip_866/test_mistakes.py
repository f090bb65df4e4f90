"""Facts about the mistakes of operators that messages give advice for."""

from pytest_kmigrate.catalogue.mistakes import advice, mistakes

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
    assert known.keys() == SHOWN.keys()
    for name, text in SHOWN.items():
        assert advice("kip-866", f"broker-1 died with exit code 1: ERROR x / {text}") == [known[name].advice]


def test_each_advice_is_one_sentence_that_names_what_to_use() -> None:
    """A property, a znode or a tool."""
    for each in mistakes("kip-866"):
        assert each.advice.endswith(".")
        assert ". " not in each.advice
        assert any(
            word in each.advice
            for word in (".enable", ".connect", "kafka-storage.sh", "class.name", "version", "/migration", "voters")
        )


def test_other_messages_and_other_documents_get_none() -> None:
    """Also a document that names no mistakes."""
    assert advice("kip-866", "broker-1 ready: not within 180 s; last seen: no answer yet") == []
    assert advice("kip-125", SHOWN["flag-missing"]) == []


def test_a_migration_znode_without_data_is_one_of_them() -> None:
    """A step that never came reports it among what it waits for."""
    (only,) = advice("kip-866", "phase HYBRID: not within 180 s; /controller holds {}; /migration holds no data")
    assert "deleteall /migration" in only
