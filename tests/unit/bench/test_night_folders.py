"""Synthetic nights as run folders: what is returned of them is what lies there."""

import json
from pathlib import Path

import pytest

from tests.bench.planting.night_folders import write_nights
from tests.bench.planting.nights import Cause, Change, Plan, nights

PLAN = Plan(
    tests=2, nights=6, faults=2, phases=1, mean_log_odds=0.0, cause=Cause(phase=0), changes=(Change(3, 3, 1.0),),
    outages=(1,), broken_histories=(0,), sound_histories_every=11,
)  # fmt: skip


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_the_same_seed_writes_the_same_nights(tmp_path: Path) -> None:
    """File by file, so that a defect found can be looked at again; and another seed writes others."""
    truths = [write_nights(nights(seed, PLAN), tmp_path / name) for name, seed in (("a", 1), ("b", 1), ("c", 2))]

    assert truths[0] == truths[1] != truths[2]
    assert _contents(tmp_path / "a") == _contents(tmp_path / "b") != _contents(tmp_path / "c")


def test_the_truth_is_what_lies_there(tmp_path: Path) -> None:
    """What a run says that did not conform is listed for its check, in other numbers each time, as are operations."""
    truth = write_nights(nights(1, PLAN), tmp_path)
    said: dict[str, dict[str, str]] = {}
    for path in tmp_path.rglob("verdicts.jsonl"):
        for line in map(json.loads, path.read_text().splitlines()):
            if line["outcome"] != "CONFORMS":
                said.setdefault(line["check"], {})[str(path.parent.relative_to(tmp_path))] = line["summary"]

    assert {check: set(folders) for check, folders in said.items()} == truth.failures
    assert {"check_0", "check_1", "check_of_cause", "check_of_change", "cluster_ready"} == truth.failures.keys()
    assert all(len(set(texts.values())) == len(texts) for texts in said.values())
    assert {path.parent.parent.name for path in tmp_path.rglob("strangers-*.parquet")} == {"run-000000"}
    assert {path.parent.name for path in tmp_path.rglob("operations")} == {"run-000000", "run-000011", "run-000022"}
    assert truth.anomalies["lost write"] > 0
