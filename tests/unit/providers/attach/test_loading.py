"""Attach files: what a right one describes, and the words for what is wrong in others."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import TopologyError, WrongUseError
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.attach.file.loading import site_at
from tests.unit.providers.attach.files import CLIENT, SMALL, written

PASSWORD = "{reference}"
LITERAL = "a-secret-that-must-not-be-seen"

WRONG = [
    ('[metricz]\nkind = "x"', "metricz: expected one of name, kafka, bootstrap,"),
    ('[client]\n"sasl.pasword" = 1', 'client."sasl.pasword": expected one of security.protocol,'),
    (f'[client]\n"sasl.password" = "{LITERAL}"', 'client."sasl.password": expected a table, got a secret in the file'),
    ('[client]\n"sasl.password" = { env = "A", file = "b" }', "expected exactly one of env, file, command"),
    ('[client]\n"sasl.password" = { }', "expected exactly one of env, file, command"),
    ('[client]\n"security.protocol" = "TLS"', 'expected "PLAINTEXT", "SSL", "SASL_PLAINTEXT" or "SASL_SSL"'),
    ('[client]\n"security.protocol" = "SASL_SSL"', 'client: expected "sasl.mechanism" with "security.protocol"'),
    (
        '[client]\n"security.protocol" = "SASL_SSL"\n"sasl.mechanism" = "OAUTHBEARER"',
        'client: expected "sasl.oauthbearer.token.endpoint.url" with "security.protocol"',
    ),
    (
        '[client]\n"security.protocol" = "SASL_SSL"\n"sasl.mechanism" = "PLAIN"\n"sasl.oauthbearer.scope" = "a"',
        'client: expected no "sasl.oauthbearer.scope" with "sasl.mechanism" = "PLAIN"',
    ),
    ('[client]\n"sasl.username" = "us"', 'client: expected no "sasl.username" with "security.protocol" = "PLAINTEXT"'),
    ('[[broker]]\nid = 3000\nclient = "b:1"', "broker and controller: expected each id once, got 3000 again"),
    ('[[broker]]\nid = "7"\nclient = "b:1"', 'broker[#3].id: expected a whole number, got "7" (text): write id = 7'),
    ('[[broker]]\nid = 7\nclient = "b"', 'broker[#3].client: expected host:port, such as "b1.example:9094", got "b"'),
    ('[[broker]]\nid = 7\nclient = "b:65536"', 'broker[#3].client: expected host:port, such as "b1.example:9094", got'),
    ('[[broker]]\nid = 7\nclient = "b:0"', 'broker[#3].client: expected host:port, such as "b1.example:9094", got'),
    (
        '[client]\n"security.protocol" = "SSL"\n"ssl.ca.location" = "no.pem"',
        'client."ssl.ca.location": expected a file, found from the folder of this file on; got "no.pem"',
    ),
    (
        '[quorum]\n"security.protocol" = "SSL"\n"ssl.certificate.location" = "."\n"ssl.key.location" = "key.pem"',
        'quorum."ssl.key.location": expected a file, found from the folder of this file on; got "key.pem"',
    ),
    ('[zookeeper.tls]\nca = "zk.pem"', "zookeeper.tls.ca: expected a file, found from the folder of this file on;"),
    ("[[broker]]\nid = 7", "broker[#3].client: expected its own listener of clients, host:port; got nothing"),
]
HEADS = [
    ('kafka = "3.9.1"', 'kafka = "3.9"', 'kafka: expected a release with three numbers, such as "3.9.1", got "3.9"'),
    ("{host}", "{pod}", "metrics.url: expected none but {name}, {id}, {host}, {role} in braces, found {pod}"),
    ('name = "staging"', 'allow = ["everything"]\nname = "staging"', 'allow[#1]: expected "start", "kill",'),
]


def test_a_file_describes_nodes_and_where_they_answer(tmp_path: Path) -> None:
    """Nodes stand in the order of a topology; a controller may come later; templates name one node."""
    site = site_at(written(tmp_path))
    assert [node.name for node in site.topology.nodes] == [
        *("zookeeper-1", "zookeeper-2", "broker-0", "broker-1", "controller-3000"),
    ]
    assert [node.start for node in site.topology.of_role(Role.CONTROLLER)] == ["later"]
    assert site.topology.chroot == "/kafka"
    assert str(site.addresses["zookeeper-2"]) == "127.0.0.2:3"
    assert site.filled("{name} {id} {role} {host}", "broker-0") == "broker-0 0 broker b0.example"
    assert site.filled("http://{host}:4", "broker-1") == "http://127.0.0.1:4"


@pytest.mark.parametrize(("more", "problem"), WRONG)
def test_a_mistake_is_one_sentence_with_file_and_key(tmp_path: Path, more: str, problem: str) -> None:
    """It says what was expected, and shows no secret."""
    file = written(tmp_path, SMALL + more + "\n")
    with pytest.raises(TopologyError) as raised:
        site_at(file)
    assert str(raised.value).startswith(f"{file}: ")
    assert problem in str(raised.value)
    assert LITERAL not in str(raised.value)


@pytest.mark.parametrize(("right", "wrong", "problem"), HEADS)
def test_a_wrong_value_is_named(tmp_path: Path, right: str, wrong: str, problem: str) -> None:
    """As above, where a key is there already."""
    with pytest.raises(TopologyError) as raised:
        site_at(written(tmp_path, SMALL.replace(right, wrong)))
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    "reference", ['{ env = "THEIRS" }', '{ file = "secret" }', '{ command = ["cat", "FOLDER/secret"] }']
)
def test_a_secret_is_fetched_from_where_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: str
) -> None:
    """By environment, file or command; it is in memory only."""
    monkeypatch.setenv("THEIRS", LITERAL)
    (tmp_path / "secret").write_text(f"{LITERAL}\n")
    kept = reference.replace("FOLDER", str(tmp_path))
    site = site_at(written(tmp_path, SMALL + CLIENT + f'"sasl.password" = {kept}\n'))
    assert site.client["sasl.password"] == LITERAL
    assert LITERAL not in repr(site)


@pytest.mark.parametrize(
    ("reference", "place"),
    [
        ('{ env = "NOT_SET_ANYWHERE" }', "the environment variable NOT_SET_ANYWHERE"),
        ('{ file = "nothing" }', "the file nothing"),
        ('{ command = ["false"] }', "the command false"),
        ('{ command = ["no-such-program"] }', "the command no-such-program"),
    ],
)
def test_a_secret_that_is_not_there_is_named_by_its_place(tmp_path: Path, reference: str, place: str) -> None:
    """With the key that refers to it."""
    file = written(tmp_path, SMALL + CLIENT + f'"sasl.password" = {reference}\n')
    with pytest.raises(WrongUseError) as raised:
        site_at(file)
    assert str(raised.value) == f"{file}: client.sasl.password: expected a secret in {place}, got none; put it there"


def test_tokens_are_had_by_client_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In librdkafka's names, the secret from where it is kept."""
    monkeypatch.setenv("THEIRS", "kept")
    login = """
[client]
"security.protocol" = "SASL_PLAINTEXT"
"sasl.mechanism" = "OAUTHBEARER"
"sasl.oauthbearer.token.endpoint.url" = "https://id.example/token"
"sasl.oauthbearer.client.id" = "us"
"sasl.oauthbearer.client.secret" = { env = "THEIRS" }
"""
    client = site_at(written(tmp_path, SMALL + login)).client
    assert client["sasl.oauthbearer.method"] == "oidc"
    assert client["sasl.oauthbearer.client.secret"] == "kept"
    assert "sasl.oauthbearer.scope" not in client
