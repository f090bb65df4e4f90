"""Files that no topology can be made from: each is one sentence with file, place and what to do, and no trace."""

import os
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import KmigrateError, TopologyError, WrongUseError
from pytest_kmigrate.topology.importing.draft import Wish
from pytest_kmigrate.topology.importing.importer import imported

STRIMZI = "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: a}\nspec:\n"
POOL = (
    "apiVersion: kafka.strimzi.io/v1\nkind: KafkaNodePool\nmetadata: {name: p, labels: {strimzi.io/cluster: a}}\n"
    "spec: {replicas: 1, roles: [broker, controller]}\n"
)
SERVICE = "services:\n  k:\n    image: apache/kafka:3.9.1\n"
NO_ID = (
    "    environment: {KAFKA_NODE_ID: '${ID}', KAFKA_PROCESS_ROLES: broker, KAFKA_CONTROLLER_QUORUM_VOTERS: '1@k:1'}"
)
BROKER = "broker.id=1\nzookeeper.connect=z:2181\n"


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.properties", b"", "expected settings of a cluster, got an empty file"),
        ("a.yaml", b"\n \n", "expected settings of a cluster, got an empty file"),
        ("a.yml", b"# nothing\n", "expected server.properties of Kafka"),
        ("a.properties", b"broker.id=1\n\xff\xfe", "line 2: expected text in UTF-8, got other bytes"),
        ("a.properties", b"\x7fELF\0\0", "line 1: expected text, got a zero byte"),
        ("a.yaml", b"kind: [Kafka\nspec: 1", "line 2: expected YAML, got"),
        ("a.yaml", b"a: 1\na: 2", "line 2: expected YAML, got the key 'a' again"),
        ("a.yaml", b"[" * 5_000, "expected YAML, got what no reader takes: RecursionError"),
        ("a.yaml", b"? [a, b]\n: c", "expected YAML, got a key that is no text"),
        ("a.yaml", b"kind: Deployment\napiVersion: apps/v1", "got something else"),
        ("a.txt", b"hello", "got something else"),
        ("a.ini", b"[kafka_broker]\nhost1\n", "`ansible-inventory -i FILE --list --yaml --export`"),
        ("a.yaml", b"{{- if .Values.kafka }}\nkind: Kafka\n{{ end }}", "got a template that was not filled in"),
        (
            "a.properties",
            b"broker.id={{ id }}\nlog.dirs=/a",
            "broker.id: expected the number of a node, got a placeholder",
        ),
        (
            "a.properties",
            b"broker.id=${ID}\nlog.dirs=/a",
            "broker.id: expected the number of a node, got a placeholder",
        ),
        ("a.properties", b"broker.id=one\nlog.dirs=/a", "broker.id: expected the number of a node, got 'one'"),
        ("a.properties", b"broker.id=99999999999\nlog.dirs=/a", "broker.id: expected the number of a node, got"),
        ("a.properties", b"broker.id=1\nbroker.id=2\nlog.dirs=/a", "broker.id: expected one value, got it twice"),
        ("a.properties", b"broker.id=1\nzookeeper.connect=${ZK}", "zookeeper.connect: expected the servers, got a pl"),
        ("a.properties", b"process.roles=brokr\nnode.id=1", "process.roles: expected broker, controller or both"),
        ("a.properties", b"process.roles=broker\nlog.dirs=/a", "node.id: expected the id of the node, got none"),
        (
            "a.cfg",
            b"dataDir=/z\ndynamicConfigFile=/other",
            "dynamicConfigFile: expected the servers of the ensemble in",
        ),
        ("a.cfg", b"dataDir=/z\nclientPort=2181", "expected the file of a broker beside it, got none"),
    ],
)
@pytest.mark.slow
def test_a_file_that_is_none(tmp_path: Path, name: str, text: bytes, problem: str) -> None:
    """Whatever stands in it."""
    file = tmp_path / name
    file.write_bytes(text)
    with pytest.raises(TopologyError) as raised:
        imported([file], Wish("a"))
    assert raised.value.file == str(file)
    assert problem in raised.value.problems[0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (POOL, "kind: expected one Kafka resource beside its node pools, got none"),
        (f"{STRIMZI}  kafka: {{replicas: 1}}\n---\n{STRIMZI}  kafka: {{replicas: 1}}", "expected one Kafka resource,"),
        (STRIMZI, "spec.kafka: expected the brokers of the cluster, got nothing"),
        (f"{STRIMZI}  kafka: {{version: 3.9.1}}", "spec.kafka.replicas: expected the number of brokers, got nothing:"),
        (f"{STRIMZI}  kafka: {{replicas: 0}}", "expected the nodes of a cluster, got a count of none"),
        (f"{STRIMZI}  kafka: {{replicas: many}}", 'spec.kafka.replicas: expected a whole number, got "many"'),
        (f"{STRIMZI}  kafka: {{replicas: '{{{{ n }}}}'}}", "expected a whole number, got a template that was not fil"),
        (f"{STRIMZI}  kafka: [a]", "spec.kafka: expected a mapping, got a list"),
        (f"{STRIMZI}  kafka: {{replicas: 1, config: text}}", "spec.kafka.config: expected a mapping, got a text"),
        (f"{STRIMZI}  kafka: {{replicas: 1, listeners: [a]}}", "spec.kafka.listeners[0]: expected a mapping"),
        (f"{STRIMZI}  kafka: {{replicas: 300}}\n  zookeeper: {{replicas: 1}}", "broker.count: expected at most 199"),
        (f"{STRIMZI}  kafka: {{replicas: 100000000}}", "spec.kafka.replicas: expected at most 1000 replicas, got"),
        (f"{STRIMZI}  kafka: {{replicas: 1}}\n  zookeeper: {{replicas: 99999999}}", "spec.zookeeper.replicas: expec"),
        (POOL.replace("broker, controller", "king") + f"---\n{STRIMZI}  kafka: {{a: b}}", "spec.roles: expected brok"),
        (f"{SERVICE}    extends: {{file: other.yml}}", "services.k.extends: expected all settings in this file"),
        (f"{SERVICE}    env_file: kafka.env", "services.k.env_file: expected all settings in this file"),
        (f"include: [other.yml]\n{SERVICE}", "include: expected no other files, got names of some: give what `docker"),
        (f"{SERVICE}    environment: text", "services.k.environment: expected a mapping, or a list of NAME=value"),
        (f"{SERVICE}{NO_ID}", "services.k.environment.KAFKA_NODE_ID: expected a value, got the variable ID"),
        (f"{SERVICE}    scale: 1000", "services.k.scale: expected 1 to 199 copies, got 1000"),
        ("kafka_broker: {hosts: {}}\nzookeeper: {hosts: {a: }}", "kafka_broker.hosts: expected the hosts of brokers,"),
        ("kafka_broker: {hosts: {a: {broker_id: 1}, b: {broker_id: 1}}}", "kafka_broker.hosts.b.broker_id: expected"),
        ("kafka_broker: {hosts: {'k[1:900]': }}", "expected at most 200 hosts, got 900"),
        ("kafka_broker: {hosts: {'{{ h }}': }}", "expected the name of a host, got a template: print the inventory by"),
        ("kafka_broker: {hosts: {a: , b: }, vars: {ssl_enabled: perhaps}}", "ssl_enabled: expected true or false, go"),
    ],
)  # fmt: skip
def test_yaml_that_says_too_little_or_too_much(tmp_path: Path, text: str, problem: str) -> None:
    """The error names the key, as the file spells it."""
    file = tmp_path / "cluster.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(TopologyError) as raised:
        imported([file], Wish("a"))
    assert raised.value.file == str(file)
    assert problem in raised.value.problems[0]


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"a.properties": BROKER, "b.properties": BROKER}, "expected an id that no other node has, got 1"),
        ({"a.properties": BROKER, "b.properties": "broker.id=2\nzookeeper.connect=y:2181"}, "expected nodes of one c"),
        ({"a.properties": BROKER, "b.properties": "broker.id=2\nzookeeper.connect=z:2181/x"}, "expected nodes of one"),
        ({"a.properties": BROKER, "b.properties": "process.roles=broker\nnode.id=2"}, "a node in KRaft mode that nam"),
        ({"a.properties": BROKER, "b.yaml": SERVICE}, "expected files of one kind, got compose beside properties"),
        ({"a.txt": "hello"}, "expected a folder with files that end with .properties"),
        ({"a.properties": "group.id=a\nbootstrap.servers=b"}, "got none of them: give the files of the nodes"),
    ],
)  # fmt: skip
def test_a_folder_of_files_that_do_not_fit(tmp_path: Path, files: dict[str, str], problem: str) -> None:
    """Two clusters, two kinds, or none."""
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(TopologyError) as raised:
        imported([tmp_path], Wish("a"))
    assert problem in raised.value.problems[0]


