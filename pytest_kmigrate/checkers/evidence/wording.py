"""Wording: counts, spans and ranges as people read them."""

from collections.abc import Iterable, Sequence

_MOST_NAMED = 4


def number(count: int) -> str:
    """18204 -> "18 204"."""
    return f"{count:,}".replace(",", " ")


def counted(count: int, noun: str, plural: str = "") -> str:
    """(1, "record") -> "1 record"; (1200, "record") -> "1 200 records"."""
    return f"{number(count)} {noun if count == 1 else plural or noun + 's'}"


def span(length_ns: int) -> str:
    """Nanoseconds as "240 ms", "1.2 s" or "314 s"."""
    if length_ns < 1_000_000_000:
        return f"{length_ns / 1e6:.0f} ms"
    seconds = length_ns / 1e9
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:.0f} s"


def runs_of(values: Iterable[int]) -> list[tuple[int, int]]:
    """Runs of consecutive numbers as (first, last), in rising order."""
    runs: list[tuple[int, int]] = []
    for value in sorted(set(values)):
        if runs and value == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], value)
        else:
            runs.append((value, value))
    return runs


def ranges(values: Iterable[int]) -> str:
    """[411, 412, 413, 9] -> "9, 411-413"; many runs are cut short with their count."""
    runs = [f"{first}" if first == last else f"{first}-{last}" for first, last in runs_of(values)]
    return listed(runs, "range")


def listed(names: Sequence[str], noun: str, between: str = ", ") -> str:
    """The first names, then how many more there are."""
    more = len(names) - _MOST_NAMED
    shown = between.join(names[:_MOST_NAMED])
    return f"{shown} and {counted(more, f'more {noun}')}" if more > 0 else shown
