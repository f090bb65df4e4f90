"""Readers by their rules: how each kind spells Kafka's names, its releases, its ids and its defaults."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.topology.importing import versions
from pytest_kmigrate.topology.importing.draft import Wish
from pytest_kmigrate.topology.importing.importer import imported
from pytest_kmigrate.topology.importing.kinds import found_in
from pytest_kmigrate.topology.importing.sources import Source

WORDS = (
    "apiVersion", "kafka.strimzi.io/v1", "kind", "Kafka", "KafkaNodePool", "metadata", "name", "labels", "annotations",
    "strimzi.io/cluster", "strimzi.io/kraft", "spec", "kafka", "zookeeper", "replicas", "roles", "broker", "controller",
    "listeners", "authentication", "type", "tls", "port", "storage", "volumes", "config", "items", "version", "3.9.1",
    "services", "image", "apache/kafka:3.9.1", "cp-zookeeper", "environment", "KAFKA_NODE_ID", "KAFKA_PROCESS_ROLES",
    "scale", "deploy", "all", "vars", "hosts", "children", "kafka_broker", "kafka_controller", "broker_id", "node_id",
    "ssl_enabled", "sasl_protocol", "kafka_broker_custom_properties", "kafka_broker_custom_listeners", "1", "3", "true",
)  # fmt: skip


def nodes_of(text: str, name: str = "a.yaml") -> dict[str, dict[str, str]]:
    """The properties of each node that a file shows, by role and id."""
    found = found_in([Source(name, text)])
    return {
        f"{node.role}-{node.node_id.value if node.node_id else '?'}": {
            key: setting.value for key, setting in node.properties.items()
        }
        for node in found.nodes
    }


def test_properties_are_read_as_java_does() -> None:
    """Three ways to divide a line, escapes, lines that go on, comments; the last value counts."""
    text = "#x=1\n! y=2\nbroker.id : 7\nlog.dirs /a,\\\n   /b\nname\\=of=\\u0041\\tb\n"
    text += "num.partitions=1\nnum.partitions=2\nempty\n"
    (properties,) = nodes_of(text, "a.properties").values()
    assert properties == {
        "broker.id": "7", "log.dirs": "/a,/b", "name=of": "A\tb", "num.partitions": "2", "empty": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("image", "variable", "name"),
    [
        ("confluentinc/cp-kafka:7.6.0", "KAFKA_NUM_PARTITIONS", "num.partitions"),
        ("registry.example.org:5000/confluentinc/cp-server:7.6.0", "KAFKA_A__B___C", "a_b-c"),
        ("apache/kafka:3.9.1@sha256:0", "KAFKA_LOG_DIRS", "log.dirs"),
        ("bitnami/kafka:3.9", "KAFKA_CFG_LOG_DIRS", "log.dirs"),
        ("bitnamilegacy/kafka", "KAFKA_BROKER_ID", "broker.id"),
        ("wurstmeister/kafka:2.13-2.8.1", "KAFKA_LOG_DIRS", "log.dirs"),
        ("${REPO}/cp-kafka", "KAFKA_LOG_DIRS", "log.dirs"),
    ],
)
def test_each_image_has_its_rule_of_names(image: str, variable: str, name: str) -> None:
    """And a variable without the prefix sets nothing."""
    text = f"services:\n  k:\n    image: {image}\n    environment: {{{variable}: '1', OTHER: '2'}}\n"
    (properties,) = nodes_of(text).values()
    assert properties[name] == "1"
    assert "2" not in properties.values()


@pytest.mark.parametrize(
    ("text", "kafka", "confluent"),
    [
        ("3.9.1", "3.9.1", None),
        ("3.4.1-debian-11-r0", "3.4.1", None),
        ("2.13-2.8.1", "2.13", None),
        ("7.6.1", "7.6.1", "3.6"),
        ("v8.0", "8.0", "4.0"),
        ("latest", None, None),
        ("6.2.0", "6.2.0", None),
    ],
)
def test_releases_are_read_from_tags(text: str, kafka: str | None, confluent: str | None) -> None:
    """Confluent counts by its own numbers."""
    assert (versions.of_kafka(text), versions.of_confluent(text)) == (kafka, confluent)


@pytest.mark.parametrize(
    ("release", "has_zookeeper", "nearest"),
    [
        ("3.6.1", True, "3.6.1"),
        ("3.6", True, "3.6.2"),
        ("3.6.9", True, "3.6.2"),
        ("2.8.1", True, "3.9.1"),
        ("2.8.1", False, "3.2.3"),
        ("4.1.9", False, "4.1.2"),
        ("9.0.0", False, "4.3.0"),
        ("4.0.0", True, "3.9.2"),
    ],
)
def test_the_nearest_release_is_taken(release: str, has_zookeeper: bool, nearest: str) -> None:
    """The last of its line; of a cluster that cannot migrate, the one its brokers are upgraded to."""
    assert versions.nearest(release, has_zookeeper=has_zookeeper)[0] == nearest


def test_merges_bring_keys_that_stand_again() -> None:
    """A key that a merge brings is no second one, wherever the anchor is."""
    text = (
        "x-a: &a {image: 'apache/kafka:3.9.1', environment: {KAFKA_NODE_ID: 1}}\n"
        "services:\n  k: &k {<<: *a, image: 'apache/kafka:3.8.1'}\n  l: {<<: *k, environment: {KAFKA_NODE_ID: 2}}\n"
    )
    assert set(nodes_of(text)) == {"combined-1", "combined-2"}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.recursive(
        st.sampled_from([*WORDS, None]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
        max_leaves=30,
    ),
    st.sampled_from([None, "strimzi", "cp-ansible", "compose"]),
)
def test_any_tree_is_a_topology_or_an_error_of_ours(tmp_path: Path, tree: object, kind: str | None) -> None:
    """No file ends in a stack trace."""
    file = tmp_path / "any.yaml"
    file.write_text(json.dumps(tree), encoding="utf-8")
    with suppress(TopologyError):
        imported([file], Wish("any"), kind)
