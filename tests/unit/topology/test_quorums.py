"""Shapes that only some clusters and releases can have: what a file of them comes to, and its mistakes."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.model.topology import Listener, Topology
from pytest_kmigrate.providers.owned.disks.folders import directories, metadata_dir
from pytest_kmigrate.providers.owned.network.addresses import CONTROL_PLANE_PORT, Addresses
from pytest_kmigrate.providers.owned.properties import node_properties
from pytest_kmigrate.providers.owned.protection.security import protect
from pytest_kmigrate.topology.loading import find, load

BORN = """
name = "born"
kafka = "{kafka}"
{top}
[broker]
count = 1
[controller]
count = {count}
{controller}
[security]
"""
MIGRATED = """
name = "migrated"
kafka = "3.9.1"
{top}
[zookeeper]
count = 1
[broker]
count = 1
[controller]
count = 1
[security]
"""
BY_SCRAM = 'protocol = "SASL_SSL"\ncontroller_login = "SCRAM-SHA-512"'


def loaded(tmp_path: Path, text: str, security: str = "", **parts: object) -> Topology:
    """The topology of these parts."""
    file = tmp_path / "shape.toml"
    file.write_text(text.format(**{"kafka": "3.9.1", "top": "", "count": 1, "controller": "", **parts}) + security)
    return load(file)


def properties(topology: Topology, node: str, folder: Path) -> dict[str, str]:
    """What a node of it starts with."""
    addresses, spec = Addresses(topology, 7), topology.node(node)
    return node_properties(addresses, protect(addresses, folder / node), spec, spec.mode, folder / "disk", {})


@pytest.mark.parametrize(
    ("text", "security", "parts", "problem"),
    [
        (
            BORN,
            "",
            {"kafka": "3.8.1", "top": 'quorum = "dynamic"'},
            "quorum: expected every node to run 3.9.0 or later, *",
        ),
        (MIGRATED, "", {"top": 'quorum = "dynamic"'}, "quorum: expected a cluster without [zookeeper], *"),
        (BORN, BY_SCRAM, {"count": 3}, "*(KAFKA-15513); got 3 controllers: *"),
        (MIGRATED, BY_SCRAM, {}, "*; got a [zookeeper] table: write *"),
        (
            BORN,
            'controller_login = "SCRAM-SHA-512"',
            {},
            "*expected a listener of controllers with SASL, got PLAINTEXT: *",
        ),
        (
            BORN,
            BY_SCRAM,
            {"kafka": "3.4.1"},
            "security.controller_login: expected every node to run 3.5.0 or later, *",
        ),
        (BORN, 'client_auth = "required"', {}, "security.client_auth: expected a listener with TLS beside it *"),
        (BORN, 'control_plane = "PLAINTEXT"', {}, "security.control_plane: expected a [zookeeper] table beside it, *"),
    ],
)
def test_what_a_cluster_or_a_release_cannot_have_is_one_clear_mistake(
    tmp_path: Path, text: str, security: str, parts: dict[str, object], problem: str
) -> None:
    """With the key, what was expected, and what to do."""
    with pytest.raises(TopologyError) as raised:
        loaded(tmp_path, text, security, **parts)
    (only,) = raised.value.problems
    assert all(part in only for part in problem.split("*"))


def test_certificates_name_nodes_and_clients(tmp_path: Path) -> None:
    """All are superusers by the common names; clients show one where it is asked for."""
    topology = loaded(tmp_path, BORN, 'protocol = "SSL"\nclient_auth = "required"\nauthorizer = true')
    held = properties(topology, "broker-0", tmp_path)
    assert held["ssl.client.auth"] == "required"
    assert held["super.users"] == "User:admin;User:broker-0;User:controller-3000"
    protection = protect(Addresses(topology, 7), tmp_path / "own")
    shown = protection.client_properties()
    assert shown["ssl.certificate.location"] == shown["ssl.key.location"] == str(tmp_path / "own" / "admin.pem")
    assert Path(shown["ssl.key.location"]).is_file()
    assert protection.tool_properties()["ssl.keystore.location"] == shown["ssl.key.location"]
    plain = loaded(tmp_path, BORN, 'protocol = "SSL"')
    assert "ssl.certificate.location" not in protect(Addresses(plain, 7), tmp_path / "plain").client_properties()


@pytest.mark.parametrize(("security", "mechanism"), [(BY_SCRAM, "SCRAM-SHA-512"), ('protocol = "SASL_SSL"', "PLAIN")])
def test_requests_of_ours_log_in_at_controllers(tmp_path: Path, security: str, mechanism: str) -> None:
    """As brokers do: a test may ask a controller of a protected cluster, too."""
    shown = protect(Addresses(loaded(tmp_path, BORN, security), 7), tmp_path / "own").client_properties("CONTROLLER")
    assert (shown["security.protocol"], shown["sasl.mechanism"], shown["sasl.username"]) == (
        *("SASL_SSL", mechanism),
        "admin",
    )


def test_a_dynamic_quorum_is_found_by_its_servers(tmp_path: Path) -> None:
    """No node names the voters."""
    topology = loaded(tmp_path, BORN, top='quorum = "dynamic"', count=3)
    for node in ("broker-0", "controller-3001"):
        held = properties(topology, node, tmp_path)
        assert "controller.quorum.voters" not in held
        assert held["controller.quorum.bootstrap.servers"].startswith("controller-3000:9093,controller-3001:9093,")


def test_controllers_have_disks(tmp_path: Path) -> None:
    """Several, and one of its own for the metadata log."""
    topology = loaded(tmp_path, BORN, controller="log_dirs = 2\nmetadata_disk = true")
    spec, disk = topology.node("controller-3000"), tmp_path / "disk"
    held = properties(topology, spec.name, tmp_path)
    assert held["log.dirs"] == f"{disk}/dir-1,{disk}/dir-2"
    assert held["metadata.log.dir"] == str(metadata_dir(disk, spec)) == f"{disk}/metadata"
    assert len(directories(disk, spec)) == 3
    assert "metadata.log.dir" not in properties(topology, "broker-0", tmp_path)


def test_a_control_plane_is_of_brokers_in_zookeeper_mode(tmp_path: Path) -> None:
    """Over links of its own from every broker and controller; a broker in KRaft mode has none."""
    topology = loaded(tmp_path, MIGRATED, 'control_plane = "SASL_PLAINTEXT"')
    held = properties(topology, "broker-0", tmp_path)
    assert held["control.plane.listener.name"] == Listener.CONTROL_PLANE
    assert f"CONTROL_PLANE://broker-0:{CONTROL_PLANE_PORT}" in held["listeners"]
    assert "CONTROL_PLANE:SASL_PLAINTEXT" in held["listener.security.protocol.map"]
    assert "listener.name.control_plane.scram-sha-512.sasl.jaas.config" in held
    assert "control.plane.listener.name" not in properties(topology, "controller-3000", tmp_path)
    links = [each for each in Addresses(topology, 7).links() if each.port == CONTROL_PLANE_PORT]
    assert {(each.source, each.destination) for each in links} == {("controller-3000", "broker-0")}


def test_what_came_later_changes_no_digest() -> None:
    """Of topologies that do not use it: plans and checkpoints of earlier releases stay."""
    assert load(find("zk1-broker3-controller3")).digest() == (
        "fd0d537a93d15f366edbb1d015f795dbaeedf02d4f03b513eee729d9d80332e6"
    )
    used = load(find("kraft-broker3-controller3"))
    assert used.digest() != type(used)(**{**used.__dict__, "dynamic_quorum": True}).digest()
