"""Logs without secrets: each line keeps its length, as events count the bytes of logs, and nodes go on writing."""

import re
from collections.abc import Iterator, Mapping

from pytest_kmigrate.redaction import redacted
from pytest_kmigrate.redaction.forms import HINTS, goes_on, has_hint, secrets_of
from pytest_kmigrate.redaction.known import known_replaced
from pytest_kmigrate.redaction.stand_in import STAND_IN

_MOST_LINES = 4
"""So many lines a form of several lines has at most, but for PEM."""

_BEGIN_OF_PEM, _IN_PEM = re.compile("-----BEGIN [A-Z0-9 ]+-----"), re.compile(r"[A-Za-z0-9+/=:, -]*\Z")
_BLACK = re.compile(r"\S")


def without_secrets(log: bytes) -> Iterator[tuple[int, bytes]]:
    """Each line of a log that has a secret: where it begins, and the line without it, as many bytes as it had.

    What stands for a short secret may be longer: then it is stars.
    """
    lines = log.splitlines(keepends=True)
    # Each line once: a node without a free file says the same twenty thousand times a second.
    text_of = {line: line.rstrip(b"\r\n").decode("utf-8", errors="replace") for line in dict.fromkeys(lines)}
    folded = "\n".join(text_of.values()).casefold()
    hints = [hint for hint in HINTS if hint in folded]
    hinted = {text: has_hint(text, hints) for text in text_of.values()}
    hidden_in = {text: _hidden(text, is_hinted=is_hinted) for text, is_hinted in hinted.items()}
    texts = [text_of[line] for line in lines]
    begun = _begun_before(texts, hinted)
    begin = 0
    for number, (line, text) in enumerate(zip(lines, texts, strict=True)):
        rest = begun.get(number)
        hidden = hidden_in[text] if rest is None else _hidden(rest, is_hinted=has_hint(rest, hints))
        if hidden != text:
            content = line.rstrip(b"\r\n")
            fitting = hidden if len(hidden.encode()) <= len(content) else STAND_IN.sub("***", hidden)
            yield begin, fitting.encode()[: len(content)].ljust(len(content))
        begin += len(line)


def _hidden(text: str, *, is_hinted: bool) -> str:
    return redacted(text) if is_hinted else known_replaced(text)


def log_without_secrets(log: bytes) -> bytes:
    """A log with each line as ``without_secrets`` leaves it."""
    hidden = bytearray(log)
    for begin, line in without_secrets(log):
        hidden[begin : begin + len(line)] = line
    return bytes(hidden)


def _begun_before(texts: list[str], hinted: Mapping[str, bool]) -> dict[int, str]:
    """Lines with parts of a secret that begins in an earlier line, by their numbers, with stars in its place."""
    found = dict[int, str]()
    for number, text in enumerate(texts):
        if not hinted[text]:
            continue
        if _BEGIN_OF_PEM.search(text):
            found |= _key_after(texts, number)
        elif goes_on(text):
            found |= _values_after(texts[number : number + _MOST_LINES], number)
    return found


def _key_after(texts: list[str], number: int) -> dict[int, str]:
    """The lines of a key, up to its end."""
    found = dict[int, str]()
    for after in range(number + 1, len(texts)):
        if not _IN_PEM.match(texts[after]):
            break
        found[after] = _BLACK.sub("*", texts[after])
        if "-----END" in texts[after]:
            break
    return found


def _values_after(window: list[str], number: int) -> dict[int, str]:
    found, begin = dict[int, str](), len(window[0]) + 1
    spans = secrets_of("\n".join(window))
    for after, text in enumerate(window[1:], number + 1):
        parts = [(max(0, first - begin), min(len(text), last - begin)) for first, last in spans]
        for first, last in parts:
            if first < last:
                kept = found.get(after, text)
                found[after] = kept[:first] + _BLACK.sub("*", kept[first:last]) + kept[last:]
        begin += len(text) + 1
    return found
