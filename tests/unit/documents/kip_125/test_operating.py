"""What an operator sees of a group, and what a toggle refuses."""

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pytest_kmigrate.cli import app
from pytest_kmigrate.documents.kip_125 import operating
from pytest_kmigrate.documents.kip_125.operating import OfKafka, Operator
from pytest_kmigrate.model.document import Servers
from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.model.peer import ZookeeperTls
from tests.unit.fakes import FakeZnodes

ROOT = "/consumers/g"
KAFKA: OfKafka = (set(), {}, {})
SERVERS = Servers("zk:2181", "b:9092")


def tree(*ids: str, migrating: tuple[str, ...] = (), mode: bytes | None = None) -> FakeZnodes:
    """The znodes of a group, which owns and has read one partition."""
    znodes = FakeZnodes()
    znodes.tree |= {ROOT: b"", "/brokers/ids": b"", **{f"{ROOT}/ids/{each}": b"{}" for each in ids}}
    znodes.tree |= {f"{ROOT}/migration/ids/{each}": b"" for each in migrating}
    znodes.tree |= {f"{ROOT}/owners/t/0": b"c1-0", f"{ROOT}/offsets/t/0": b"7", "/brokers/topics/t/partitions/0": b""}
    if mode is not None:
        znodes.tree[f"{ROOT}/migration/mode"] = mode
    return znodes


def other_group() -> FakeZnodes:
    """A ZooKeeper of Kafka's, with another group."""
    znodes = FakeZnodes()
    znodes.tree |= {"/brokers/ids": b"", "/consumers/other": b""}
    return znodes


def operator(znodes: FakeZnodes, kafka: OfKafka = KAFKA) -> Operator:
    """One whose ZooKeeper and Kafka are in memory."""
    return Operator(lambda _: znodes, lambda *_: kafka)


def test_a_group_is_shown_as_both_systems_have_it() -> None:
    """Members by kind, and the offsets in both stores."""
    znodes = tree("c1", "c2", migrating=("c1",), mode=b"kafka")
    kafka: OfKafka = ({"c1", "app"}, {("t", 0): 6}, {("t", 0): 9})
    report = operator(znodes, kafka).status("g", SERVERS)
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
    findings = operator(znodes, kafka).status("g", SERVERS).findings
    assert len(findings) == len(words)
    assert all(word in finding for word, finding in zip(words, findings, strict=True))


def test_a_toggle_writes_the_exact_word() -> None:
    """And reports the group as it is then."""
    znodes = tree("c1", migrating=("c1",))
    report = operator(znodes, ({"c1"}, {}, {})).toggle("g", "kafka", SERVERS)
    assert znodes.tree[f"{ROOT}/migration/mode"] == b"kafka"
    assert report.followed == "kafka"


@pytest.mark.parametrize(
    ("mode", "znodes", "kafka", "expected"),
    [
        ("Kafka", tree("c1", migrating=("c1",)), KAFKA, "MODE: expected kafka or zookeeper; got 'Kafka'"),
        ("kafka", tree("c1"), KAFKA, "expected a member with migration"),
        ("kafka", tree("c1", "c2", migrating=("c1",)), ({"c1"}, {}, {}), "c2 cannot, and so ZooKeeper would decide on"),
        ("kafka", tree("c1", migrating=("c1",)), KAFKA, "every member with migration in Kafka's group.*c1 is not"),
        ("zookeeper", tree("c1", migrating=("c1",)), ({"c1", "app"}, {}, {}), "there are app"),
        ("kafka", other_group(), KAFKA, r"GROUP: expected a group that ZooKeeper has \(other\); got 'g'"),
        ("kafka", FakeZnodes(), KAFKA, "--zookeeper: expected the path below which .*got 'zk:2181'.*check the chroot"),
    ],
)
def test_a_toggle_that_a_group_cannot_take_is_refused(
    mode: str, znodes: FakeZnodes, kafka: OfKafka, expected: str
) -> None:
    """Another word, no member that follows the mode, plain consumers, an unknown group; and nothing is written."""
    before = dict(znodes.tree)
    with pytest.raises(WrongUseError, match=expected):
        operator(znodes, kafka).toggle("g", mode, SERVERS)
    assert znodes.tree == before


def silent(*_: object) -> OfKafka:
    """A Kafka that does not answer."""
    raise ClusterError("b:9092: expected Kafka to answer within 3 s; it did not")


def test_the_way_back_needs_no_kafka() -> None:
    """It is what is left when Kafka is broken: the mode is written, and the report says what could not be seen."""
    znodes = tree("c1", migrating=("c1",), mode=b"kafka")
    report = Operator(lambda _: znodes, silent).toggle("g", "zookeeper", SERVERS)
    assert znodes.tree[f"{ROOT}/migration/mode"] == b"zookeeper"
    assert report.followed == "zookeeper"
    (finding,) = report.findings
    assert "Kafka was not asked for its half: b:9092: expected Kafka to answer within 3 s; it did not" in finding


