"""Certificates, credentials and properties of protected listeners, by role and mode."""

import ssl
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509

from pytest_kmigrate.model.topology import BrokerMode, Listener, Role, Security, Topology
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.providers.owned.properties import node_properties
from pytest_kmigrate.providers.owned.protection.security import MECHANISM, Protection, client_file, protect
from pytest_kmigrate.redaction import redacted_properties
from pytest_kmigrate.topology.loading import find, load

BLOCK = 7
EVERY_MODE = [(Role.BROKER, BrokerMode.ZOOKEEPER), (Role.BROKER, BrokerMode.KRAFT), (Role.CONTROLLER, None)]
DECLARED = "INTERNAL:SASL_SSL,CLIENT:SASL_SSL,CONTROLLER:SASL_SSL"


@pytest.fixture
def topology() -> Topology:
    """ZooKeeper, three brokers, three controllers, with SASL_SSL and ACLs."""
    return load(find("zk1-broker3-controller3-sasl"))


@pytest.fixture
def protection(topology: Topology, tmp_path: Path) -> Protection:
    """The protection of that topology, its files made."""
    return protect(Addresses(topology, BLOCK), tmp_path / "security")


def properties(topology: Topology, protection: Protection, role: Role, mode: BrokerMode | None) -> dict[str, str]:
    """What the first node of a role starts with."""
    spec = topology.of_role(role)[0]
    return node_properties(Addresses(topology, BLOCK), protection, spec, mode, Path("disk"), {})


def handshake(folder: Path, node: str, address: str) -> None:
    """A TLS handshake in memory: a client that trusts the authority dials ``address`` and meets ``node``."""
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(folder / f"{node}.pem")
    client_context = ssl.create_default_context(cafile=str(folder / "authority.pem"))
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(to_client, to_server, server_hostname=address)
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    waiting = [client, server]
    while waiting:
        for side in list(waiting):
            try:
                side.do_handshake()
                waiting.remove(side)
            except ssl.SSLWantReadError:
                pass


def test_certificate_names_node_and_every_address(protection: Protection, tmp_path: Path) -> None:
    """A node's certificate holds its name, its own address, and its address as seen by each node and by clients."""
    pem = (tmp_path / "security" / "broker-1.pem").read_bytes()
    names = x509.load_pem_x509_certificate(pem).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    seen_by = [str(address) for address in names.get_values_for_type(x509.IPAddress)]
    assert names.get_values_for_type(x509.DNSName) == ["broker-1"]
    assert set(seen_by) == {f"127.7.{source}.3" for source in (0, 1, 2, 4, 5, 6, 7, 250)}


@pytest.mark.parametrize("address", ["broker-1", "127.7.250.3", "127.7.0.3"])
def test_clients_accept_the_node_they_dialled(protection: Protection, tmp_path: Path, address: str) -> None:
    """Under its name, through the clients' link and past the links a node is taken for itself."""
    handshake(tmp_path / "security", "broker-1", address)


@pytest.mark.parametrize("address", ["broker-0", "127.7.250.2", "127.8.250.3"])
def test_clients_refuse_another_node(protection: Protection, tmp_path: Path, address: str) -> None:
    """A certificate does not pass for another node, nor for the same node of a cluster beside it."""
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(tmp_path / "security", "broker-1", address)


def test_clients_refuse_a_node_of_another_authority(protection: Protection, topology: Topology, tmp_path: Path) -> None:
    """Every cluster has an authority of its own, also on the same addresses."""
    protect(Addresses(topology, BLOCK), tmp_path / "another")
    (tmp_path / "another" / "broker-1.pem").replace(tmp_path / "security" / "broker-1.pem")
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(tmp_path / "security", "broker-1", "broker-1")


