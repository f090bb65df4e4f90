"""A Distribution: the jars of one Kafka, as what runs it needs them."""

import os
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.model.provider_names import DOCKER

LIBS = "libs"
"""The folder of an unpacked Kafka that holds its jars."""
_IMAGE, _ADAPTER = "image:", "#"
RUNS_IMAGES = DOCKER
"""The provider that runs images."""


def is_image(kafka: str) -> bool:
    """Whether the name of a distribution is that of a container image: ``image:NAME`` or ``image:NAME#ADAPTER``."""
    return kafka.startswith(_IMAGE)


def image_and_adapter(kafka: str) -> tuple[str, str]:
    """The name of the image, and the path of the adapter; empty: one that is shipped."""
    name, _, adapter = kafka.removeprefix(_IMAGE).partition(_ADAPTER)
    return name, adapter


@dataclass(frozen=True)
class Image:
    """The container image that a distribution comes in, and how it is run there; words as an adapter has them."""

    id: str
    kafka: tuple[str, ...]
    zookeeper: tuple[str, ...]
    """Empty: it runs none."""
    tool: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    cannot: frozenset[str]
    """Capabilities that clusters of it lack."""


@dataclass(frozen=True)
class Distribution:
    """One Kafka, ready to be started.

    ``jars`` is an explicit sorted list, because a class-data archive accepts no wildcard; ``digest`` is one SHA-256
    over all their names and contents. ``cds_archive`` is None where none was made: nodes then only start slower.
    """

    version: str
    jars: tuple[Path, ...]
    digest: str
    build: str = ""
    """What distinguishes it from the release of that version: the name of its folder, and the start of its digest."""
    cds_archive: Path | None = None
    appended: tuple[Path, ...] = ()
    """Jars of agents: ``-javaagent`` puts them at the end of the class path anyway; named there they are archived."""
    image: Image | None = None
    """Where nodes run it; None: on the software of this machine. ``jars`` are copies of those in the image then."""

    @property
    def classpath(self) -> str:
        """What ``java -cp`` takes; the archive is valid only for a class path that begins with exactly this text."""
        return os.pathsep.join(str(jar) for jar in (*self.jars, *self.appended))


_LAID_DOWN: dict[str, tuple[Path, str]] = {}


def lay_down(kafka: str, folder: Path, version: str) -> None:
    """Let a name that is no path, such as that of an image, mean an unpacked Kafka for as long as this process lives.

    Topologies, documents and reports ask for versions by such names, and know nothing of where they come from.
    """
    _LAID_DOWN[kafka] = folder, version


def laid_down(kafka: str) -> str | None:
    """The version of what was laid down by this name."""
    return _LAID_DOWN[kafka][1] if kafka in _LAID_DOWN else None


def unpacked_at(kafka: str) -> Path | None:
    """The folder that a path means, or a name of what was laid down, when an unpacked Kafka is there."""
    if kafka in _LAID_DOWN:
        return _LAID_DOWN[kafka][0]
    folder = os.path.abspath(os.path.expanduser(kafka))  # noqa: PTH100, PTH111 - unlike Path's, these never raise
    return Path(folder) if os.path.isdir(os.path.join(folder, LIBS)) else None  # noqa: PTH112, PTH118
