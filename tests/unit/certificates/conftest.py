"""A vendor with honest runs."""

from pathlib import Path

import pytest

from tests.unit.certificates.vendors import PLANNED, make_runs, plan_these


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three honest runs of the one test of the plan, all the plan asks for."""
    plan_these(monkeypatch, tmp_path / "plans", PLANNED)
    make_runs(tmp_path / "runs", 1, 2, 3)
    return tmp_path / "runs"


@pytest.fixture
def out(runs: Path) -> Path:
    """Where their certificate goes."""
    return runs.parent / "x.kmcert"
