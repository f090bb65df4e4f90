"""A Distribution: the jars of one Kafka, as what runs it needs them."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Distribution:
    """One Kafka, ready to be started.

    ``jars`` is an explicit sorted list, because a class-data archive accepts no wildcard; ``digest`` is one SHA-256
    over all names and contents; ``cds_archive`` is None where none could be made: nodes then only start slower.
    """

    version: str
    jars: tuple[Path, ...]
    digest: str
    cds_archive: Path | None = None

    @property
    def classpath(self) -> str:
        """What ``java -cp`` takes; the archive is valid only for exactly this text."""
        return os.pathsep.join(str(jar) for jar in self.jars)
