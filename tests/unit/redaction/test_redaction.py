"""Secrets never reach an artefact, and what replaces them still compares."""

import json
import re

import pytest

from pytest_kmigrate.redaction import (
    hashed,
    is_sensitive,
    line_with_secret,
    logs,
    redacted,
    redacted_properties,
    scram_digest,
    shown,
)
from pytest_kmigrate.redaction.logs import log_without_secrets, without_secrets

SECRET = "hunter2-XyZ"
JAAS = f'org.apache.kafka.common.security.scram.ScramLoginModule required username="bob" password="{SECRET}";'
LEAKY_TEXTS = [
    f"ssl.keystore.password={SECRET}",
    f"listener.name.internal.ssl.key.password = {SECRET} and, more",
    f"sasl.jaas.config={JAAS}",
    f'KafkaServer {{ org.x.PlainLoginModule required username="a" password="b" user_admin="{SECRET}"; }};',
    f"listener.name.x.scram-sha-256.sasl.jaas.config=org.x.ScramLoginModule required \\\n  user_a={SECRET};\nother=1",
    json.dumps({"version": 1, "config": {"ssl.truststore.password": SECRET}}),
    json.dumps({"text": json.dumps({"sasl.jaas.config": JAAS})}),
    json.dumps({"sasl.jaas.config": JAAS}),
    json.dumps({"text": json.dumps({"ssl.key.password": f"with spaces, {SECRET}"})}),
    json.dumps({"type": "CONFIG_RECORD", "data": {"name": "ssl.key.password", "value": SECRET}}, separators=(",", ":")),
    json.dumps({"salt": SECRET, "storedKey": SECRET, "serverKey": SECRET, "iterations": 4096}),
    f"SCRAM-SHA-256=[iterations=8192,password={SECRET}]",
    f"-Djavax.net.ssl.trustStorePassword={SECRET} -Xmx1g",
    f"delegation.token.secret.key={SECRET}",
    f"password.encoder.secret={SECRET}",
    f"{{ssl.key.password={SECRET}, a=b}}",
    f"password: {SECRET}",
    f"-----BEGIN PRIVATE KEY-----\nMIIB{SECRET}\n-----END PRIVATE KEY-----",
    f"-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB{SECRET}",
    f"proxy at http://user:{SECRET}@host:1/",
    f"hmac={SECRET}",
]


@pytest.mark.parametrize("text", LEAKY_TEXTS)
def test_no_secret_survives(text: str) -> None:
    """Every way in which Kafka's files, znodes, records and commands write a secret is recognised."""
    assert SECRET not in redacted(text)


@pytest.mark.parametrize("text", LEAKY_TEXTS)
def test_redacting_twice_changes_nothing(text: str) -> None:
    """A redacted text can pass another redaction on its way to disk without losing its hashes."""
    assert redacted(redacted(text)) == redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        "ssl.keystore.location=/etc/keys/password.jks",
        "password.encoder.iterations=4096",
        "zookeeper.connect=127.0.0.1:2181",
        '{"version":1,"config":{"retention.ms":"1"}}',
        "[2026-01-01] INFO [Controller id=1] Replayed TopicRecord for topic orders (x.y.Z)",
        "ssl.key.password = [hidden]",
        "http://127.0.0.1:7777/jolokia",
    ],
)
def test_harmless_text_stays(text: str) -> None:
    """Evidence without secrets is not damaged."""
    assert redacted(text) == text


def test_equal_secrets_stay_comparable() -> None:
    """A sensitive property becomes a hash that equals another side's hash of the same value, and of no other value."""
    properties = redacted_properties({"ssl.key.password": SECRET, "num.io.threads": "8"})
    assert properties == {"ssl.key.password": hashed(SECRET), "num.io.threads": "8"}
    assert hashed(SECRET) == hashed(hashed(SECRET)) != hashed(SECRET + "x")
    assert hashed(SECRET).startswith("hidden:")
    assert len(hashed(SECRET)) == len("hidden:") + 12


def test_sensitive_is_known_by_the_end_of_the_name() -> None:
    """Listener and mechanism prefixes do not hide a secret, and settings about secrets are not secrets."""
    assert is_sensitive("listener.name.a.scram-sha-256.sasl.jaas.config")
    assert is_sensitive("ssl.keystore.key")
    assert not is_sensitive("ssl.keystore.location")
    assert not is_sensitive("password.encoder.key.length")


def test_scram_digest_does_not_depend_on_padding() -> None:
    """The same credential written with and without base64 padding is one; another salt is another."""
    assert scram_digest("YWI=", "Y2Q=", "ZWY=") == scram_digest("YWI", "Y2Q", "ZWY")
    assert scram_digest("YWI=", "Y2Q=", "ZWY=") != scram_digest("YWM=", "Y2Q=", "ZWY=")


def test_scram_znode_text_keeps_iterations_and_digest() -> None:
    """What ZooKeeper stores for a user becomes one digest beside the iterations."""
    text = redacted("salt=YWI=,stored_key=Y2Q=,server_key=ZWY=,iterations=4096")
    assert text == f"digest={scram_digest('YWI=', 'Y2Q=', 'ZWY=')},iterations=4096"


