"""Secrets are kept elsewhere: an attach file says where, and what is fetched stays in memory."""

import os
import subprocess
from pathlib import Path

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.providers.attach.file.format import Reference
from pytest_kmigrate.redaction.known import learn

_WITHIN_S = 30


def fetched(reference: Reference, key: str, file: Path) -> str:
    """The secret; WrongUseError, which has no character of it, when it is not there.

    ``key`` is where the reference stands in ``file``.
    """
    if reference.env is not None:
        found, place = os.environ.get(reference.env), f"the environment variable {reference.env}"
    elif reference.file is not None:
        found, place = _content(file.parent / reference.file), f"the file {reference.file}"
    else:
        assert reference.command is not None, "the format lets exactly one through"
        found, place = _output(reference.command), f"the command {reference.command[0]}"
    if not found:
        raise WrongUseError(f"{file}: {key}: expected a secret in {place}, got none; put it there")
    learn([found])
    return found


def _content(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").rstrip("\n")
    except (OSError, UnicodeDecodeError):
        return ""


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_WITHIN_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return done.stdout.rstrip("\n") if done.returncode == 0 else ""
