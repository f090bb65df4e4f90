"""Logs in which one thing is said again and again."""

import pytest

from pytest_kmigrate.recording.repeats import without_repeats

FAILED = "ERROR Error while accepting connection (DataPlaneAcceptor)\njava.io.IOException: Too many open files\n"


def entries(count: int, said: str = FAILED) -> str:
    """So many entries, a millisecond apart."""
    return "".join(f"2026-11-30 06:46:{at // 1000:02},{at % 1000:03} {said}" for at in range(count))


def as_of_4(log: str) -> str:
    """As Log4j 2 writes the time of an entry."""
    return log.replace("2026-11-30 ", "2026-11-30T")


@pytest.mark.parametrize(
    ("log", "read"),
    [
        ("", ""),
        ("no time\n", "no time\n"),
        ("before\n" + entries(100), "before\n" + entries(100)),
        (entries(5_000), entries(100)),
        (entries(5_000) + entries(2, "INFO closed\n"), entries(100) + entries(2, "INFO closed\n")),
        (as_of_4(entries(5_000)), as_of_4(entries(100))),
        ((entries(99) + entries(1, "INFO x\n")) * 3, (entries(99) + entries(1, "INFO x\n")) * 3),
    ],
    ids=["nothing", "no entry", "few", "many", "something else behind them", "as of 4.0", "not in a row"],
)
def test_a_hundred_entries_in_a_row_say_what_more_do(log: str, read: str) -> None:
    """They may differ in their time alone."""
    assert without_repeats(log) == read
