"""ZooKeeper's tree becomes an image in the same words as the metadata log's."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from kazoo.exceptions import NoNodeError

from pytest_kmigrate.probes.metadata_replay import image_from_records
from pytest_kmigrate.probes.znodes import image_from_znodes, snapshot
from tests.unit.probes.real_data import differences, records, tree


def node(**content: Any) -> bytes:
    """A znode's JSON."""
    return json.dumps(content).encode()


def test_a_migrated_cluster_is_the_same_on_both_sides() -> None:
    """Kafka 3.9.1 in hybrid mode after changes of every family and a broker's death: no family differs."""
    log, zookeeper = image_from_records(records("3.9.1")), image_from_znodes(tree("3.9.1"))
    assert differences(log, zookeeper) == {}
    assert all(getattr(zookeeper, family) for family in ("topics", "partitions", "configs", "acls", "quotas", "scram"))


@pytest.mark.parametrize(
    ("family", "path", "content"),
    [
        (
            "topics",
            "/brokers/topics/orders",
            node(partitions={"0": [1, 2], "1": [2, 1], "2": [1, 2]}, topic_id="other"),
        ),
        ("partitions", "/brokers/topics/plain/partitions/2/state", node(leader=1, leader_epoch=9, isr=[1])),
        ("partitions", "/brokers/topics/plain/partitions/2/state", node(leader=2, leader_epoch=0, isr=[1])),
        ("partitions", "/brokers/topics/plain/partitions/2/state", node(leader=1, leader_epoch=0, isr=[1, 2])),
        ("configs", "/config/topics/orders", node(version=1, config={})),
        ("configs", "/config/brokers/<default>", node(version=1, config={"log.retention.ms": "1"})),
        ("acls", "/kafka-acl/Group/*", node(version=1, acls=[])),
        ("acls", "/kafka-acl-extended/prefixed/Topic/pre", node(version=1, acls=[])),
        ("quotas", "/config/users/<default>", node(version=1, config={"consumer_byte_rate": "1"})),
        ("quotas", "/config/ips/10.9.8.7", None),
        ("scram", "/config/users/dora", node(version=1, config={})),
        ("delegation_tokens", "/delegation_token/tokens/pxCT7jXuQ9uQ8TK0MzT4_Q", b""),
        ("producer_ids", "/latest_producer_id_block", node(broker=-1, block_start="1000", block_end="1999")),
    ],
)
def test_every_planted_difference_is_seen(family: str, path: str, content: bytes | None) -> None:
    """One znode of the real tree is changed: its family differs from the log, and no other."""
    real = tree("3.9.1")
    assert path in real, "the defect must be planted in a znode that exists"
    changed = image_from_znodes({**real, path: content})
    assert list(differences(image_from_records(records("3.9.1")), changed)) == [family]


def test_the_quota_bug_of_3_6_0_shows() -> None:
    """KAFKA-16411: default and special entities were copied under wrong names, and their SCRAM credential as well."""
    found = differences(image_from_records(records("3.6.0")), image_from_znodes(tree("3.6.0")))
    assert set(found) == {"quotas", "scram"}
    assert {"user=", "user=CN%3Dal%20ice%2CO%3Dx", "user=CN=al ice,O=x", "user=<default>"} <= set(found["quotas"])
    assert found["scram"] == ["CN%3Dal%20ice%2CO%3Dx:SCRAM-SHA-512", "CN=al ice,O=x:SCRAM-SHA-512"]


def test_a_brokers_block_ends_and_a_controllers_block_begins_at_the_next_producer_id() -> None:
    """A broker stores the block it took; the KRaft controller stores, as broker -1, the block not yet taken."""
    block = {"block_start": "1000", "block_end": "1999"}
    assert image_from_znodes({"/latest_producer_id_block": node(broker=2, **block)}).producer_ids == {"next": 2000}
    assert image_from_znodes({"/latest_producer_id_block": node(broker=-1, **block)}).producer_ids == {"next": 1000}