def test_files_are_private(protection: Protection, tmp_path: Path) -> None:
    """Nobody else can look into the folder, or read any file in it, those that carry a password to a tool included."""
    folder = tmp_path / "security"
    protection.format_arguments()
    protection.scram_in_zookeeper("127.7.0.1:2181")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert len(list(folder.glob("*.pem"))) == 7  # three brokers, three controllers, the authority; ZooKeeper has none


@pytest.mark.parametrize(("role", "mode"), EVERY_MODE)
def test_every_listener_is_protected(
    topology: Topology, protection: Protection, role: Role, mode: BrokerMode | None
) -> None:
    """Brokers in either mode and controllers can let in, and be let in by, all that they meet in a migration."""
    made = properties(topology, protection, role, mode)
    assert made["listener.security.protocol.map"] == DECLARED
    assert made["sasl.mechanism.inter.broker.protocol"] == "SCRAM-SHA-512"
    assert made["sasl.mechanism.controller.protocol"] == "PLAIN"
    assert made["listener.name.controller.sasl.enabled.mechanisms"] == "PLAIN"
    assert 'username="admin"' in made["listener.name.internal.scram-sha-512.sasl.jaas.config"]
    assert 'user_admin="' in made["listener.name.controller.plain.sasl.jaas.config"]
    assert Path(made["ssl.keystore.location"]).name == f"{topology.of_role(role)[0].name}.pem"
    assert made["super.users"] == "User:admin"


def test_client_listener_holds_no_password(topology: Topology, protection: Protection) -> None:
    """What clients are asked for on their listener is looked up in the metadata, not in the properties."""
    made = properties(topology, protection, Role.BROKER, BrokerMode.ZOOKEEPER)
    assert "password" not in made["listener.name.client.scram-sha-512.sasl.jaas.config"]


def test_zookeeper_stays_plain(topology: Topology, protection: Protection) -> None:
    """A ZooKeeper server gets nothing of it."""
    made = properties(topology, protection, Role.ZOOKEEPER, None)
    assert not [key for key in made if "sasl" in key or "ssl" in key]


@pytest.mark.parametrize(("role", "mode"), EVERY_MODE)
def test_evidence_shows_no_password(
    topology: Topology, protection: Protection, role: Role, mode: BrokerMode | None
) -> None:
    """The copy of the properties that goes into the run folder has no secret in it."""
    made = properties(topology, protection, role, mode)
    shown = str(redacted_properties(made))
    for secret in passwords(protection):
        assert secret in str(made)
        assert secret not in shown


def test_passwords_differ_between_clusters_and_listeners(
    protection: Protection, topology: Topology, tmp_path: Path
) -> None:
    """Two clusters share no secret, and PLAIN's is not SCRAM's, nor what tokens are signed with."""
    another = protect(Addresses(topology, BLOCK), tmp_path / "another")
    assert len(set(passwords(protection) + passwords(another))) == 6


def test_object_tells_no_password(protection: Protection) -> None:
    """Printing the protection, as a failing assertion does, shows no password."""
    assert not [secret for secret in passwords(protection) if secret in repr(protection)]


def test_tools_get_the_credential_by_file(protection: Protection) -> None:
    """Command lines can be read by everybody: the password goes to both tools in a file."""
    password = protection.client_properties()["sasl.password"]
    formatting = protection.format_arguments()
    altering = protection.scram_in_zookeeper("127.7.0.1:2181")
    assert password not in " ".join([*formatting, *altering])
    assert altering[:2] == ["--zookeeper", "127.7.0.1:2181"]
    assert f"[name=admin,iterations=4096,password={password}]" in Path(formatting[0].removeprefix("@")).read_text()
    assert f"{MECHANISM}=iterations=4096,password={password}\n" == Path(altering[-1]).read_text()


def test_clients_are_told_whom_to_trust(protection: Protection, tmp_path: Path) -> None:
    """Clients check the node's identity and log in as the superuser."""
    reported = protection.client_properties()
    assert reported["security.protocol"] == "SASL_SSL"
    assert reported["ssl.ca.location"] == str(tmp_path / "security" / "authority.pem")
    assert reported["ssl.endpoint.identification.algorithm"] == "https"
    assert (reported["sasl.mechanism"], reported["sasl.username"]) == (MECHANISM, "admin")


