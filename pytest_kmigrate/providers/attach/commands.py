"""Commands that an attach file names: each in a session of its own, so that it ends with all it started."""

import os
import signal
import subprocess
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile
from typing import IO

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.redaction import redacted

_MOST_SHOWN = 300


def said_by(
    command: Sequence[str], within_s: float, key: str, output: IO[bytes] | None = None, good: Collection[int] = (0,)
) -> str:
    """What a command says when it has ended well, as ``ran`` has it; ClusterError when it does not.

    ``key`` is where the file has the limit of time.
    """
    status, words = ran(command, within_s, output)
    if status is None:
        raise late(within_s, key)
    if status not in good:
        raise not_zero(command, status, words)
    return words


def late(within_s: float, key: str) -> ClusterError:
    """The error about what has not ended in its time."""
    return ClusterError(f"expected an end within {within_s:g} s ({key}); got none")


def not_zero(command: Sequence[str], status: int, words: str) -> ClusterError:
    """The error about a command that failed."""
    return ClusterError(f"expected {command[0]} to end with 0; got {status}: {words[-_MOST_SHOWN:] or 'no words'}")


def ran(command: Sequence[str], within_s: float, output: IO[bytes] | None = None) -> tuple[int | None, str]:
    """The status of a command (None: it was late, and ended), and what it said, without secrets and spaces around it.

    ``output`` gets what it prints, if anything does. ClusterError when there is no such program.
    """
    status = None
    with TemporaryFile() as said:
        try:
            with begun(command, output or said, said) as process, suppress(subprocess.TimeoutExpired):
                status = process.wait(timeout=within_s)
        except OSError as error:
            raise ClusterError(f"expected a program that is there; got {command[0]!r}: {error.strerror}") from error
        said.seek(0)
        return status, redacted(said.read().decode("utf-8", "replace")).strip()


@contextmanager
def begun(
    command: Sequence[str], stdout: IO[bytes] | int, stderr: IO[bytes] | int
) -> Iterator[subprocess.Popen[bytes]]:
    """The process of a command, killed with what it started when the block is left before its end.

    What it leaves behind at its own end stays: a node, say. OSError when there is no such program.
    """
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True)
    try:
        yield process
    finally:
        end(process)
        if process.stdout is not None:
            process.stdout.close()


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill it with what it started, unless it has ended; safe to call twice."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
