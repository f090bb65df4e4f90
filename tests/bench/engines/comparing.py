"""Spark against DuckDB and polars on the marts, in turn within one run, and which of them holds in little memory."""

import importlib.util
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import pyarrow.parquet as pq

from tests.bench.chapter import Chapter, Row
from tests.bench.engines.data import written
from tests.bench.engines.engine import MARTS, SECONDS, differing_rows
from tests.bench.measuring import Cost, cost
from tests.bench.provider.limits import Limit

OURS, OTHERS = "spark", ("duckdb", "polars")
ROUNDS_BY_ROWS = {10**5: 2, 10**6: 2, 10**7: 1}
LARGE_ROWS = 5 * 10**7
CORES = 2
LITTLE_GIB = 2.0
_SHOWN_CHARACTERS = 200


@dataclass(frozen=True)
class Setting:
    """Under which circumstances an engine is asked."""

    engine: str
    rows: int
    cores: int
    memory_gib: float | None = None


@dataclass
class Asked:
    """What the rounds of one setting came to; ``failure`` is what an engine said when it had no answer."""

    costs: list[Cost] = field(default_factory=list)
    seconds: list[dict[str, float]] = field(default_factory=list)
    failure: str = ""

    def median_s(self, part: str) -> float:
        """Of ``start``, a mart, or ``whole``."""
        values = [each.seconds for each in self.costs] if part == "whole" else [each[part] for each in self.seconds]
        return statistics.median(values)


Answers = dict[Setting, Asked]


def measure(folder: Path, *, is_large: bool) -> Chapter:
    """Every engine, size and number of cores; the largest size once more with little memory."""
    lacking = [name for name in OTHERS if importlib.util.find_spec(name) is None]
    engines = [OURS, *[name for name in OTHERS if name not in lacking]]
    rounds = {**ROUNDS_BY_ROWS, **({LARGE_ROWS: 1} if is_large else {})}
    found: Answers = {}
    differing = 0
    for rows, times in rounds.items():
        data = written(folder / f"facts-{rows}", rows)
        for (cores, memory_gib), _ in product(_machines(is_largest=rows == max(rounds)), range(times)):
            asked = [Setting(engine, rows, cores, memory_gib) for engine in engines]
            differing += sum(_ask(found, setting, data, folder) for setting in asked)
    wanted = Limit("rows that DuckDB or polars answer differently", differing, "", at_most=0)
    sentences = [f"{name} is not installed here (the extra `bench` has it)" for name in lacking]
    return Chapter("engines", [wanted], {"marts, in seconds (medians)": table(found)}, sentences)


def _machines(*, is_largest: bool) -> list[tuple[int, float | None]]:
    """Cores and memory; what fewer of them do to an engine is asked where there is most to do."""
    return [(CORES, None), (1, None), (CORES, LITTLE_GIB)] if is_largest else [(CORES, None)]


def table(found: Answers) -> Sequence[Row]:
    """A row per setting; the last column is how many times as long as the quickest engine it took."""
    rows = []
    for setting, asked in found.items():
        circumstances = (setting.rows, setting.cores, setting.memory_gib)
        rivals = [
            each.median_s("whole")
            for other, each in found.items()
            if (other.rows, other.cores, other.memory_gib) == circumstances and not each.failure
        ]
        whole = None if asked.failure else asked.median_s("whole")
        rows.append(
            {
                "rows": f"{setting.rows:.0e}",
                "cores": setting.cores,
                "memory": "all" if setting.memory_gib is None else f"{setting.memory_gib:g} GiB",
                "engine": setting.engine,
                **{part: None if asked.failure else asked.median_s(part) for part in ("start", *MARTS)},
                "whole": whole,
                "processor": statistics.median(each.cpu_s for each in asked.costs),
                "peak GiB": max(each.peak_gib for each in asked.costs),
                "times the quickest": None if whole is None else whole / min(rivals),
                "failure": asked.failure,
            }
        )
    return rows


def said_of_memory(output: str) -> str:
    """The first line in which an engine names the memory it lacks; what it said last, if none does."""
    lines = output.strip().splitlines() or ["it said nothing"]
    return next((line.strip() for line in lines if "memory" in line.lower()), lines[-1])


def _ask(found: Answers, setting: Setting, data: Path, folder: Path) -> int:
    """One round of one setting; gives in how many rows its answers differ from Spark's."""
    out = folder / f"{setting.engine}-{setting.rows}"
    memory = [] if setting.memory_gib is None else [str(setting.memory_gib)]
    parts = [setting.engine, str(data), str(out), str(setting.cores), *memory]
    spent = cost([sys.executable, "-m", "tests.bench.engines", *parts], out / "log", memory_gib=setting.memory_gib)
    asked = found.setdefault(setting, Asked())
    asked.costs.append(spent)
    if spent.exit_status != 0 and setting.memory_gib is not None:
        asked.failure = said_of_memory(spent.output)[:_SHOWN_CHARACTERS]
        return 0
    spent.must_end_with(0)
    asked.seconds.append(json.loads((out / SECONDS).read_text()))
    ours = folder / f"{OURS}-{setting.rows}"
    return sum(differing_rows(*[pq.read_table(each / f"{mart}.parquet") for each in (ours, out)]) for mart in MARTS)
