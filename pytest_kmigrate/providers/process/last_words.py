"""What a node's log ends with: for the message of a failure, and for the event of a death that nobody asked for."""

import re
from itertools import pairwise
from pathlib import Path

from pytest_kmigrate.redaction import redacted

_TAIL_LINES = 25
_ERROR = re.compile(r"\b(ERROR|FATAL)\b|^Error: |^Exception in thread")
_THREAD_ENDED = re.compile(r"ERROR \[(.+?)\]:? Error due to\b")
_BELOW_THE_LAST_THREAD = b"JNI global refs"
_LENGTH = 400


def log_tail(log: Path) -> str:
    """The last lines of a log."""
    return redacted("\n".join(_lines(log)[-_TAIL_LINES:])) or "(no log)"


def last_words(log: Path) -> str:
    """The last error in a log with the line after it, where Kafka tells the exception; else its last line."""
    lines = _lines(log)
    last_error = max((number for number, line in enumerate(lines) if _ERROR.search(line)), default=len(lines) - 1)
    return redacted(" / ".join(lines[max(last_error, 0) :][:2]))[:_LENGTH]


def dead_threads(log: Path) -> list[tuple[str, str]]:
    """The name of each of Kafka's threads that ended by an error, and the exception; of all the node's lives."""
    lines = _lines(log)
    ended = [(_THREAD_ENDED.search(line), exception) for line, exception in pairwise([*lines, ""])]
    return [(told[1], redacted(exception)[:_LENGTH]) for told, exception in ended if told]


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


def _lines(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
