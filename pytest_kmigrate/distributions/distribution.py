"""A Distribution: the jars of one Kafka, as what runs it needs them."""

import os
from dataclasses import dataclass
from pathlib import Path

LIBS = "libs"
"""The folder of an unpacked Kafka that holds its jars."""


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

    @property
    def classpath(self) -> str:
        """What ``java -cp`` takes; the archive is valid only for a class path that begins with exactly this text."""
        return os.pathsep.join(str(jar) for jar in (*self.jars, *self.appended))


def unpacked_at(kafka: str) -> Path | None:
    """The folder that a path means, when an unpacked Kafka is there."""
    folder = os.path.abspath(os.path.expanduser(kafka))  # noqa: PTH100, PTH111 - unlike Path's, these never raise
    return Path(folder) if os.path.isdir(os.path.join(folder, LIBS)) else None  # noqa: PTH112, PTH118
