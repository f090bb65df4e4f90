"""Settings with a key of their own in topologies: each becomes that key, or is left with a reason."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.topology import loading
from pytest_kmigrate.topology.importing.draft import Wish
from pytest_kmigrate.topology.importing.importer import Imported, imported

ZOOKEEPER_MODE = "broker.id=1\nzookeeper.connect=z:2181\n"
COMBINED = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@k:9093
controller.listener.names=CONTROLLER
listeners=CLIENTS://:9092,CONTROLLER://:9093
"""
SASL = "inter.broker.listener.name=CLIENTS\nlistener.security.protocol.map=CLIENTS:SASL_SSL,CONTROLLER:SASL_SSL\n"
TLS = "inter.broker.listener.name=CLIENTS\nlistener.security.protocol.map=CLIENTS:SSL,CONTROLLER:PLAINTEXT\n"
PLANES = "listeners=A://:1,PLANE://:2\nlistener.security.protocol.map=A:PLAINTEXT,PLANE:{}\n"
BROKER = "process.roles=broker\nnode.id=2\ncontroller.listener.names=C\n"
CONTROLLER = "process.roles=controller\nnode.id={}\ncontroller.listener.names=C\nlisteners=C://:9093\n"
OF_LISTENER = "listener.name.clients.ssl.client.auth=required\n"


def of_files(folder: Path, *texts: str, kafka: str | None = None) -> tuple[Imported, dict[str, Any]]:
    """What the files become, and the topology's tables as TOML has them, once the loader has taken it."""
    for number, text in enumerate(texts):
        (folder / f"{number}.properties").write_text(text, encoding="utf-8")
    found = imported([folder], Wish("mine", kafka))
    (folder / "mine.toml").write_text(found.text, encoding="utf-8")
    assert loading.load(folder / "mine.toml").nodes
    return found, tomllib.loads(found.text)


def left(found: Imported, key: str) -> set[str]:
    """Why a setting was left."""
    return {each.why for each in found.left if each.origin.key == key}


@pytest.mark.parametrize(
    ("settings", "silent"),
    [
        (f"{TLS}ssl.client.auth=required", ""),
        (f"{TLS}{OF_LISTENER}", ""),
        (f"{TLS}ssl.client.auth=none\n{OF_LISTENER}", ""),
        (f"{SASL}{OF_LISTENER}", "CONTROLLER"),
    ],
)
def test_certificates_of_clients_are_required(tmp_path: Path, settings: str, silent: str) -> None:
    """By the property of a listener, or by that of all; listeners that do not ask are named."""
    found, topology = of_files(tmp_path, COMBINED + settings)
    assert topology["security"]["client_auth"] == "required"
    assert [each.why for each in found.assumed if each.key == "security.client_auth"] == (
        [f"all listeners with TLS require certificates, as some do; {silent} would not"] if silent else []
    )


@pytest.mark.parametrize(
    ("settings", "key", "why"),
    [
        (f"{SASL}ssl.client.auth=required", "ssl.client.auth", "Kafka ignores it without TLS"),
        ("ssl.client.auth=required", "ssl.client.auth", "Kafka ignores it without TLS"),
        (f"{TLS}ssl.client.auth=requested", "ssl.client.auth", "certificates of clients are required here, or not"),
        (f"{TLS}ssl.client.auth=none", "ssl.client.auth", ""),
    ],
)
def test_certificates_that_no_client_needs(tmp_path: Path, settings: str, key: str, why: str) -> None:
    """The setting has no effect in Kafka, or a milder one."""
    found, topology = of_files(tmp_path, COMBINED + settings)
    assert "client_auth" not in topology.get("security", {})
    assert [each[: len(why)] for each in left(found, key)] == ([why] if why else [])


def test_a_control_plane_keeps_its_protocol(tmp_path: Path) -> None:
    """It is no listener of clients."""
    found, topology = of_files(tmp_path, ZOOKEEPER_MODE + PLANES.format("SSL") + "control.plane.listener.name=PLANE")
    assert topology["security"] == {"control_plane": "SSL"}
    assert left(found, "control.plane.listener.name") == set()


