"""The folders of a node: its disk, its log directories, and a log directory that fails."""

import os
from collections.abc import Mapping
from pathlib import Path

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.topology import NodeSpec

_FAILED = "failed-"
_METADATA = "__cluster_metadata-0"


def log_dirs(disk: Path, spec: NodeSpec) -> tuple[Path, ...]:
    """The log directories of a node: its disk, or folders of it where there are several (JBOD)."""
    if spec.log_dirs == 1 and not spec.metadata_disk:
        return (disk,)
    return tuple(disk / f"dir-{number}" for number in range(1, spec.log_dirs + 1))


def metadata_dir(disk: Path, spec: NodeSpec) -> Path:
    """The directory with the metadata log: its own, or by Kafka's default the first log directory."""
    return disk / "metadata" if spec.metadata_disk else log_dirs(disk, spec)[0]


def directories(disk: Path, spec: NodeSpec) -> tuple[Path, ...]:
    """Every directory that Kafka's storage tool formats."""
    return tuple(dict.fromkeys([*log_dirs(disk, spec), metadata_dir(disk, spec)]))


def fail(disk: Path, spec: NodeSpec, number: int) -> None:
    """Take a log directory (1, 2, ...) away: a file in its place makes every new file in it an error of the disk.

    Files that are open stay so, as those of a disk that is going. WrongUseError when the node has no such directory
    beside another one.
    """
    folder = _one_of_several(disk, spec, number)
    if _put_aside(folder).exists():
        raise WrongUseError(f"{spec.name}: expected a log directory that is there, got {number}, which fails already")
    folder.mkdir(parents=True, exist_ok=True)  # of a node that was never started
    folder.rename(_put_aside(folder))
    folder.touch()


def repair(disk: Path, spec: NodeSpec, number: int) -> None:
    """Give the log directory back as it was; nothing to do when it is there."""
    folder = _one_of_several(disk, spec, number)
    aside = _put_aside(folder)
    if aside.exists():
        folder.unlink(missing_ok=True)
        aside.rename(folder)


def torn(disk: Path, spec: NodeSpec, size: int) -> Mapping[str, int]:
    """Cut so many bytes off the end of each partition's newest segment; by file below ``disk``, how many were cut."""
    found: dict[str, int] = {}
    for folder in sorted({each for top in log_dirs(disk, spec) for each in top.glob("*-*/") if each.is_dir()}):
        segments = [] if folder.name == _METADATA else sorted(folder.glob("*.log"))
        if segments and (cut := min(size, segments[-1].stat().st_size)):
            os.truncate(segments[-1], segments[-1].stat().st_size - cut)
            found[str(segments[-1].relative_to(disk))] = cut
    return found


def _one_of_several(disk: Path, spec: NodeSpec, number: int) -> Path:
    if spec.log_dirs == 1 or not 1 <= number <= spec.log_dirs:
        raise WrongUseError(
            f"{spec.name}: expected the number of one of several log directories, got {number} "
            f"where there are {spec.log_dirs}: give the node more by log_dirs in the topology"
        )
    return log_dirs(disk, spec)[number - 1]


def _put_aside(folder: Path) -> Path:
    return folder.with_name(f"{_FAILED}{folder.name}")
