"""The wheel alone is enough for a vendor, and has nothing in it that is not in version control."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.test_house_rules import ROOT, checked_in

PACKAGE = "pytest_kmigrate"
LINKED = ("suites", "fixtures", "topologies", "reports")
LEFT_BY_RUNS = ("reports/runs/night/run-1/history.jsonl", "reports/analysis/night/index.html")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built of a copy of the working tree in which runs have been made and analysed."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("out")
    for name in checked_in():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, source / name, follow_symlinks=False)
    for name in LEFT_BY_RUNS:
        (source / name).parent.mkdir(parents=True)
        (source / name).write_text("somebody's evidence")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(out)]
    subprocess.run(command, cwd=source, capture_output=True, check=True)
    (built,) = out.glob("*.whl")
    return built


def test_the_wheel_has_all_of_the_package_and_nothing_else(wheel: Path) -> None:
    """Suites, fixtures, topologies and reports travel by their links; what runs left beside them stays at home."""
    within = (Path(PACKAGE, name) if name.parts[0] in LINKED else name for name in checked_in())
    expected = {str(path) for path in within if path.parts[0] == PACKAGE and path.name not in LINKED}
    found = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert sorted(found ^ expected) == []


def test_a_vendor_collects_the_suites_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    """Installed by itself, in an empty folder, with the command of the README: all tests and all their fixtures."""
    site, empty = tmp_path / "site", tmp_path / "empty"
    empty.mkdir()
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(site)]
    subprocess.run([*install, str(wheel)], check=True)
    plan = [sys.executable, "-m", "pytest", "--pyargs", f"{PACKAGE}.suites.kip_866", "--setup-plan", "-q"]
    rooted = [*plan, "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]  # so that it is told whose tests they are
    environment = {**os.environ, "PYTHONPATH": str(site)}
    said = subprocess.run(rooted, cwd=empty, env=environment, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr
    files = {line.strip().partition("::")[0] for line in said.stdout.splitlines() if "::" in line}
    assert {tmp_path / file for file in files} == set((site / PACKAGE / "suites/kip_866").glob("test_*.py"))


def test_a_vendor_tests_a_provider_of_theirs_with_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    """The contract comes with the package: a test module outside of it that has a bench is enough."""
    site, own = tmp_path / "site", tmp_path / "own"
    own.mkdir()
    ZipFile(wheel).extractall(site)
    shutil.copy(ROOT / "tests/contract/test_fake_provider.py", own)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(own), str(own)]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    said = subprocess.run(command, cwd=own, env=environment, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr
    assert re.search(r"^2\d passed", said.stdout, re.MULTILINE)
