"""What is read of reports: Allure's, and ours."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.bench.against_allure import flaky_in_report, flaky_in_tables, installed


def test_marks_of_allure_are_read(tmp_path: Path) -> None:
    """A test is flaky if the report says so; a failed one alone is not."""
    cases = tmp_path / "data" / "test-cases"
    cases.mkdir(parents=True)
    for name, reported in {"a": (True, "failed"), "b": (False, "failed"), "c": (False, "passed")}.items():
        case = {"fullName": f"shop.{name}", "flaky": reported[0], "status": reported[1]}
        (cases / f"{name}.json").write_text(json.dumps(case))

    assert flaky_in_report(tmp_path) == {"shop.a"}


def test_standings_of_ours_are_read(tmp_path: Path) -> None:
    """Of our table the standing counts, in whichever of its files it is."""
    pq.write_table(pa.table({"test_id": ["a", "b"], "standing": ["FLAKY", "VIOLATES"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"test_id": ["c", "d"], "standing": ["CONFORMS", "FLAKY"]}), tmp_path / "2.parquet")

    assert flaky_in_tables(tmp_path) == {"a", "d"}


def test_a_machine_without_npm_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be installed is an OSError, which the chapter reports as not measured."""
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(OSError, match="npm"):
        installed(tmp_path / "npm")
