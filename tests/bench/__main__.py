"""All benchmarks, or some: ``python -m tests.bench [PART ...] [--scale]``.

Prints every figure beside its target, as Markdown, and writes ``results.json``. Missing a target is no failure: how
fast a machine is today is nothing a program can be blamed for, so the exit status is 0 whenever everything could be
measured. What a machine has no program for is reported, and is no failure either.
"""

import argparse
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from tests.bench import against_allure, calibration, compare, consistency, containers, many_runs
from tests.bench.chapter import Chapter
from tests.bench.engines import comparing

FOLDER = Path(".bench") / "analysis"
PROVIDER = "provider"
CHAPTERS: Mapping[str, Callable[..., Chapter]] = {
    "containers": containers.measure,
    "calibration": calibration.measure,
    "consistency": consistency.measure,
    "runs": many_runs.measure,
    "engines": comparing.measure,
    "allure": against_allure.measure,
}
_WIDTH = 150


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and report, part by part."""
    parts = (PROVIDER, *CHAPTERS)
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)}; default: all")
    parser.add_argument("--scale", action="store_true", help="the large sizes too: hours, and some 20 GB of disk")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="for data, kept, and results")
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.parts) - set(parts)
    if unknown:
        parser.error(f"expected parts out of {', '.join(parts)}; got {', '.join(sorted(unknown))}")
    wanted = chosen.parts or parts
    if PROVIDER in wanted:
        compare.main([])
    folder = chosen.folder.resolve()
    console = Console(width=_WIDTH)
    results: dict[str, object] = {"cores": os.cpu_count(), "python": platform.python_version()}
    for name in (each for each in CHAPTERS if each in wanted):
        console.rule(f"{name} (load {os.getloadavg()[0]:.1f})")
        chapter = CHAPTERS[name](folder / name, is_large=chosen.scale)
        chapter.show(console)
        results[name] = asdict(chapter)
        # After every part, so that an interrupted run keeps what it has.
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    console.print(f"{folder / 'results.json'}")


if __name__ == "__main__":
    main()
