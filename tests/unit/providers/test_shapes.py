"""Shapes that real clusters have, as the process provider makes them: properties, links, disks, logins."""

import base64
import hashlib
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.links import Link
from pytest_kmigrate.model.topology import BrokerMode, Jar, NodeSpec, Role, Security, Topology
from pytest_kmigrate.providers.owned.commands import Tool
from pytest_kmigrate.providers.owned.disks import folders
from pytest_kmigrate.providers.owned.disks.storage import common_level
from pytest_kmigrate.providers.owned.jvm import Jvm
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.providers.owned.properties import node_properties, quorum_voters, zookeeper_connect
from pytest_kmigrate.providers.owned.protection.security import Protection, protect
from pytest_kmigrate.providers.owned.protection.zookeeper import make_chroot
from pytest_kmigrate.topology.loading import find, load
from tests.unit.fakes import topology

CUSTOM = "org.example.Mine"


def written(
    shape: Topology, name: str, mode: BrokerMode | None = None, changes: Mapping[str, str | None] | None = None
) -> dict[str, str]:
    """What a node's file holds, on block 7."""
    protection = Protection(shape.security, Path("security"))
    return node_properties(Addresses(shape, 7), protection, shape.node(name), mode, Path("/disk"), changes or {})


@pytest.fixture
def grown() -> Topology:
    """A shape with most of it."""
    return load(find("zk1-broker3-controller3-grown"))


@pytest.fixture
def combined() -> Topology:
    """Three combined nodes."""
    return load(find("kraft-combined3"))


def test_the_chroot_is_behind_the_last_server_only(grown: Topology) -> None:
    """As Kafka reads it; brokers have it at once, controllers by the step that lets them in."""
    assert zookeeper_connect(grown) == "zookeeper-1:2181/kafka/prod"
    five = replace(load(find("zk5-broker10-controller3")), chroot="/kafka")
    assert zookeeper_connect(five).endswith("zookeeper-4:2181,zookeeper-5:2181/kafka")
    assert zookeeper_connect(replace(topology(zookeepers=0), chroot="/kafka")) == ""


def test_ids_above_the_reserved_ones_are_allowed_for_all(grown: Topology) -> None:
    """Kafka's limit moves above the highest of them, on every broker; low ids need no limit."""
    properties = written(grown, "broker-1003", BrokerMode.ZOOKEEPER)
    assert (properties["broker.id"], properties["reserved.broker.max.id"]) == ("1003", "1007")
    assert written(grown, "broker-1003", BrokerMode.KRAFT)["node.id"] == "1003"
    assert "reserved.broker.max.id" not in written(topology(), "broker-1", BrokerMode.ZOOKEEPER)


@pytest.mark.parametrize("mode", list(BrokerMode))
def test_several_log_directories_are_folders_of_the_disk(grown: Topology, mode: BrokerMode) -> None:
    """So a wipe and a copy of the disk take all of them; one alone is the disk itself, as ever."""
    assert written(grown, "broker-1003", mode)["log.dirs"] == "/disk/dir-1,/disk/dir-2"
    assert written(grown, "controller-3000")["log.dirs"] == "/disk"
    assert written(topology(), "broker-1", mode)["log.dirs"] == "/disk"
    assert folders.metadata_dir(Path("/disk"), grown.node("broker-1003")) == Path("/disk/dir-1")


def test_znodes_are_protected_by_whoever_writes_them(grown: Topology) -> None:
    """Brokers in ZooKeeper mode, and controllers from the step on in which they get to know ZooKeeper."""
    joined = {"zookeeper.connect": "zookeeper-1:2181"}
    assert written(grown, "broker-1003", BrokerMode.ZOOKEEPER)["zookeeper.set.acl"] == "true"
    assert written(grown, "controller-3000", changes=joined)["zookeeper.set.acl"] == "true"
    assert "zookeeper.set.acl" not in written(grown, "controller-3000")
    assert "zookeeper.set.acl" not in written(grown, "broker-1003", BrokerMode.KRAFT, joined)
    assert "zookeeper.set.acl" not in written(topology(), "broker-1", BrokerMode.ZOOKEEPER)


def test_a_combined_node_is_broker_and_controller(combined: Topology) -> None:
    """It listens for both, advertises what a broker does, and is a voter."""
    properties = written(combined, "combined-2", BrokerMode.KRAFT)
    assert properties["process.roles"] == "broker,controller"
    assert properties["listeners"] == "INTERNAL://combined-2:9092,CLIENT://combined-2:9094,CONTROLLER://combined-2:9093"
    assert properties["advertised.listeners"] == "INTERNAL://combined-2:9092,CLIENT://127.7.250.2:9094"
    assert quorum_voters(combined) == "1@combined-1:9093,2@combined-2:9093,3@combined-3:9093"


def test_combined_nodes_dial_each_other_as_both(combined: Topology) -> None:
    """A link each for records and for the quorum, both of which can be cut, and one of the clients."""
    links = set(Addresses(combined, 7).links())
    assert {link.port for link in links if (link.source, link.destination) == ("combined-1", "combined-3")} == {
        9092,
        9093,
    }
    assert Link("clients", "combined-3", 9094) in links


