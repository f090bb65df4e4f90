"""Levels of log lines: one line by itself, and many at once, which must say the same."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_kmigrate.analysis.staging import levels
from pytest_kmigrate.analysis.staging.levels import KEPT_LEVELS, level_of, reported

_BEGINNINGS = ("2026-03-01 10:00:00,123 ", "[2026-03-01 10:00:00,123] ", "2026-03-01T10:00:00 ", "9", "[")
_WORDS = ("INFO", "WARN", "ERROR", "INFO ", "WARN ", "WARNING ", "FATAL  ", "a" * 40, "warning", "info")
_NAMES = ("Caused by: ", "java.io.IOException", "kafka.Error", ":")
_LINES = ("2026-03-01 10:00:00,123 INFO on\n", "2026-03-01 10:00:00,123 WARN off\n", '{"level":"info"}\n')
_PIECES = (*_LINES, *_LINES, *_BEGINNINGS, *_WORDS, *_NAMES, " ", "\t", "\n", "\r", "é", '{"level":"', '"')
_TEXT = st.lists(st.sampled_from(_PIECES), max_size=12).map("".join)


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("2026-03-01 10:00:00,123 INFO started", "INFO"),
        ("[2026-03-01 10:00:00,123] WARN [Broker id=1] gone", "WARN"),
        ("2026-03-01 10:00:00,123 ERROR", "ERROR"),
        ("2026-03-01 10:00:00,123 WARNING of old", None),
        ("2026-03-01 10:00:00,123 kafka said WARN", None),
        ("no date but WARN in it", None),
        ("at 2026-03-01 WARN", None),
        ('{"level":"warning","message":"gone"}', "WARN"),
        ('{"level":"info","message":"WARN"}', "INFO"),
        ("java.io.IOException: gone", "EXCEPTION"),
        ("Caused by: java.lang.OutOfMemoryError", "EXCEPTION"),
        ("\tjava.io.IOException: gone", None),
        ("IOException: gone", None),
        ("no java.io.IOException: gone", None),
        ("", None),
    ],
)
def test_the_level_of_a_line(line: str, level: str | None) -> None:
    """It is the third word after date and time, a proxy's own, or that of an exception's head; nothing else is one."""
    assert level_of(line.encode()) == level


@example(["9 " + "a" * 40 + " WARN too late to be a level"], 100)
@given(st.lists(_TEXT, max_size=6), st.integers(1, 200))
@pytest.mark.slow
def test_many_lines_at_once_have_the_levels_that_each_has_by_itself(texts: list[str], at_once: int) -> None:
    """However texts are cut into lines, batches and slices; below WARN they are counted, and the first is named."""
    kept, counted, first = [], Counter[tuple[int, str]](), dict[tuple[int, str], int]()
    for place, text in enumerate(texts):
        for number, line in enumerate(text.split("\n")):
            level = level_of(line.encode())
            if level in KEPT_LEVELS:
                kept.append((place, level, number, line.encode()))
            elif level is not None:
                counted[place, level] += 1
                first.setdefault((place, level), number)
    # A slice: its first text does not begin where the memory of all texts does.
    array = pa.array(["2026-03-01 10:00:00,123 WARN before\n", *texts], pa.string())[1:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "_AT_ONCE_BYTES", at_once)
        rows = list(reported(array))
    assert sorted((row.place, row.level, row.line, row.text) for row in rows if row.text is not None) == sorted(kept)
    others = [row for row in rows if row.text is None]
    assert {(row.place, row.level): (row.lines, row.line) for row in others} == {
        key: (lines, first[key]) for key, lines in counted.items()
    }