def test_the_work_that_is_pending_is_in_extra() -> None:
    """Deletions and reassignments asked for, the controller, its epoch and the migration znode."""
    reassignment = {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1]}]}
    image = image_from_znodes(
        {
            "/admin/delete_topics": None,
            "/admin/delete_topics/gone": None,
            "/admin/reassign_partitions": node(**reassignment),
            "/controller": node(brokerid=3000),
            "/controller_epoch": b"7",
            "/migration": node(kraft_metadata_offset=5),
            "/brokers/ids/10": b"{}",
            "/brokers/ids/9": b"{}",
        }
    )
    assert image.of_zookeeper["delete_topics"] == ["gone"]
    assert image.of_zookeeper["reassign_partitions"] == reassignment
    assert image.of_zookeeper["controller"] == {"brokerid": 3000}
    assert image.of_zookeeper["controller_epoch"] == 7
    assert image.of_zookeeper["migration"] == {"kraft_metadata_offset": 5}
    assert image.of_zookeeper["brokers"] == [9, 10]


def test_a_znode_that_is_not_what_it_should_be_is_named() -> None:
    """Broken JSON in a topic or its state is a finding, not a crash."""
    image = image_from_znodes({"/brokers/topics/t": b"{", "/config/topics/t": b"[1]"})
    assert image.topics == {"t": {"id": None}}
    assert image.of_zookeeper["unread"] == ["/brokers/topics/t", "/config/topics/t"]


@pytest.mark.parametrize(
    "path",
    [
        "/kafka-acl/Topic/orders",
        "/kafka-acl-extended/prefixed/Topic/orders",
        "/config/users/alice",
        "/config/users/alice/clients/billing",
        "/delegation_token/tokens/t",
        "/latest_producer_id_block",
    ],
)
def test_broken_content_is_named_in_every_family(path: str) -> None:
    """What cannot be understood may hold anything; a user without anything of his own is empty and rightly so."""
    assert image_from_znodes({path: b"{"}).of_zookeeper["unread"] == [path]
    assert (
        image_from_znodes({"/config/users/alice": b"", "/latest_producer_id_block": None}).of_zookeeper["unread"] == []
    )


def test_a_broker_s_password_is_not_to_be_seen() -> None:
    """It is encrypted with a salt of its own each time, so a digest of it would equal no other."""
    config = {"listener.name.a.ssl.keystore.password": "encryptedPassword:x,salt:y", "log.cleaner.threads": "2"}
    image = image_from_znodes({"/config/brokers/1": node(version=1, config=config)})
    assert image.configs == {
        "broker:1": {"listener.name.a.ssl.keystore.password": "[hidden]", "log.cleaner.threads": "2"}
    }


class Answer:
    """An asynchronous result that is there already."""

    def __init__(self, value: Callable[[], Any]) -> None:
        self.get = value


class FakeZookeeper:
    """Answers reads from a tree; ``going`` are listed as children but gone when read."""

    def __init__(self, nodes: dict[str, bytes | None], going: tuple[str, ...] = ()) -> None:
        self.nodes = nodes
        self.going = going

    def get_async(self, path: str) -> Answer:
        """Data and a stat."""
        return Answer(lambda **_: self._existing(path, (self.nodes.get(path), None)))

    def get_children_async(self, path: str) -> Answer:
        """Names below."""
        below = (other for other in self.nodes if other != "/" and other.rpartition("/")[0] == path.rstrip("/"))
        return Answer(lambda **_: self._existing(path, [child.rpartition("/")[2] for child in below]))

    def _existing(self, path: str, value: Any) -> Any:
        if path in self.going or path not in self.nodes:
            raise NoNodeError
        return value


def test_a_snapshot_holds_the_whole_tree() -> None:
    """Every level, nodes without data included, ZooKeeper's own subtree left out, a node deleted meanwhile skipped."""
    kept = {"/": b"", "/a": None, "/a/b": b"1", "/a/b/c": b"2"}
    client = FakeZookeeper({**kept, "/zookeeper": b"", "/zookeeper/quota": b"", "/a/d": b"x"}, going=("/a/d",))
    assert snapshot(client, within_s=1) == kept