def test_an_extra_listener_has_port_link_and_protocol(grown: Topology) -> None:
    """Clients reach it over a link of its own; controllers have none of it."""
    properties = written(grown, "broker-1003", BrokerMode.ZOOKEEPER)
    assert properties["listeners"].endswith(",CLIENT://broker-1003:9094,EXTERNAL://broker-1003:9095")
    assert properties["advertised.listeners"].endswith(",EXTERNAL://127.7.250.3:9095")
    assert properties["listener.security.protocol.map"].endswith(",CONTROLLER:PLAINTEXT,EXTERNAL:SSL")
    assert Link("clients", "broker-1003", 9095) in set(Addresses(grown, 7).links())
    assert ("127.7.0.3", 9095) in set(Addresses(grown, 7).listened_at())
    assert written(grown, "controller-3000")["listeners"] == "CONTROLLER://controller-3000:9093"


def test_an_extra_listener_with_a_login_has_credentials_for_clients() -> None:
    """Also where no other listener has one."""
    shape = replace(topology(), security=Security(extra={"EXTERNAL": "SASL_PLAINTEXT"}))
    properties = written(shape, "broker-1", BrokerMode.KRAFT)
    assert "ScramLoginModule" in properties["listener.name.external.scram-sha-512.sasl.jaas.config"]
    protection = Protection(shape.security, Path("security"))
    assert protection.client_properties("EXTERNAL")["sasl.password"] == protection.scram_password
    assert protection.client_properties() == {}
    assert shape.security.has_passwords


def test_one_authorizer_for_all_nodes_in_every_mode() -> None:
    """A class of the user's own knows both modes."""
    shape = replace(topology(), security=Security(authorizer=True, authorizer_class=CUSTOM))
    nodes = [("broker-0", BrokerMode.ZOOKEEPER), ("broker-0", BrokerMode.KRAFT), ("controller-3000", None)]
    assert {written(shape, name, mode)["authorizer.class.name"] for name, mode in nodes} == {CUSTOM}


def test_an_authorizer_by_property_is_understood() -> None:
    """It is that node's alone, kept in KRaft mode as operators forget it; our own clients are superusers beside its."""
    shape = topology()
    own = {"authorizer.class.name": CUSTOM, "super.users": "User:root; User:ANONYMOUS"}
    guarded = replace(
        shape, nodes=tuple(replace(n, properties=own) if n.name == "broker-0" else n for n in shape.nodes)
    )
    for mode in BrokerMode:
        properties = written(guarded, "broker-0", mode)
        assert properties["authorizer.class.name"] == CUSTOM
        assert properties["super.users"] == "User:root;User:ANONYMOUS"
    assert "authorizer.class.name" not in written(guarded, "controller-3000")


def test_a_node_may_be_without_the_authorizer_of_the_others() -> None:
    """An empty name takes it away."""
    shape = replace(topology(), security=Security(authorizer=True))
    nodes = tuple(
        replace(n, properties={"authorizer.class.name": ""}) if n.name == "broker-0" else n for n in shape.nodes
    )
    assert written(replace(shape, nodes=nodes), "broker-0", BrokerMode.KRAFT)["authorizer.class.name"] == ""
    assert written(replace(shape, nodes=nodes), "broker-1", BrokerMode.KRAFT)["authorizer.class.name"]


@pytest.mark.parametrize(
    ("releases", "level"),
    [
        (["3.9.1", "3.9.1"], None),
        (["3.9.1", "3.9.0"], None),
        (["3.8.1", "3.7.2", "3.8.1"], "3.7"),
        (["3.10.0", "3.9.1"], "3.9"),
        (["4.1.0-SNAPSHOT", "4.0.0-rc1"], "4.0"),
    ],
)
def test_one_level_for_all_is_the_highest_that_all_know(releases: list[str], level: str | None) -> None:
    """Where all are of one release, its own tool knows best."""
    assert common_level(releases) == level


def spec_with(log_dirs: int) -> NodeSpec:
    """A broker with so many log directories."""
    return NodeSpec("broker-1", Role.BROKER, 1, "3.9.1", log_dirs=log_dirs)


def test_a_log_directory_fails_and_is_put_back_as_it_was(tmp_path: Path) -> None:
    """While it is away nothing can be written in its place, by root neither."""
    spec = spec_with(log_dirs=2)
    (tmp_path / "dir-2").mkdir()
    (tmp_path / "dir-2" / "segment").write_text("records")
    folders.fail(tmp_path, spec, 2)
    with pytest.raises(NotADirectoryError):
        (tmp_path / "dir-2" / "checkpoint").write_text("x")
    for _ in range(2):
        folders.repair(tmp_path, spec, 2)
        assert (tmp_path / "dir-2" / "segment").read_text() == "records"


def test_a_directory_fails_once_also_of_a_node_that_never_ran(tmp_path: Path) -> None:
    """It is there from the first start on; what fails already cannot fail again."""
    folders.fail(tmp_path, spec_with(log_dirs=2), 1)
    with pytest.raises(WrongUseError, match="broker-1: expected a log directory that is there, got 1, which fails alr"):
        folders.fail(tmp_path, spec_with(log_dirs=2), 1)
    folders.repair(tmp_path, spec_with(log_dirs=2), 1)
    assert (tmp_path / "dir-1").is_dir()


