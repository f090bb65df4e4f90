"""One engine, all marts, in a process of its own: ``python -m tests.bench.engines ENGINE DATA OUT CORES [GIB]``.

Writes each answer below OUT, and into ``seconds.json`` how long the start and each mart took.
"""

import importlib
import json
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq

from tests.bench.engines.engine import MARTS, SECONDS, Start


def main(engine: str, data: Path, out: Path, cores: int, memory_gib: float | None) -> None:
    """Start, answer, report."""
    began_s = time.monotonic()
    # Only the one that is asked for: importing the others would be counted as its memory.
    start: Start = importlib.import_module(f"tests.bench.engines.in_{engine}").started
    out.mkdir(parents=True, exist_ok=True)
    with start(data, cores=cores, memory_gib=memory_gib) as answer:
        seconds = {"start": time.monotonic() - began_s}
        for mart in MARTS:
            began_s = time.monotonic()
            table = answer(mart)
            seconds[mart] = time.monotonic() - began_s
            pq.write_table(table, out / f"{mart}.parquet")
    (out / SECONDS).write_text(json.dumps(seconds))


if __name__ == "__main__":
    main(
        sys.argv[1],
        Path(sys.argv[2]),
        Path(sys.argv[3]),
        int(sys.argv[4]),
        *[float(each) for each in sys.argv[5:]] or [None],
    )
