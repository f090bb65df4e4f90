"""Slices of the logs of a cluster that several runs use in turn: what was logged while one of them was under way."""

from collections.abc import Mapping
from pathlib import Path

Sizes = Mapping[Path, int]
"""How many bytes each log had, by its path below the folder of all logs."""


def sizes_of(logs: Path) -> Sizes:
    """The present sizes of all logs below a folder."""
    return {file.relative_to(logs): file.stat().st_size for file in _files(logs) if file.suffix == ".log"}


def copy_since(logs: Path, before: Sizes, to: Path) -> None:
    """Copy what was appended to each log since ``before``, and whole every file that is no log."""
    for file in _files(logs):
        place = to / file.relative_to(logs)
        place.parent.mkdir(parents=True, exist_ok=True)
        with file.open("rb") as content:
            content.seek(before.get(file.relative_to(logs), 0))
            place.write_bytes(content.read())


def _files(logs: Path) -> list[Path]:
    return [path for path in sorted(logs.rglob("*")) if path.is_file()]