def test_what_is_not_there_and_what_is_no_kind(tmp_path: Path) -> None:
    """Each is wrong use."""
    with pytest.raises(TopologyError, match="expected a file or a folder, got nothing there"):
        imported([tmp_path / "nowhere"], Wish("a"))
    (tmp_path / "a.properties").write_text(BROKER, encoding="utf-8")
    with pytest.raises(WrongUseError, match="--kind: expected one of properties, strimzi, cp-ansible, compose"):
        imported([tmp_path / "a.properties"], Wish("a"), "helm")
    with pytest.raises(KmigrateError):
        imported([tmp_path / "a.properties"], Wish("a"), "compose")


def test_a_tag_of_ansible_is_read_and_a_vault_is_not(tmp_path: Path) -> None:
    """A vault holds a secret, and is none of our business."""
    file = tmp_path / "hosts.yml"
    text = "all: {vars: {some_password: !vault 'x', ssl_enabled: !unsafe 'true'}}\nkafka_broker: {hosts: {a: }}\n"
    file.write_text(f"{text}kafka_controller: {{hosts: {{b: }}}}", encoding="utf-8")
    assert 'protocol = "SSL"' in imported([file], Wish("a")).text


def test_aliases_that_stand_for_more_than_memory_holds(tmp_path: Path) -> None:
    """A list in the place of a text is never written out."""
    lists = "\n".join(f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 9)}]" for number in range(1, 15))
    file = tmp_path / "compose.yaml"
    file.write_text(f"a0: &a0 [x]\n{lists}\n{SERVICE}    environment: *a14\n", encoding="utf-8")
    with pytest.raises(TopologyError, match=r"services.k.environment\[0\]: expected a text, got a list"):
        imported([file], Wish("a"))


def test_a_pipe_that_nothing_writes_into_is_empty(tmp_path: Path) -> None:
    """It is not waited for; one with a writer, such as a shell's ``<(...)``, is read to its end."""
    pipe = tmp_path / "a.properties"
    os.mkfifo(pipe)
    with pytest.raises(TopologyError, match="expected settings of a cluster, got an empty file"):
        imported([pipe], Wish("a"))
    reader, writer = os.pipe()
    os.write(writer, BROKER.encode())
    os.close(writer)
    assert imported([Path(f"/dev/fd/{reader}")], Wish("a")).kind == "properties"
    os.close(reader)


def test_a_file_with_two_names_is_one_file(tmp_path: Path) -> None:
    """By another path or by a link; it is no second node with the same id."""
    file = tmp_path / "a.properties"
    file.write_text(BROKER, encoding="utf-8")
    (tmp_path / "b.properties").symlink_to(file)
    alone = imported([file], Wish("a"))
    assert imported([file, tmp_path / ".." / tmp_path.name / "a.properties"], Wish("a")) == alone
    assert imported([tmp_path], Wish("a")).text == alone.text
