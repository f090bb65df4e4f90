"""A vendor with honest runs."""

import shutil
from pathlib import Path

import pytest

from tests.unit.certificates.vendors import PLANNED, certified, make_runs, plan_these


@pytest.fixture(scope="session")
def vendor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three honest runs of the one test of the plan, all the plan asks for, and their certificate: made once."""
    folder = tmp_path_factory.mktemp("vendor")
    with pytest.MonkeyPatch.context() as patch:
        plan_these(patch, folder / "plans", PLANNED)
        make_runs(folder / "runs", 1, 2, 3)
        certified(folder / "runs", folder / "x.kmcert")
    return folder


@pytest.fixture
def runs(vendor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The vendor's runs, for one test to change."""
    plan_these(monkeypatch, tmp_path / "plans", PLANNED)
    return Path(shutil.copytree(vendor / "runs", tmp_path / "runs"))


@pytest.fixture
def out(runs: Path) -> Path:
    """Where their certificate goes."""
    return runs.parent / "x.kmcert"


@pytest.fixture
def certificate(vendor: Path, out: Path) -> Path:
    """The vendor's certificate of these runs, with evidence, results and key beside it, for one test to change."""
    for file in vendor.iterdir():
        if file.is_file():
            shutil.copy2(file, out.parent)
    return out