def test_a_control_plane_in_kraft_mode_is_left(tmp_path: Path) -> None:
    """Kafka does not start with one."""
    found, topology = of_files(tmp_path, COMBINED + "control.plane.listener.name=CLIENTS")
    assert "security" not in topology
    assert left(found, "control.plane.listener.name") == {"nodes in KRaft mode refuse it"}


def test_an_inventory_has_a_control_plane(tmp_path: Path) -> None:
    """cp-ansible makes its listener, by the protocol of all."""
    file = tmp_path / "hosts.yml"
    hosts = "zookeeper: {hosts: {z: }}\nkafka_broker: {hosts: {a: }, vars: {%s: true, ssl_enabled: true}}"
    file.write_text(hosts % "kafka_broker_configure_control_plane_listener", encoding="utf-8")
    assert 'control_plane = "SSL"' in imported([file], Wish("a")).text


def test_voters_that_no_file_names_are_in_the_log(tmp_path: Path) -> None:
    """From 3.9 on; a file that names voters decides for a fixed quorum."""
    bootstrap = "controller.quorum.bootstrap.servers=c:9093\n"
    texts = [BROKER + bootstrap, CONTROLLER.format(1) + bootstrap]
    assert of_files(tmp_path, *texts)[1]["quorum"] == "dynamic"
    old, topology = of_files(tmp_path, *texts, kafka="3.8.1")
    assert "quorum" not in topology
    assert left(old, bootstrap.partition("=")[0]) == {"voters are in the log of the quorum from 3.9 on"}
    fixed, topology = of_files(tmp_path, *(f"{each}controller.quorum.voters=1@c:9093\n" for each in texts))
    assert "quorum" not in topology
    assert left(fixed, bootstrap.partition("=")[0]) == {
        "controller.quorum.voters names the voters, so the quorum is a fixed one"
    }


def test_controllers_have_the_disks_of_their_files(tmp_path: Path) -> None:
    """Several log directories, and one for the metadata log alone."""
    voters = "controller.quorum.voters=1@c:9093\n"
    controller = CONTROLLER.format(1) + voters
    _, topology = of_files(tmp_path, BROKER + voters, f"{controller}log.dirs=/a,/b\nmetadata.log.dir=/m")
    assert topology["controller"]["log_dirs"] == 2
    assert topology["controller"]["metadata_disk"] is True
    found, topology = of_files(
        tmp_path, f"{BROKER}{voters}metadata.log.dir=/m", f"{controller}log.dirs=/a\nmetadata.log.dir=/a"
    )
    assert "metadata_disk" not in topology["controller"]
    assert left(found, "metadata.log.dir") == {
        "the metadata log shares a log directory",
        "brokers here have the metadata log in their first log directory",
    }


def test_a_single_controller_logs_in_by_scram(tmp_path: Path) -> None:
    """Where a topology can have it."""
    scram = "sasl.mechanism.controller.protocol=SCRAM-SHA-512\n"
    _, topology = of_files(tmp_path, COMBINED + SASL + scram)
    assert topology["security"]["controller_login"] == "SCRAM-SHA-512"
    found, topology = of_files(tmp_path, COMBINED + SASL + scram, kafka="3.4.1")
    assert "controller_login" not in topology["security"]
    assert left(found, "sasl.mechanism.controller.protocol") == {
        "SCRAM-SHA-512: logins at controllers are by PLAIN here"
    }


def test_nodes_beyond_those_that_a_topology_has_leave_nothing(tmp_path: Path) -> None:
    """Of four controllers three are taken; a table for the fourth would be a mistake."""
    voters = f"controller.quorum.voters={','.join(f'{each}@c:9093' for each in (11, 12, 13, 14))}\n"
    texts = [f"{CONTROLLER.format(each)}{voters}log.dirs=/a{',/b' * (each == 14)}\n" for each in (11, 12, 13, 14)]
    found, topology = of_files(tmp_path, BROKER + voters, *texts)
    assert "node" not in topology
    assert left(found, "node.id") == {"a topology has 1, 3, 5 of them"}
