"""What is known of an image without an engine: its commands, its jars, whether it fits; and what others say of it."""

import io
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.distributions.distribution import Distribution, Image, lay_down, unpacked_at
from pytest_kmigrate.distributions.versions import version_of
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import DistributionError, UnfitReleaseError, WrongUseError
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.bench import BORN_IN_KRAFT, SMALLEST, small_topology
from pytest_kmigrate.providers.choosing import provider_named, topology_named
from pytest_kmigrate.providers.docker import provider
from pytest_kmigrate.providers.docker.images import _unpack, check_fits
from pytest_kmigrate.providers.owned.commands import Tool
from pytest_kmigrate.providers.owned.jvm import Jvm
from pytest_kmigrate.providers.process.provider import ProcessProvider

IMAGE = Image(
    id="sha256:1",
    kafka=("/acme/node", "{properties}"),
    zookeeper=("/acme/ensemble", "{properties}"),
    tool=("/acme/ask", "{tool}"),
    environment=(("ACME_OPTIONS", "{options}"), ("ACME_JARS", "{jars}"), ("MODE", "plain")),
    cannot=frozenset(),
)


@pytest.fixture
def jvm(tmp_path: Path) -> Jvm:
    """Of a cluster whose broker-0 has an address."""
    (tmp_path / "hosts").write_text("198.18.0.18 broker-0\n")
    return Jvm(Path("/host/java"), Path("/host/jolokia.jar"), Path("/host/byteman.jar"), None, tmp_path / "etc")


@pytest.fixture
def distribution() -> Distribution:
    """In an image."""
    return Distribution("3.9.1", (Path("/cache/kafka.jar"),), "digest", image=IMAGE)


def test_a_node_of_an_image_gets_its_options_by_the_environment(
    jvm: Jvm, distribution: Distribution, tmp_path: Path
) -> None:
    """Agents, names and heap, and no garbage collector; nothing of the command line leads out of the image."""
    spec = small_topology().node("broker-0")
    command = jvm.node_command(spec, distribution, tmp_path / "hosts", tmp_path / "server.properties")
    assert (command.image, command.argv) == ("sha256:1", ("/acme/node", f"{tmp_path}/server.properties"))
    options = command.environment["ACME_OPTIONS"].split()
    assert f"-Djdk.net.hosts.file={tmp_path}/hosts" in options
    assert f"-Xmx{spec.heap_mb}m" in options
    assert any(each.startswith("-javaagent:/host/jolokia.jar=host=198.18.0.18,") for each in options)
    assert not [each for each in options if "GC" in each or "SharedArchive" in each]
    assert command.environment.keys() == {"ACME_OPTIONS", "MODE"}  # without jars the image's own are meant


def test_what_an_adapter_cannot_is_not_offered(distribution: Distribution, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the provider, which says why."""
    less = replace(distribution, image=replace(IMAGE, cannot=frozenset({"crash-points"})))
    monkeypatch.setattr(provider, "brought", lambda *_: less)
    chosen = provider_named("docker", print, kafka="image:acme")
    assert Capability.CRASH_POINTS not in chosen.capabilities
    assert chosen.lacking[Capability.CRASH_POINTS] == "the adapter of image:acme says so"


def test_a_server_of_zookeeper_and_a_tool_have_commands_of_their_own(
    jvm: Jvm, distribution: Distribution, tmp_path: Path
) -> None:
    """A tool has no agents: a port can be listened at once."""
    server = jvm.node_command(SMALLEST.nodes[0], distribution, tmp_path / "hosts", tmp_path / "x")
    assert server.argv == ("/acme/ensemble", f"{tmp_path}/x")
    tool = jvm.tool_command(distribution, Tool("kafka-storage", "kafka.tools.StorageTool"), ["random-uuid"])
    assert tool.argv == ("/acme/ask", "kafka-storage", "random-uuid")
    assert "-javaagent" not in tool.environment["ACME_OPTIONS"]


def test_options_that_no_variable_can_hold_are_refused(jvm: Jvm, distribution: Distribution, tmp_path: Path) -> None:
    """A shell would split them."""
    spec = replace(small_topology().node("broker-0"), jvm=("-Dname=two words",))
    with pytest.raises(WrongUseError, match=r"expected JVM options without spaces .* got '-Dname=two words'"):
        jvm.node_command(spec, distribution, tmp_path / "hosts", tmp_path / "x")


def test_jars_of_a_topology_need_a_place(jvm: Jvm, distribution: Distribution, tmp_path: Path) -> None:
    """An authorizer that is not loaded would let everybody in."""
    from pytest_kmigrate.model.topology import Jar  # noqa: PLC0415 - of this test alone

    spec = replace(small_topology().node("broker-0"), jars=(Jar("/mine.jar", "0"),))
    placed = jvm.node_command(spec, distribution, tmp_path / "hosts", tmp_path / "x")
    assert placed.environment["ACME_JARS"] == "/mine.jar"
    closed = replace(distribution, image=replace(IMAGE, environment=IMAGE.environment[:1]))
    with pytest.raises(WrongUseError, match=r"expected an adapter with a place for more jars, .* has /mine\.jar"):
        jvm.node_command(spec, closed, tmp_path / "hosts", tmp_path / "x")


def test_an_image_without_zookeeper_fits_no_topology_that_has_it() -> None:
    """Tests on others can run."""
    check_fits(BORN_IN_KRAFT, replace(IMAGE, zookeeper=()), "--kafka")
    check_fits(SMALLEST, IMAGE, "--kafka")
    with pytest.raises(UnfitReleaseError, match=r"expected an image that runs ZooKeeper, .* no commands\.zookeeper"):
        check_fits(SMALLEST, replace(IMAGE, zookeeper=()), "--kafka")


def packed(*files: str, **links: str) -> io.BytesIO:
    """A folder as an engine packs it."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name in files:
            member = tarfile.TarInfo(name)
            member.size = len(name)
            archive.addfile(member, io.BytesIO(name.encode()))
        for name, target in links.items():
            member = tarfile.TarInfo(f"libs/{name}.jar")
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    content.seek(0)
    return content


def test_the_jars_of_a_folder_are_taken_and_nothing_else(tmp_path: Path) -> None:
    """A link to one of them is the same jar once more; what lies deeper is on no class path."""
    _unpack(packed("libs/a.jar", "./b.jar", "libs/c.txt", "libs/deeper/d.jar", e="a.jar"), tmp_path, "image:acme")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a.jar": "libs/a.jar", "b.jar": "./b.jar"}


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    """What it leads to would be no part of the digest."""
    with pytest.raises(
        DistributionError, match=r"image:acme: expected the jars themselves, got a link from f\.jar to "
    ):
        _unpack(packed("libs/a.jar", f="/usr/share/java/f.jar"), tmp_path, "image:acme")


def test_an_image_that_was_laid_down_has_a_version_by_its_name(tmp_path: Path) -> None:
    """Topologies and documents ask for it as for that of a path; no file of a user names one."""
    lay_down("image:of-this-test", tmp_path, "3.9.0")
    assert version_of("image:of-this-test") == "3.9.0"
    assert unpacked_at("image:of-this-test") == tmp_path
    name = "zk1-broker3-controller3"
    topology = topology_named(ProcessProvider(print), print, name, "image:of-this-test")
    assert {node.kafka for node in topology.of_role(Role.BROKER)} == {"image:of-this-test"}
    with pytest.raises(
        WrongUseError,
        match=r"--kmigrate-kafka: expected a release or a path \(an image is .* docker\)",
    ):
        topology_named(ProcessProvider(print), print, name, "image:of-no-test")