def test_a_greeting_needs_trust_and_no_login(protection: Protection, topology: Topology, tmp_path: Path) -> None:
    """Kafka answers ApiVersions before any login, at each listener."""
    greeting = protection.greeting_properties(Listener.CLIENT)
    assert greeting == {"security.protocol": "SSL", "ssl.ca.location": str(tmp_path / "security" / "authority.pem")}
    plain = protect(Addresses(replace(topology, security=Security(client="SASL_PLAINTEXT")), BLOCK), tmp_path / "plain")
    assert plain.greeting_properties(Listener.CLIENT) == {}


def test_plaintext_needs_nothing(topology: Topology, tmp_path: Path) -> None:
    """Without protection there are no files, no credentials, and the anonymous user is the superuser."""
    plain = replace(topology, security=Security(authorizer=True))
    protection = protect(Addresses(plain, BLOCK), tmp_path / "security")
    made = properties(plain, protection, Role.BROKER, BrokerMode.ZOOKEEPER)
    assert made["listener.security.protocol.map"] == DECLARED.replace("SASL_SSL", "PLAINTEXT")
    assert made["super.users"] == "User:ANONYMOUS"
    assert not [key for key in made if "sasl" in key or "ssl" in key]
    assert (protection.client_properties(), protection.format_arguments()) == ({}, [])
    assert protection.scram_in_zookeeper("127.7.0.1:2181") == []
    assert not (tmp_path / "security").exists()


def passwords(protection: Protection) -> list[str]:
    """The password of SCRAM, that of PLAIN, and what tokens are signed with."""
    spec = load(find("zk1-broker3-controller3-sasl")).of_role(Role.BROKER)[0]
    made = protection.node_properties(spec)
    plain = made["listener.name.controller.plain.sasl.jaas.config"].split('password="')[1].split('"')[0]
    return [protection.client_properties()["sasl.password"], plain, made["delegation.token.secret.key"]]


def test_tokens_are_signed_with_one_secret_where_every_release_can(topology: Topology, tmp_path: Path) -> None:
    """Brokers and controllers share it; a KRaft broker of 3.5 would not start with one, so no node gets any."""
    for kafka, secrets in {"3.5.2": 0, "3.6.0": 1, "3.9.1": 1, "/opt/kafka": 1}.items():
        shape = replace(topology, nodes=tuple(replace(spec, kafka=kafka) for spec in topology.nodes))
        protection = protect(Addresses(shape, BLOCK), tmp_path / kafka.replace("/", "-"))
        made = [properties(shape, protection, role, mode) for role, mode in EVERY_MODE]
        assert len({each.get("delegation.token.secret.key") for each in made} - {None}) == secrets
        assert sum("delegation.token.secret.key" in each for each in made) == secrets * len(EVERY_MODE)


def test_kafkas_own_tools_are_let_in_by_a_file_nobody_else_can_read(protection: Protection, tmp_path: Path) -> None:
    """User, mechanism and trust as Kafka's Java clients take them; the password is in the file, not in our output."""
    file = client_file(protection, tmp_path)
    assert file is not None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    lines = dict(line.split("=", 1) for line in file.read_text().splitlines())
    reported = protection.client_properties()
    assert lines["security.protocol"] == reported["security.protocol"]
    assert lines["ssl.truststore.location"] == reported["ssl.ca.location"]
    assert f'username="admin" password="{reported["sasl.password"]}"' in lines["sasl.jaas.config"]


def test_an_open_cluster_needs_no_such_file(tmp_path: Path) -> None:
    """Everybody is let in."""
    assert client_file(Protection(Security(), tmp_path / "security"), tmp_path) is None
    assert list(tmp_path.iterdir()) == []
