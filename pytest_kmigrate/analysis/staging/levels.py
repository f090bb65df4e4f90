"""Levels: which of millions of log lines have which level, found in the bytes of many lines at once.

As columns of Spark every line became a row of its own, and nearly all of them only to be counted. Here a file travels
whole, and only lines whose words are kept become rows.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pytest_kmigrate.analysis.statistics.arrays import Flags, Integers

KEPT_LEVELS = ("WARN", "ERROR", "FATAL", "EXCEPTION")
"""Lines of these levels are distinguished by their normal form; of all others only the number is kept."""

_WORDS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_WORD = "|".join(_WORDS).encode()
_DATED = re.compile(rb"\[*[0-9][^ ]* (?:[^ ]* (%b)(?: |\Z)|(%b)\Z)" % (_WORD, _WORD))
_LONGEST_BEFORE_LEVEL = 40
_JSON = re.compile(rb'\{"level":"([^"]{0,7})')
_THROWN = re.compile(rb"(?!\t)(?:Caused by: )?[^ :]*\.[^ :]*(?:Exception|Error)(?::|\Z)")
_LONGEST_NAME = 120

_NEWLINE, _SPACE, _TAB = b"\n \t"
_AT_ONCE_BYTES = 2**19
"""So much text is looked at together: what is known of it then stays in the processor's cache."""

_BYTES_PER_OFFSET = 4


@dataclass(frozen=True)
class Told:
    """What a text holds: one line with its words, or how many lines of one level there are."""

    place: int
    """Of the text, among all."""

    level: str
    line: int
    """Where it is in its text, from 0; of several the first."""

    lines: int = 1
    text: bytes | None = None


@dataclass(frozen=True)
class _Lines:
    """Where the lines of some texts lie."""

    starts: Integers
    ends: Integers
    place: Integers
    number: Integers


def level_of(line: bytes) -> str | None:
    """The level of one line: its third word, after date and time, or what a proxy's JSON says; of an exception its own.

    Stack frames, and whatever else begins otherwise, have none.
    """
    dated = _DATED.match(line[:_LONGEST_BEFORE_LEVEL])
    if dated:
        return (dated[1] or dated[2]).decode()
    in_json = _JSON.match(line)
    if in_json:
        level = in_json[1].decode(errors="replace").upper()
        return "WARN" if level == "WARNING" else level
    return "EXCEPTION" if _THROWN.match(line[:_LONGEST_NAME]) else None


def reported(texts: pa.StringArray) -> Iterator[Told]:
    """What each of the texts holds, be it one line or many."""
    _, places, content = texts.buffers()
    offsets = np.frombuffer(places, np.int32, len(texts) + 1, texts.offset * _BYTES_PER_OFFSET).astype(np.int64)
    data = np.frombuffer(content, np.uint8) if content else np.zeros(0, np.uint8)
    first = 0
    while first < len(texts):
        full = int(np.searchsorted(offsets, offsets[first] + _AT_ONCE_BYTES, "right")) - 1
        last = max(full, first + 1)
        here = data[offsets[first] : offsets[last]]
        if len(here):
            yield from _told(here, offsets[first : last + 1] - offsets[first], first)
        first = last


def _told(data: NDArray[np.uint8], offsets: Integers, first_place: int) -> Iterator[Told]:
    lines = _lines(data, offsets)
    level, names = _levels(data, lines)
    is_kept = np.isin(level, [number for number, name in enumerate(names) if name in KEPT_LEVELS])
    for at in np.flatnonzero(is_kept).tolist():
        text = data[lines.starts[at] : lines.ends[at]].tobytes()
        yield Told(first_place + int(lines.place[at]), names[level[at]], int(lines.number[at]), text=text)
    is_counted = (level >= 0) & ~is_kept
    key = lines.place[is_counted] * len(names) + level[is_counted]
    size = len(offsets) * len(names)
    counts, first = np.bincount(key, minlength=size), np.zeros(size, np.int64)
    # Of several with one key the one that is put there last stays.
    first[key[::-1]] = lines.number[is_counted][::-1]
    for each in np.flatnonzero(counts).tolist():
        place, number = divmod(each, len(names))
        yield Told(first_place + place, names[number], int(first[each]), int(counts[each]))


def _levels(data: NDArray[np.uint8], lines: _Lines) -> tuple[Integers, list[str]]:
    """The level of each line (-1: none), as a place in the list beside it."""
    level, names = _third_words(data, lines), list(_WORDS)
    is_open = (level < 0) & (lines.ends > lines.starts)
    is_open[is_open] = data[lines.starts[is_open]] != _TAB
    # What is no stack frame and has no level so far is looked at by itself: there is little of it.
    for at in np.flatnonzero(is_open).tolist():
        name = level_of(data[lines.starts[at] : lines.ends[at]].tobytes())
        if name is not None:
            if name not in names:
                names.append(name)
            level[at] = names.index(name)
    return level, names


def _lines(data: NDArray[np.uint8], offsets: Integers) -> _Lines:
    """Every line but empty ones at the end of a text; a text need not end with a newline."""
    is_start = np.empty(len(data) + 1, np.bool_)
    is_start[1:] = data == _NEWLINE
    is_start[offsets[:-1]] = True
    starts = np.flatnonzero(is_start[:-1])
    after = np.append(starts[1:], len(data))
    ends = after - (data[after - 1] == _NEWLINE)
    place = np.searchsorted(offsets, starts, "right") - 1
    number = np.arange(len(starts)) - np.searchsorted(starts, offsets)[place]
    return _Lines(starts, ends, place, number)


def _third_words(data: NDArray[np.uint8], lines: _Lines) -> Integers:
    """Which of the levels is the third word of each line that begins with a digit, in the usual place; else -1.

    A shortcut: ``level_of`` says the same, line by line.
    """
    parts = np.append(np.flatnonzero((data == _SPACE) | (data == _NEWLINE)), [len(data)] * 3)
    at = np.searchsorted(parts[:-3], lines.starts)
    most = np.minimum(lines.ends, lines.starts + _LONGEST_BEFORE_LEVEL)
    word, end = parts[at + 1] + 1, np.minimum(parts[at + 2], most)
    begin = data[np.minimum(lines.starts + (data[lines.starts] == ord("[")), len(data) - 1)]
    is_dated: Flags = (begin >= ord("0")) & (begin <= ord("9"))
    level = np.full(len(lines.starts), -1, np.int64)
    for number, name in enumerate(_WORDS):
        found = np.flatnonzero(is_dated & (end - word == len(name)))
        for place, letter in enumerate(name.encode()):
            found = found[data[word[found] + place] == letter]
        level[found] = number
    return level
