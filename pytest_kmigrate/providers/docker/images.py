"""From the name of an image to a distribution: its jars are copied out of it, and are its identity.

A name is ``image:NAME``, or ``image:NAME#PATH`` with an adapter of the vendor's own.
"""

import re
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from pytest_kmigrate.distributions.cache import entry
from pytest_kmigrate.distributions.distribution import LIBS, Distribution, Image, image_and_adapter, lay_down
from pytest_kmigrate.distributions.kafka import resolve
from pytest_kmigrate.distributions.versions import release_in
from pytest_kmigrate.model.errors import ClusterError, DistributionError, UnfitReleaseError, WrongUseError
from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.providers.docker.adapters.loading import Adapter, adapter_at, adapter_for
from pytest_kmigrate.providers.docker.containers import USER
from pytest_kmigrate.providers.docker.engine import Engine, EngineLostError
from pytest_kmigrate.providers.docker.mounts import ATTACHED_AT
from pytest_kmigrate.providers.owned.commands import in_image
from pytest_kmigrate.providers.owned.tools import STORAGE_TOOL
from pytest_kmigrate.waiting import PATIENCE_S

_SHOWN_OF_ID = 12
_LAST_WORDS = 600
_TOOL_ANSWERS = re.compile(r"^[A-Za-z0-9_-]{22}$", re.MULTILINE)
"""What the storage tool prints when it is asked for an id."""


@lru_cache
def brought(kafka: str, progress: Callable[[str], None]) -> Distribution:
    """The distribution in an image of the engine here; its name means a release from now on.

    WrongUseError when there is no such image, adapter or working command, DistributionError when it has no Kafka.
    """
    name, own = image_and_adapter(kafka)
    with closing(Engine()) as engine:
        image_id = engine.image_id(name) if name else None
        if image_id is None:
            raise WrongUseError(
                f"{kafka}: expected an image that the engine at {engine.socket} has, got none of that name; "
                "load or pull it first: docker image ls"
            )
        adapter = _adapter(kafka, name, own)
        folder = _jars_of(engine, kafka, name, adapter, image_id, progress)
    version = release_in(folder / LIBS)
    lay_down(kafka, folder, version)
    found = resolve(str(folder), progress=progress, archive=False)
    return replace(found, version=version, image=adapter.image(image_id))


def _adapter(kafka: str, name: str, own: str) -> Adapter:
    if not own:
        return adapter_for(name)
    if not Path(own).is_file():
        raise WrongUseError(f"{kafka}: expected an adapter in the file {own}, got no such file")
    return adapter_at(Path(own))


def check_fits(topology: Topology, image: Image, option: str) -> None:
    """UnfitReleaseError when a topology needs ZooKeeper, and the image, which this option names, runs none."""
    if topology.of_role(Role.ZOOKEEPER) and not image.zookeeper:
        raise UnfitReleaseError(
            f"{option} {topology.kafka}: expected an image that runs ZooKeeper, as {topology.name} has servers "
            "of it; its adapter has no commands.zookeeper",
            is_general=True,
        )


def _jars_of(
    engine: Engine, kafka: str, name: str, adapter: Adapter, image_id: str, progress: Callable[[str], None]
) -> Path:
    """The folder with the jars of an image, which runs its commands; tried once for each image and adapter."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    short = image_id.removeprefix("sha256:")[:_SHOWN_OF_ID]

    def fill(empty: Path) -> None:
        progress(f"{kafka}: copying its jars out of it, and trying its commands")
        libs = empty / slug / LIBS
        libs.mkdir(parents=True)
        _copy(engine, kafka, adapter, image_id, libs)
        release_in(libs)
        _try_tool(engine, kafka, adapter, image_id)

    return entry(f"images/{short}-{adapter.digest[:_SHOWN_OF_ID]}", fill, progress) / slug


def _copy(engine: Engine, kafka: str, adapter: Adapter, image_id: str, libs: Path) -> None:
    with _container(engine, image_id, ["/"]) as container, tempfile.TemporaryFile() as packed:
        if not engine.copied(container, adapter.file.libs, packed):
            raise WrongUseError(
                f"{kafka}: expected a folder {adapter.file.libs} with the jars of Kafka in the image, got none; "
                f"correct libs in {adapter.path}, or take the adapter that is for this image"
            )
        packed.seek(0)
        _unpack(packed, libs, f"{kafka}: {adapter.file.libs}")


def _unpack(packed: BinaryIO, libs: Path, where: str) -> None:
    """Every jar of the folder; links to others there are the same jars once more."""
    with tarfile.open(fileobj=packed) as archive:
        for member in archive:
            name = Path(member.name).name
            if not name.endswith(".jar") or len(Path(member.name).parts) > 2:
                continue
            if member.issym() and "/" in member.linkname:
                raise DistributionError(
                    f"{where}: expected the jars themselves, got a link from {name} to {member.linkname}: "
                    "let libs name the folder in which they lie"
                )
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                with (libs / name).open("wb") as jar:
                    shutil.copyfileobj(content, jar)


def _try_tool(engine: Engine, kafka: str, adapter: Adapter, image_id: str) -> None:
    """WrongUseError when the storage tool does not run in the image: without Java, say, or by a wrong command."""
    image = adapter.image(image_id)
    command = in_image(image, image.tool, {"tool": STORAGE_TOOL}, ["-Xmx64m"], (), ["random-uuid"])
    try:
        with _container(engine, image_id, command.argv, environment=dict(command.environment)) as container:
            engine.start(container)
            code = engine.exit_code(container, PATIENCE_S)
            said = engine.said(container).strip()
    except EngineLostError:
        raise
    except ClusterError as error:
        code, said = 127, str(error)
    except TimeoutError:
        code, said = -1, f"no end within {PATIENCE_S} s"
    if code != 0 or not _TOOL_ANSWERS.search(said):
        raise WrongUseError(
            f"{kafka}: expected {command.argv[0]} to run Kafka's {STORAGE_TOOL} in the image, got exit code {code}: "
            f"{said[-_LAST_WORDS:]}; is Java in the image? Otherwise correct commands.tool in {adapter.path}"
        )


@contextmanager
def _container(engine: Engine, image_id: str, argv: Sequence[str], **options: object) -> Iterator[str]:
    """A container without a network that is thrown away, as nodes would run in it."""
    container = engine.create(
        image_id, argv, None, user=USER, CapDrop=["ALL"], NetworkMode="none", Tmpfs={ATTACHED_AT: ""}, **options
    )
    try:
        yield container
    finally:
        engine.remove(container)
