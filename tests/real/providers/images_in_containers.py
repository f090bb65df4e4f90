"""Clusters of a vendor's image; run inside the namespace of an engine by ``test_images``, which has built the image."""

import dataclasses
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from typing import cast

import psutil
import pytest

from pytest_kmigrate.distributions.kafka import resolve
from pytest_kmigrate.distributions.versions import version_of
from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.errors import DistributionError, WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.protocols import Cluster, CrashPoint
from pytest_kmigrate.model.topology import NodeSpec, Role, Topology
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.providers.bench import BORN_IN_KRAFT, SMALLEST, Bench
from pytest_kmigrate.providers.contract import ProviderContract
from pytest_kmigrate.providers.docker.engine import Engine
from pytest_kmigrate.providers.docker.images import brought
from pytest_kmigrate.providers.docker.provider import DockerProvider
from pytest_kmigrate.providers.docker.socket_file import socket_path
from pytest_kmigrate.providers.owned.cluster import OwnedCluster
from pytest_kmigrate.recording.reading import read_header, read_history
from pytest_kmigrate.running import Claim, RunSettings, open_run
from pytest_kmigrate.topology.loading import find, load
from pytest_kmigrate.waiting import NotYet, until
from tests.real.own_builds import build_of
from tests.real.providers.contract_in_containers import DockerBench
from tests.real.providers.stand_in.building import ADAPTER, IMAGE, JARS, build, forget, put, shell

KAFKA = f"image:{IMAGE}#{ADAPTER}"
_SHOWS_WITHIN_S = 60


class ImageBench(DockerBench):
    """Every node is of the image."""

    def cluster(self, shape: Topology = SMALLEST) -> AbstractContextManager[Cluster]:
        """As the shape has it, but of the image."""
        return super().cluster(of_image(shape))


def of_image(shape: Topology, kafka: str = KAFKA) -> Topology:
    """The same nodes, of the image."""
    nodes: tuple[NodeSpec, ...] = tuple(dataclasses.replace(node, kafka=kafka) for node in shape.nodes)
    return dataclasses.replace(shape, kafka=kafka, nodes=nodes)


class TestImage(ProviderContract):
    """The contract on containers of an image that was laid out by others."""

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        """The docker provider with the image under test."""
        return ImageBench(DockerProvider(print, KAFKA), tmp_path)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """The docker provider with the image under test."""
    return ImageBench(DockerProvider(print, KAFKA), tmp_path)


@pytest.fixture
def quorum(bench: Bench) -> Iterator[OwnedCluster]:
    """A controller and a broker of the image, born in KRaft mode."""
    with bench.cluster(BORN_IN_KRAFT) as cluster:
        cluster.start_initial()
        yield cast("OwnedCluster", cluster)


def test_an_image_is_known_by_its_jars(bench: Bench) -> None:
    """They are those of the release here, so it is that release; the image has an id besides."""
    (artifact,) = bench.provider.artifacts(of_image(SMALLEST)).values()
    release = resolve("3.9.1", progress=print, archive=False)
    assert (artifact.version, artifact.build, artifact.digest) == ("3.9.1", "", release.digest)
    assert artifact.image is not None
    assert artifact.image.startswith("sha256:")
    assert version_of(KAFKA) == "3.9.1"


def test_nodes_and_tools_run_what_is_in_the_image(quorum: OwnedCluster) -> None:
    """Its Java, jars and scripts; the agents come from outside, so metrics are read and a node is held in its code."""
    for node in quorum.nodes():
        program = psutil.Process(node.pid).cmdline()
        assert program[0] == "/srv/stream/runtime/bin/java"
        assert not [word for word in program if word.startswith("/usr/lib/jvm")]
    assert {record["type"] for record in quorum.metadata_log("controller-3000")} >= {"REGISTER_BROKER_RECORD"}
    ran = quorum.run_tool("broker-0", "kafka-features", ["--bootstrap-server", "{bootstrap}", "describe"])
    assert (ran.status, "metadata.version" in ran.output) == (0, True)
    assert quorum.metrics("controller-3000", ["ActiveControllerCount"]) == {"ActiveControllerCount": 1}
    point = CrashPoint("asked", "kafka.server.ControllerApis", "handle", held_s=1)
    with quorum.hold_at(point, quorum.nodes(Role.CONTROLLER)) as held:
        assert until(lambda: held() or NotYet("none"), awaited="a held node", within_s=_SHOWS_WITHIN_S)