@pytest.mark.parametrize(
    "text",
    [
        "PASSWORD=xyzzy",
        "passwd: xyzzy",
        "jaas.config=xyzzy",
        "master.key=xyzzy",
        "ssl.truststore.certificates=xyzzy",
        "secret=xyzzy",
        "hmac=xyzzy",
        "salt=xyzzy",
        "-----BEGIN BLOCK-----\nxyzzy\n-----END BLOCK-----",
        "PlainLoginModule required user=xyzzy;",
        "https://ada:xyzzy@host",
    ],
)
def test_each_hint_alone_is_enough(text: str) -> None:
    """Most texts have none and are spared the patterns; one that has any is looked at."""
    assert "xyzzy" not in redacted(text)


FOLDED = """A credential, e.g. '[name=alice,password=alice-
  secret]' or [salt="
  N3E=",saltedpassword="abc"]
"""


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ({"output": redacted(FOLDED)}, None),
        ({"output": "password=open\nsesame"}, 1),
        ({"output": 'say "password=open"'}, 1),
        ({"password": "open"}, 1),
        ({"data": json.dumps({"password": "open"})}, 1),
        ({"data": json.dumps({"password": shown("password", "open")})}, None),
    ],
)
def test_what_was_redacted_before_it_was_escaped_is_no_secret(recorded: dict[str, str], expected: int | None) -> None:
    """A tool's help folds an example over lines: the end of a line is an escape in JSON, and ends a value."""
    assert line_with_secret(json.dumps(recorded), is_json=True) == expected


@pytest.mark.parametrize("text", LEAKY_TEXTS)
def test_a_leak_in_a_line_of_json_is_found(text: str) -> None:
    """Whatever the recorder takes out of a text is found where it did not."""
    assert line_with_secret(json.dumps({"line": text}), is_json=True) == 1


def test_bytes_of_a_secret_are_hidden_one_and_all() -> None:
    """A controller that fails at a request logs it, with the salted password as numbers."""
    text = "ScramCredentialUpsertion(name='a', iterations=6210, salt=[-44, 5], saltedPassword=[-36, -66, 17])])"
    assert redacted(text) == (
        f"ScramCredentialUpsertion(name='a', iterations=6210, salt={hashed('[-44, 5]')}, "
        f"saltedPassword={hashed('[-36, -66, 17]')})])"
    )


@pytest.mark.parametrize("secret", ["a", SECRET, 9 * SECRET])
def test_a_log_keeps_its_length_without_its_secrets(secret: str) -> None:
    """Events count the bytes of logs. Lines without a secret are left alone, and none is found a second time."""
    before, after = b"INFO started\r\n", b"INFO \xff went on\nlast"
    log = before + f"INFO Updating x.password={secret} (kafka.server.ZkAdminManager)\n".encode() + after
    ((begin, line),) = without_secrets(log)
    hidden = log[:begin] + line + log[begin + len(line) :]
    assert begin == len(before)
    assert (len(hidden), hidden[: len(before)], hidden[-len(after) :]) == (len(log), before, after)
    assert secret not in line.decode().removeprefix("INFO Updating x.password=").partition(" ")[0]
    assert list(without_secrets(hidden)) == []


@pytest.mark.parametrize("ending", ["-----END PRIVATE KEY-----", ""])
def test_a_key_in_a_log_is_hidden_to_its_end(ending: str) -> None:
    """It has many lines, and the log goes on behind it, also where the key was cut off."""
    key = f"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\n{ending}\n"
    log = f"INFO a\n{key}[2026-01-01] INFO b (x.Y)\n".encode()
    hidden = log_without_secrets(log)
    assert len(hidden) == len(log)
    assert not re.search(b"MIIE|Bgkqh", hidden)
    assert (hidden.splitlines()[0], hidden.splitlines()[-1]) == (b"INFO a", b"[2026-01-01] INFO b (x.Y)")


def test_what_a_log_says_again_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node without a free file says the same twenty thousand times a second, and a run waits for each look."""
    looked_at: list[str] = []

    def replaced(text: str) -> str:
        looked_at.append(text)
        return text

    monkeypatch.setattr(logs, "known_replaced", replaced)
    log = b"ERROR Too many open files\n\tat x.Y.accept\n" * 1000 + f"x.password={SECRET}\n".encode() * 2
    hidden = log_without_secrets(log)
    assert (len(hidden), hidden.count(SECRET.encode())) == (len(log), 0)
    assert sorted(looked_at) == ["\tat x.Y.accept", "ERROR Too many open files"]


@pytest.mark.parametrize(
    "lines",
    [
        "sasl.jaas.config=org.x.ScramLoginModule required \\\n  username=a password=xyzzy;",
        '{\n "name": "DB_PASSWORD",\n "value": "xyzzy"\n}',
        "- name: DB_PASSWORD\n  value: xyzzy",
        "db:\n  password: |\n    xyzzy",
        "db:\n  password: >-\n    xyzzy",
    ],
)
def test_a_value_in_the_next_line_of_a_log_is_hidden(lines: str) -> None:
    """Configurations are logged as they were written."""
    log = f"INFO it has\n{lines}\nINFO and went on\n".encode()
    hidden = log_without_secrets(log)
    assert (len(hidden), hidden.count(b"\n")) == (len(log), log.count(b"\n"))
    assert b"xyzzy" not in hidden
    assert b"\nINFO and went on\n" in hidden
