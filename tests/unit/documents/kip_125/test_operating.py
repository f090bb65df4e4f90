"""What an operator sees of a group, and what a toggle refuses."""

import pytest
from typer.testing import CliRunner

from pytest_kmigrate.cli import app
from pytest_kmigrate.documents.kip_125.operating import OfKafka, Operator
from pytest_kmigrate.model.errors import WrongUseError
from tests.unit.fakes import FakeZnodes

ROOT = "/consumers/g"
KAFKA: OfKafka = (set(), {}, {})


def tree(*ids: str, migrating: tuple[str, ...] = (), mode: bytes | None = None) -> FakeZnodes:
    """The znodes of a group, which owns and has read one partition."""
    znodes = FakeZnodes()
    znodes.tree |= {ROOT: b"", **{f"{ROOT}/ids/{each}": b"{}" for each in ids}}
    znodes.tree |= {f"{ROOT}/migration/ids/{each}": b"" for each in migrating}
    znodes.tree |= {f"{ROOT}/owners/t/0": b"c1-0", f"{ROOT}/offsets/t/0": b"7", "/brokers/topics/t/partitions/0": b""}
    if mode is not None:
        znodes.tree[f"{ROOT}/migration/mode"] = mode
    return znodes


def operator(znodes: FakeZnodes, kafka: OfKafka = KAFKA) -> Operator:
    """One whose ZooKeeper and Kafka are in memory."""
    return Operator(lambda _: znodes, lambda *_: kafka)


def test_a_group_is_shown_as_both_systems_have_it() -> None:
    """Members by kind, and the offsets in both stores."""
    znodes = tree("c1", "c2", migrating=("c1",), mode=b"kafka")
    kafka: OfKafka = ({"c1", "app"}, {("t", 0): 6}, {("t", 0): 9})
    report = operator(znodes, kafka).status("g", "zk:2181", "b:9092")
    assert report.followed == "zookeeper"
    assert list(report.members) == [
        ("c1", "with migration"),
        ("c2", "without migration"),
        ("app", "plain KafkaConsumer"),
    ]
    assert list(report.partitions) == [("t-0", "c1-0", "7", "6", "9")]
    assert len(report.findings) == 2


@pytest.mark.parametrize(
    ("znodes", "kafka", "words"),
    [
        (tree("c1", migrating=("c1",), mode=b"kafka"), ({"c1"}, {}, {}), []),
        (tree("c1", "c2", migrating=("c1",), mode=b"kafka"), ({"c1"}, {}, {}), ["c2 cannot follow"]),
        (tree("c1", migrating=("c1",), mode=b"KAFKA"), ({"c1"}, {}, {}), ["'KAFKA', which means ZooKeeper"]),
        (tree("c1", migrating=("c1",)), ({"c1", "app"}, {}, {}), ["read twice"]),
        (tree("c1"), (set(), {("t", 0): 5}, {}), ["offsets.storage=zookeeper"]),
    ],
)
def test_what_is_wrong_with_a_group_is_a_finding(znodes: FakeZnodes, kafka: OfKafka, words: list[str]) -> None:
    """One sentence each; none for a group that is as it should be."""
    findings = operator(znodes, kafka).status("g", "zk:2181", "b:9092").findings
    assert len(findings) == len(words)
    assert all(word in finding for word, finding in zip(words, findings, strict=True))


def test_a_toggle_writes_the_exact_word() -> None:
    """And reports the group as it is then."""
    znodes = tree("c1", migrating=("c1",))
    report = operator(znodes, ({"c1"}, {}, {})).toggle("g", "kafka", "zk:2181", "b:9092")
    assert znodes.tree[f"{ROOT}/migration/mode"] == b"kafka"
    assert report.followed == "kafka"


@pytest.mark.parametrize(
    ("mode", "znodes", "kafka", "expected"),
    [
        ("Kafka", tree("c1", migrating=("c1",)), KAFKA, "MODE: expected kafka or zookeeper; got 'Kafka'"),
        ("kafka", tree("c1"), KAFKA, "expected a member with migration"),
        ("zookeeper", tree("c1", migrating=("c1",)), ({"c1", "app"}, {}, {}), "there are app"),
        ("kafka", FakeZnodes(), KAFKA, "GROUP: expected a group that ZooKeeper has"),
    ],
)
def test_a_toggle_that_a_group_cannot_take_is_refused(
    mode: str, znodes: FakeZnodes, kafka: OfKafka, expected: str
) -> None:
    """Another word, no member that follows the mode, plain consumers, an unknown group; and nothing is written."""
    before = dict(znodes.tree)
    with pytest.raises(WrongUseError, match=expected):
        operator(znodes, kafka).toggle("g", mode, "zk:2181", "b:9092")
    assert znodes.tree == before


def test_a_broker_that_this_machine_does_not_know_needs_the_option() -> None:
    """Addresses of brokers come from ZooKeeper, unless they are names of elsewhere."""
    znodes = tree("c1")
    znodes.tree["/brokers/ids/0"] = b'{"endpoints": ["PLAINTEXT://nowhere.invalid:9092"]}'
    with pytest.raises(WrongUseError, match="--bootstrap: expected servers"):
        operator(znodes).status("g", "zk:2181", None)


def test_a_document_without_groups_has_no_operator() -> None:
    """The command names a document that has one."""
    result = CliRunner().invoke(app, ["consumers", "status", "g", "--zookeeper", "127.0.0.1:1", "--profile", "kip-866"])
    assert "--profile: expected a document about consumer groups" in str(result.exception)