@pytest.mark.parametrize(("log_dirs", "number"), [(1, 1), (2, 0), (2, 3)])
def test_only_one_of_several_may_fail(tmp_path: Path, log_dirs: int, number: int) -> None:
    """A broker without any ends: that is another fault."""
    with pytest.raises(WrongUseError, match=rf"broker-1: expected the number of one of several .* got {number} where"):
        folders.fail(tmp_path, spec_with(log_dirs), number)


def test_zookeeper_knows_kafka_and_the_observer(grown: Topology, tmp_path: Path) -> None:
    """Files for our eyes only; of the superuser's password a command line holds no more than a hash."""
    login = protect(Addresses(grown, 7), tmp_path / "security").zookeeper
    assert login is not None
    password = login.client_file.read_text().split('password="')[1].split('"')[0]
    assert f'user_kafka="{password}"' in login.server_file.read_text()
    assert stat.S_IMODE(login.client_file.stat().st_mode) == 0o600
    server, superuser = login.jvm_options(Role.ZOOKEEPER)
    assert server.endswith(str(login.server_file))
    digest = base64.b64encode(hashlib.sha1(login.superuser.encode()).digest()).decode()
    assert superuser.endswith(f"superDigest=super:{digest}")
    assert login.superuser_password not in repr(login) + superuser
    assert "authProvider.sasl" in written(grown, "zookeeper-1")
    assert protect(Addresses(topology(), 7), tmp_path / "none").zookeeper is None


def test_jars_and_logins_are_on_the_command_line(grown: Topology, tmp_path: Path) -> None:
    """Jars behind the distribution, or its class-data archive would not fit; tools log in as brokers do."""
    login = protect(Addresses(grown, 7), tmp_path / "security").zookeeper
    jvm = Jvm(Path("java"), Path("jolokia.jar"), Path("byteman.jar"), None, tmp_path / "etc", login)
    hosts = tmp_path / "hosts"
    hosts.write_text("127.7.0.3 broker-1003\n")
    distribution = cast("Distribution", SimpleNamespace(cds_archive=None, classpath="kafka.jar", image=None))
    spec = replace(grown.node("broker-1003"), jars=(Jar("mine.jar", "0"),))
    command = jvm.node_command(spec, distribution, hosts, tmp_path / "properties").argv
    tool = Tool("kafka-x", "kafka.X")
    assert command[command.index("-cp") + 1] == "kafka.jar:mine.jar"
    option = f"-Djava.security.auth.login.config={login and login.client_file}"
    assert option in command
    assert option in jvm.tool_command(distribution, tool, []).argv
    without = Jvm(Path("java"), Path("jolokia.jar"), Path("byteman.jar"), None, tmp_path / "etc")
    assert not [word for word in without.tool_command(distribution, tool, []).argv if "auth.login" in word]


def test_no_chroot_is_made_where_there_is_none() -> None:
    """And no node is dialled for it."""
    make_chroot("127.0.73.1:1", None)


def test_kafka_reaches_zookeeper_by_tls_only() -> None:
    """By one certificate of all its nodes; links lead to that port only, and ours is a plain one beside it."""
    shape = replace(topology(), security=Security(zookeeper_tls=True, zookeeper_acls=True))
    for node, changes in (("broker-0", {}), ("controller-3000", {"zookeeper.connect": zookeeper_connect(shape)})):
        properties = written(shape, node, BrokerMode.ZOOKEEPER, changes)
        assert properties["zookeeper.connect"] == "zookeeper-1:2182"
        assert properties["zookeeper.ssl.keystore.location"] == "security/kafka.pem"
        assert properties["zookeeper.set.acl"] == "true"
    server = written(shape, "zookeeper-1")
    assert (server["clientPort"], server["secureClientPort"]) == ("2181", "2182")
    assert server["ssl.keyStore.location"] == "security/zookeeper-1.pem"
    addresses = Addresses(shape, 7)
    assert {link.port for link in addresses.links() if link.destination == "zookeeper-1"} == {2182}
    assert {port for at, port in addresses.listened_at() if at == addresses.real("zookeeper-1")} >= {2181, 2182}


def test_a_login_by_certificate_needs_files_of_every_node(tmp_path: Path) -> None:
    """And no login file; only the superuser has a password, of which the server has a hash."""
    shape = replace(topology(), security=Security(zookeeper_tls=True))
    login = protect(Addresses(shape, 7), tmp_path / "security").zookeeper
    assert login is not None
    (superuser,) = login.jvm_options(Role.ZOOKEEPER)
    assert superuser.startswith("-Dzookeeper.DigestAuthenticationProvider.superDigest=super:")
    assert login.jvm_options(Role.BROKER) == ()
    names = {path.stem for path in (tmp_path / "security").iterdir()}
    assert names == {"authority", "kafka", *(node.name for node in shape.nodes)}
