"""What a node's log says of its end: for the message of a failure, and for the event of an unexpected death."""

import re
import signal
from collections.abc import Iterator
from itertools import chain, pairwise, takewhile
from pathlib import Path

from pytest_kmigrate.model.errors import EnvironmentLackError, KmigrateError, NodeDiedError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.nodes import ThreadDied
from pytest_kmigrate.redaction import redacted

_ERROR = re.compile(r"\b(ERROR|FATAL)\b|^Error: |^Exception in thread")
_FATAL = "Encountered fatal fault"
"""By Kafka's ProcessTerminatingFaultHandler, which ends the process."""
_BEGINS = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d,\d+|\d+) ")
"""How each line begins that is no part of the one before it: the time."""
_STACK = re.compile(r"\s+(at |\.\.\. \d+ (more|common))")
_THREAD_ENDED = re.compile(r"ERROR \[(.+?)\]:? Error due to\b")
_BELOW_THE_LAST_THREAD = b"JNI global refs"
_LENGTH = 400
_AT_ONCE_BYTES = 2**20
_OF_A_JVM_THAT_NEVER_LOGGED = 3
_MACHINE = re.compile(
    r"No space left on device|Disk quota exceeded|Address already in use"
    r"|Cannot allocate memory|[Uu]nable to create (new )?native thread|insufficient memory for the Java Runtime"
)


def first_error(log: Path, since: int = 0) -> str:
    """The first error behind so many bytes of a log, with its exceptions and without their stack traces.

    Without an error the last lines, which a JVM writes that never came to logging; "(no log)" without any.
    """
    lines = list(_lines(log, since))
    first = next((number for number, line in enumerate(lines) if _ERROR.search(line)), None)
    if first is None or not _BEGINS.match(lines[first]):
        found = lines[-_OF_A_JVM_THAT_NEVER_LOGGED:]
    else:
        below = takewhile(lambda line: not _BEGINS.match(line), lines[first + 1 :])
        found = [_BEGINS.sub("", lines[first], count=1), *(line for line in below if not _STACK.match(line))]
    return redacted(" / ".join(line.strip() for line in found if line.strip()))[: 2 * _LENGTH] or "(no log)"


def machine_trouble(log: Path, since: int = 0, exit_code: int | None = None) -> str:
    """What a node says, behind so many bytes of its log, that this machine lacks; empty if nothing.

    ``exit_code`` is that of a process that crashed.
    """
    if exit_code == -signal.SIGKILL:
        return "killed by signal 9 from elsewhere, as the kernel does when memory is short"
    found = next((match for line in _lines(log, since) if (match := _MACHINE.search(line))), None)
    return found.group() if found else ""


def death(node: str, exit_code: int | None, log: Path, since: int, *, is_recorded: bool = False) -> KmigrateError:
    """The error to raise of a node whose process ended: NodeDiedError, or EnvironmentLackError by its machine.

    ``is_recorded``: the history has this end as an unexpected one, and not as what a fault, or a test, did.
    """
    if trouble := machine_trouble(log, since, exit_code if is_recorded else None):
        return EnvironmentLackError(f"{node} died with exit code {exit_code}: {trouble}; make room on this machine")
    error = NodeDiedError(node, exit_code, first_error(log, since))
    error.is_recorded = is_recorded
    return error


def last_words(log: Path, since: int = 0) -> str:
    """The error behind so many bytes of a log that ended the process, with the next line, which names the exception.

    The last fatal fault, as what still runs then may log errors of its own; or the last error; or the last line.
    """
    lines = list(_lines(log, since))
    errors = [number for number, line in enumerate(lines) if _ERROR.search(line)]
    fatal = [number for number in errors if _FATAL in lines[number]]
    ended = (fatal or errors or [max(len(lines) - 1, 0)])[-1]
    return redacted(" / ".join(lines[ended:][:2]))[:_LENGTH]


def dead_threads(log: Path) -> list[tuple[str, str]]:
    """The name of each of Kafka's threads that ended by an error, and the exception; of all the node's lives."""
    with_next = pairwise(chain(_lines(log), [""]))
    ended = ((_THREAD_ENDED.search(line), exception) for line, exception in with_next)
    return [(found[1], redacted(exception)[:_LENGTH]) for found, exception in ended if found]


def record_dead_threads(recorder: Recorder, node: str, log: Path, known: int) -> int:
    """Record those of a node's threads that ended by an error, without the first ``known``; how many are known now."""
    ended = dead_threads(log)
    for thread, said in ended[known:]:
        recorder.record(ThreadDied(thread, said), node)
    return len(ended)


def has_dumped(log: Path, since: int) -> bool:
    """Whether there is a thread dump, to its end, behind so many bytes of a log."""
    if not log.exists():
        return False
    with log.open("rb") as file:
        file.seek(since)
        return _BELOW_THE_LAST_THREAD in file.read()


def size_of(log: Path) -> int:
    """How many bytes a log has; none where there is no log yet."""
    return log.stat().st_size if log.exists() else 0


def _lines(log: Path, since: int = 0) -> Iterator[str]:
    """A piece at once: a node without a free file logs 150 MB, and while all of it is split, nothing is observed."""
    if not log.exists():
        return
    with log.open("rb") as file:
        file.seek(since)
        while piece := file.readlines(_AT_ONCE_BYTES):
            yield from b"".join(piece).decode("utf-8", errors="replace").splitlines()