def test_the_way_back_needs_no_broker_in_zookeeper() -> None:
    """Registrations of brokers are gone when all are down."""
    znodes = tree("c1", migrating=("c1",), mode=b"kafka")
    Operator(lambda _: znodes).toggle("g", "zookeeper", Servers("zk:2181"))
    assert znodes.tree[f"{ROOT}/migration/mode"] == b"zookeeper"


def test_the_way_to_kafka_needs_kafka() -> None:
    """And so does a look at the group: nothing is written."""
    znodes = tree("c1", migrating=("c1",))
    before = dict(znodes.tree)
    for act in (lambda it: it.toggle("g", "kafka", SERVERS), lambda it: it.status("g", SERVERS)):
        with pytest.raises(ClusterError, match="within 3 s; it did not"):
            act(Operator(lambda _: znodes, silent))
    assert znodes.tree == before


def test_a_kafka_that_does_not_answer_is_named_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the servers, the time and a reason, which an expired wait does not bring by itself."""
    monkeypatch.setattr(operating, "_URGENT_WITHIN_S", 0.2)
    znodes = tree("c1", migrating=("c1",), mode=b"kafka")
    report = Operator(lambda _: znodes).toggle("g", "zookeeper", Servers("zk:2181", "127.0.0.1:9"))
    assert "127.0.0.1:9: expected Kafka to" in report.findings[0]
    assert "got ." not in report.findings[0]


def test_a_client_gets_tls_and_a_login(tmp_path: Path) -> None:
    """From a file of properties, in Java's keys; ZooKeeper by files in PEM and a login in the environment."""
    file = tmp_path / "client.properties"
    file.write_text("# me\nsecurity.protocol=SASL_SSL\nssl.truststore.type=PEM\nssl.truststore.location=/ca.pem\n")
    (tmp_path / "ca.pem").write_text("")
    seen: list[object] = []

    def ask(group: str, client: Mapping[str, str], *_: object) -> OfKafka:
        seen.append(client)
        return KAFKA

    def reach(servers: Servers) -> FakeZnodes:
        seen.append(servers)
        return tree("c1")

    arguments = ["consumers", "status", "g", "--zookeeper", "zk:2182", "--bootstrap", "b:9093", "--client", str(file)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("pytest_kmigrate.cli.consumers._operator", lambda _: Operator(reach, ask))
        patched.setenv("KMIGRATE_ZOOKEEPER_LOGIN", "me:secret")
        result = CliRunner().invoke(app, [*arguments, "--zookeeper-ca", str(tmp_path / "ca.pem")])
    assert result.exit_code == 0, result.exception
    servers, client = seen
    assert isinstance(servers, Servers)
    assert servers.tls == ZookeeperTls(str(tmp_path / "ca.pem"))
    assert servers.login == "me:secret"
    assert client == {
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": "/ca.pem",
        "bootstrap.servers": "b:9093",
    }


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--client", "/no/such"], "--client: expected a file; got /no/such"),
        (["--client", sys.executable], "--client: expected properties as text in UTF-8;"),
        (["--zookeeper", "::::"], "--zookeeper: expected HOST:PORT,... and a chroot or none; got '::::'"),
        (["--zookeeper-certificate", __file__], "--zookeeper-certificate: expected --zookeeper-ca beside it"),
    ],
)
def test_a_wrong_file_is_one_error(more: list[str], expected: str) -> None:
    """It names the option."""
    result = CliRunner().invoke(app, ["consumers", "status", "g", "--zookeeper", "127.0.0.1:1", *more])
    assert expected in str(result.exception)


def test_a_store_that_the_client_cannot_read_is_refused() -> None:
    """By its key, before anything is asked."""
    servers = Servers("zk:2181", "b:9092", {"ssl.truststore.location": "/jks"})
    with pytest.raises(WrongUseError, match=r"--client: ssl\.truststore\.type: expected PEM"):
        operator(tree("c1")).status("g", servers)


def test_a_broker_that_this_machine_does_not_know_needs_the_option() -> None:
    """Addresses of brokers come from ZooKeeper, unless they are names of elsewhere."""
    znodes = tree("c1")
    znodes.tree["/brokers/ids/0"] = b'{"endpoints": ["PLAINTEXT://nowhere.invalid:9092"]}'
    with pytest.raises(WrongUseError, match="--bootstrap: expected servers"):
        operator(znodes).status("g", Servers("zk:2181"))


def test_a_document_without_groups_has_no_operator() -> None:
    """The command names a document that has one."""
    result = CliRunner().invoke(app, ["consumers", "status", "g", "--zookeeper", "127.0.0.1:1", "--profile", "kip-866"])
    assert "--profile: expected a document about consumer groups" in str(result.exception)
