"""Properties in topology files: those that decide what the product itself must know, and those that are kept."""

from pathlib import Path

import pytest

from pytest_kmigrate.topology.loading import load
from tests.unit.topology.test_mistakes import MIGRATABLE, THE_PROVIDERS, problems_of

MINE = "write protocol, listeners or extra_listeners in [security]"
LOGINS = 'write zookeeper = "SASL" in [security]'
TLS = 'write zookeeper = "SSL" in [security]'
OF_CONTROLLERS = 'write controller_login = "PLAIN" or "SCRAM-SHA-512" in [security]; no other way is offered'
BY_SCRAM = 'write protocol = "SASL_SSL" or "SASL_PLAINTEXT" in [security]'
NOT_OFFERED = "leave it out (clients log in by SCRAM-SHA-512: {} is not offered)"
NO_KERBEROS = "leave it out (logins are by SCRAM, and at controllers by PLAIN or SCRAM: others are not offered)"
STORES = 'leave it out: a listener with TLS (protocol = "SSL" or "SASL_SSL" in [security]) gets stores of its own'
OWNED = [
    ("zookeeper", "clientPort", "2181", "leave it out ([zookeeper] makes it)"),
    ("zookeeper", "dataDir", "/data", "leave it out ([zookeeper] makes it)"),
    ("zookeeper", "server.1", "elsewhere:2888:3888", "leave it out ([zookeeper] makes it)"),
    ("zookeeper", "authProvider.sasl", "org.example.Provider", LOGINS),
    ("zookeeper", "secureClientPort", "2182", TLS),
    ("controller", "zookeeper.ssl.client.enable", "true", TLS),
    ("zookeeper", "sslQuorum", "true", "leave it out (TLS among ZooKeeper servers is not offered)"),
    ("broker", "zookeeper.connect", "zookeeper-1:2181/kafka", 'write chroot = "/kafka" in [zookeeper]'),
    ("broker", "zookeeper.connect", "zookeeper-1:2181", "leave it out: [zookeeper] makes it"),
    (
        "broker",
        "zookeeper.set.acl",
        "true",
        'write zookeeper = "SASL" or "SSL" and zookeeper_acls = true in [security]',
    ),
    ("broker", "inter.broker.listener.name", "MINE", MINE),
    ("broker", "advertised.listeners", "MINE://broker-0:9092", MINE),
    ("broker", "log.dirs", "/data/a,/data/b", "write log_dirs = 2 in [broker]"),
    ("broker", "log.dir", "/data", "leave it out (each node has its own disk)"),
    ("broker", "metadata.log.dir", "/data", "leave it out (of brokers the metadata log is in the first log directory)"),
    ("controller", "metadata.log.dir", "/data", "write metadata_disk = true in [controller]"),
    ("broker", "ssl.client.auth", "required", 'write client_auth = "required" in [security]'),
    ("controller", "ssl.client.auth", "requested", 'write client_auth = "none" in [security]'),
    ("controller", "sasl.mechanism.controller.protocol", "SCRAM-SHA-512", OF_CONTROLLERS),
    ("broker", "sasl.enabled.mechanisms", "SCRAM-SHA-256", BY_SCRAM),
    ("broker", "sasl.enabled.mechanisms", "GSSAPI", NOT_OFFERED.format("GSSAPI")),
    ("broker", "sasl.kerberos.service.name", "kafka", NO_KERBEROS),
    ("broker", "process.roles", "broker", "write [combined] for nodes that are broker and controller"),
    ("broker", "listener.name.client.plain.sasl.jaas.config", "o.PlainLoginModule", NOT_OFFERED.format("PLAIN")),
    ("broker", "ssl.keystore.location", "/x", STORES),
    (
        "broker",
        "sasl.login.callback.handler.class",
        "x",
        "leave it out (clients and nodes log in by Kafka's own classes)",
    ),
    (
        "broker",
        "principal.builder.class",
        "x",
        "leave it out (superusers are named by Kafka's own builder)",
    ),
    (
        "broker",
        "control.plane.listener.name",
        "X",
        'write control_plane = "PLAINTEXT", or another protocol, in [security]',
    ),
    ("broker", "auto.include.jmx.reporter", "false", "leave it out (probes read metrics by JMX)"),
    (
        "zookeeper",
        "4lw.commands.whitelist",
        "ruok",
        "leave it out (four-letter words show whether a server serves)",
    ),
    ("controller", "node.id", "7", "write ids, or first_id, in [controller]"),
    (
        "controller",
        "controller.quorum.bootstrap.servers",
        "controller-3000:9093",
        'leave it out ([controller] or [combined] makes it; for voters in the log write quorum = "dynamic")',
    ),
    ("controller", "controller.listener.names", "MINE", MINE),
    ("controller", "listener.security.protocol.map", "MINE:PLAINTEXT", MINE),
]


@pytest.mark.parametrize(("role", "key", "value", "advice"), OWNED)
def test_a_property_of_the_provider_is_refused_with_the_key_to_use(
    tmp_path: Path, role: str, key: str, value: str, advice: str
) -> None:
    """Addresses, ids, disks and logins: the product would not know them, and the plan would not show them."""
    text = MIGRATABLE + f'[{role}.properties]\n"{key}" = "{value}"\n'
    shown = key if key.isalpha() else f'"{key}"'
    assert problems_of(tmp_path, text) == (f'{role}.properties.{shown}: {THE_PROVIDERS}, got "{value}": {advice}',)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("server.max.startup.time.ms", "60000"),
        ("listener.name.client.max.connections", "9"),
        ("ssl.cipher.suites", "TLS_AES_128_GCM_SHA256"),
        ("authorizer.class.name", "org.example.Mine"),
        ("super.users", "User:somebody"),
    ],
)
def test_a_property_that_decides_nothing_of_ours_is_kept(tmp_path: Path, key: str, value: str) -> None:
    """Only ``server.N`` names a ZooKeeper peer, only logins and stores of a listener are ours; ACLs are understood."""
    (tmp_path / "own.toml").write_text(MIGRATABLE + f'properties = {{ "{key}" = "{value}" }}\n')
    assert load(tmp_path / "own.toml").node("broker-0").properties == {key: value}