def test_an_image_of_a_build_conforms(tmp_path: Path) -> None:
    """Its jars are no release's: the header names the build, and its node records the version and the digest."""
    name = f"{IMAGE}-acme"
    kafka = f"image:{name}#{ADAPTER}"
    image_id = build(socket_path(), str(build_of("3.9.1")), name)
    provider = DockerProvider(print, kafka)
    settings = RunSettings(tmp_path / "runs", seed=1)
    shape = of_image(load(find("kraft-combined1")), kafka)
    with open_run(settings, provider, shape, Claim("t::image"), lambda _folder: None) as run:
        run.traffic.start()
        run.traffic.await_acked(200)
        judgement = run.verify([checks.no_acked_record_lost()])
    forget(image_id)
    header = read_header(run.folder)
    assert header.kafka.startswith("3.9.1+")
    (started,) = read_history(run.folder).of(EventKind.NODE_STARTED)
    assert (started.data["kafka"], started.data["digest"]) == ("3.9.1", (header.digests or {})[kafka])
    assert judgement.outcome is Outcome.CONFORMS, judgement.verdicts


def test_a_script_that_stays_is_refused(bench: Bench, tmp_path: Path) -> None:
    """A signal would meet the script, and a node that is said to stand still would run on."""
    staying = tmp_path / "staying.toml"
    command = '["/bin/sh", "-c", "/srv/stream/bin/ensemble $0; true", "{properties}"]'
    staying.write_text(ADAPTER.read_text().replace('["/srv/stream/bin/ensemble", "{properties}"]', command))
    kafka = f"image:{IMAGE}#{staying}"
    shape = dataclasses.replace(SMALLEST, nodes=(dataclasses.replace(SMALLEST.nodes[0], kafka=kafka),))
    with (
        DockerProvider(print, kafka).provision(shape, bench.recorder, tmp_path / "logs") as cluster,
        pytest.raises(Exception, match=r"zookeeper-1: expected .* to become the JVM, .*let the script end with exec"),
    ):
        cluster.start_initial()
    assert bench.recorder.of(EventKind.NODE_READY) == []


def jar(name: str, **files: bytes) -> bytes:
    """A jar with these files."""
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("name", name)
        for path, inside in files.items():
            archive.writestr(path.replace("__", "/").replace("_class", ".class"), inside)
    return content.getvalue()


LEVELS = "org__apache__kafka__server__common__MetadataVersion_class"


def without_libs() -> dict[str, Path | bytes]:
    """Of no Kafka."""
    return {"etc/motd": b"hello"}


def without_java() -> dict[str, Path | bytes]:
    """Scripts and jars, and nothing to run them."""
    return {**shell(), f"{JARS}/kafka-clients-3.9.1.jar": jar("clients")}


def of_another_release() -> dict[str, Path | bytes]:
    """Jars that are called 3.9.1, with the code of another release."""
    common = jar("common", **{LEVELS: b"IBP_3_5_IV2 IBP_3_6_IV0"})
    return {**without_java(), f"{JARS}/kafka-server-common-3.9.1.jar": common}


def of_no_kafka() -> dict[str, Path | bytes]:
    """Jars of something else."""
    return {f"{JARS}/guava.jar": jar("guava")}


@pytest.mark.parametrize(
    ("files", "error", "said"),
    [
        (
            without_libs,
            WrongUseError,
            r"expected a folder /srv/stream/jars with the jars of Kafka in the image, got none",
        ),
        (
            without_java,
            WrongUseError,
            r"expected /srv/stream/bin/ask to run .* exit code 12[67]: .*java.*is Java in the",
        ),
        (of_another_release, DistributionError, r"expected the code of Kafka 3\.9\.1, .*got code of Kafka 3\.6"),
        (of_no_kafka, DistributionError, "expected the jars kafka-clients and kafka-server-common of one .*, got none"),
    ],
)
def test_an_image_that_cannot_be_run_is_one_sentence(
    files: Callable[[], dict[str, Path | bytes]], error: type[Exception], said: str
) -> None:
    """It names the image or its jars, and nothing of it stays behind."""
    name = f"stream-house/bad:{files.__name__}"
    put(socket_path(), name, files())
    with pytest.raises(error, match=said):
        brought(f"image:{name}#{ADAPTER}", print)
    engine = Engine()
    assert engine.with_label("") == []
    engine.close()


def test_an_image_that_is_not_there_is_one_sentence() -> None:
    """Nothing is pulled."""
    with pytest.raises(
        WrongUseError, match=r"image:acme/none:1: expected an image that the engine at .* has, got none"
    ):
        brought("image:acme/none:1", print)


def test_an_image_that_no_adapter_is_for_is_one_sentence() -> None:
    """With the way to bring one."""
    expected = r"got stream-house/kafka, which none of apache-kafka, .* is for; .*image:stream-house/kafka:7\.1#ADAPTER"
    with pytest.raises(WrongUseError, match=expected):
        brought(f"image:{IMAGE}", print)
    with pytest.raises(WrongUseError, match=r"expected an adapter in the file none\.toml, got no such file"):
        brought(f"image:{IMAGE}#none.toml", print)
