"""The targets, the rows that are held against them, and the tables that show both."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from tests.bench.provider.limits import Limit
from tests.bench.provider.limits import limits_table as table_of
from tests.bench.timings import Timings

Round = tuple[Timings, Timings]
"""Bare and ours, one after the other."""


@dataclass(frozen=True)
class Spread:
    """Smallest, middle and largest of some values."""

    min: float
    median: float
    max: float

    def __str__(self) -> str:
        return f"{self.min:.2f}/{self.median:.2f}/{self.max:.2f}"


@dataclass(frozen=True)
class Row:
    """One stretch: both sides in seconds, ours / bare round by round, and the target for its median."""

    stretch: str
    bare_s: Spread
    ours_s: Spread
    ratio: Spread
    target: str
    met: bool
    cut_off: int = 0
    """Rounds in which the bare side was given up and killed: its seconds are a lower, the ratio an upper bound."""


READY_RATIO, MIGRATION_RATIO, TEARDOWN_S = 0.75, 0.9, 1.0
MEMORY_MIB, CPU_PERCENT = 400, 15
_ENOUGH_OF_RATE = 0.98


def rows(rounds: Sequence[Round]) -> list[Row]:
    """The three stretches over all rounds."""
    return [
        _row("cluster ready", rounds, lambda timings: timings.ready_s, of_ratio=READY_RATIO),
        _row("migration to dual write", rounds, lambda timings: timings.migration_s, of_ratio=MIGRATION_RATIO),
        _row("teardown", rounds, lambda timings: timings.teardown_s, of_seconds=TEARDOWN_S),
    ]


def limits(footprint: Mapping[str, Any]) -> list[Limit]:
    """The figures of the harness; with and without Toxiproxy, whose work is the links' and not our own."""
    cpu: Mapping[str, float] = footprint["cpu_percent_by_part"]
    together = sum(cpu.values())
    found = [
        Limit("acknowledged sends", footprint["acked_per_s"], "per s"),
        Limit("CPU, all of the harness", together, "% of a core", CPU_PERCENT),
        Limit("CPU, without Toxiproxy", together - cpu.get("toxiproxy", 0.0), "% of a core", CPU_PERCENT),
        *(Limit(f"  {part}", percent, "% of a core") for part, percent in sorted(cpu.items())),
    ]
    for when, key in (("in the window", "memory_in_window"), ("peak of the whole run", "memory_peak_of_whole_run")):
        memory = footprint[key]
        found += [Limit(f"PSS {when}", memory["pss_mib"], "MiB", MEMORY_MIB)]
        found += [Limit(f"  {part}", mib, "MiB") for part, mib in sorted(memory["pss_mib_by_part"].items())]
        found += [Limit(f"RSS {when}, shared pages counted again", memory["rss_mib"], "MiB", MEMORY_MIB)]
    return found


def rows_table(found: Sequence[Row], rounds: int) -> Table:
    """For the terminal."""
    table = Table(title=f"{rounds} rounds, bare and ours in turn; each cell: min / median / max")
    for heading in ("", "bare, s", "ours, s", "ours / bare", "target (median)", ""):
        table.add_column(heading, justify="left" if heading == "" else "right")
    for row in found:
        verdict = "met" if row.met else "[bold]missed[/bold]"
        if row.cut_off:
            table.caption = (
                f"{row.stretch}: bare was killed in {row.cut_off} rounds: its s a lower, the ratio an upper bound"
            )
        table.add_row(row.stretch, str(row.bare_s), str(row.ours_s), str(row.ratio), row.target, verdict)
    return table


def limits_table(found: Sequence[Limit], footprint: Mapping[str, Any], per_s: float) -> Table:
    """For the terminal; it says so when the run was not what the targets are about."""
    table = table_of(found, f"the harness besides the JVMs, over {footprint['window_s']:.0f} s in dual write")
    doubts = []
    if footprint["acked_per_s"] < _ENOUGH_OF_RATE * per_s:
        doubts.append(f"asked for {per_s:g} sends per s, not reached: the CPU is that of a lower rate")
    if footprint["pytest_exit_code"] != 0:
        doubts.append(f"the watched pytest ended with code {footprint['pytest_exit_code']}: see provider/footprint")
    table.caption = "; ".join(doubts) or None
    return table


def _row(
    stretch: str,
    rounds: Sequence[Round],
    seconds: Callable[[Timings], float],
    *,
    of_ratio: float | None = None,
    of_seconds: float | None = None,
) -> Row:
    bare, ours = spread([seconds(bare) for bare, _ in rounds]), spread([seconds(ours) for _, ours in rounds])
    ratio = spread([seconds(ours) / seconds(bare) for bare, ours in rounds])
    if of_ratio is not None:
        return Row(stretch, bare, ours, ratio, f"<= {of_ratio:g}x", ratio.median <= of_ratio)
    assert of_seconds is not None
    cut_off = sum(bare.is_teardown_cut_off for bare, _ in rounds)
    return Row(stretch, bare, ours, ratio, f"ours <= {of_seconds:g} s", ours.median <= of_seconds, cut_off)


def spread(values: Sequence[float]) -> Spread:
    """Of these values."""
    return Spread(min(values), statistics.median(values), max(values))
