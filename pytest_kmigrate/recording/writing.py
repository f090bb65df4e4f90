"""Writing files of a run folder so that none is ever half there."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.redaction import redacted_values


def json_lines(contents: Iterable[Mapping[str, object]]) -> str:
    """One JSON object a line, without secrets."""
    return "".join(json.dumps(redacted_values(content)) + "\n" for content in contents)


def replace_text(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old text or the new one; EnvironmentLackError when it cannot be."""
    partial = _partial(path)
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise EnvironmentLackError(
            f"{path}: it cannot be written: {error.strerror}; make room, and try again"
        ) from error


def require_writable(path: Path) -> None:
    """OSError if ``replace_text`` could not write this file; what it holds stays."""
    partial = _partial(path.resolve())
    partial.touch()
    partial.unlink()


def _partial(path: Path) -> Path:
    return path.with_name(f".{path.name}.partial")
