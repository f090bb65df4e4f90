"""What is released: sdist, wheel, and the wheel that others make of the sdist, each installed by itself."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.test_house_rules import ROOT, checked_in

PACKAGE = "pytest_kmigrate"
LINKED = ("suites", "fixtures", "topologies", "reports")
BESIDE_DOCS = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE")
LEFT_BY_RUNS = ("reports/runs/night/run-1/history.jsonl", "reports/analysis/night/index.html")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
OFFLINE = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation")
RELEASED = ("wheel", "sdist", "wheel of the sdist")

Python = Callable[..., subprocess.CompletedProcess[str]]
"""Calls the Python of an environment with these arguments, in an empty folder by default."""


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Build a copy of the working tree in which runs have been made and analysed; then the sdist, as pip does."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("out")
    for name in checked_in():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, source / name, follow_symlinks=False)
    for name in LEFT_BY_RUNS:
        (source / name).parent.mkdir(parents=True)
        (source / name).write_text("somebody's evidence")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "--directory", str(out)]
    subprocess.run(build, cwd=source, capture_output=True, check=True)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    subprocess.run([*PIP, "wheel", *OFFLINE, "--wheel-dir", str(out / "again"), str(sdist)], check=True)
    (again,) = (out / "again").glob("*.whl")
    return dict(zip(RELEASED, (wheel, sdist, again), strict=True))


@pytest.fixture(scope="module")
def dependencies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Link everything that is installed beside this project, but nothing of it: no entry point either."""
    folder = tmp_path_factory.mktemp("dependencies")
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if PACKAGE not in each.name and each.suffix != ".pth":
            (folder / each.name).symlink_to(each)
    return folder


@pytest.fixture(params=RELEASED)
def python(request: pytest.FixtureRequest, released: dict[str, Path], dependencies: Path, tmp_path: Path) -> Python:
    """Install one of them into an environment that has its dependencies and nothing else."""
    environment, empty = tmp_path / "environment", tmp_path / "empty"
    empty.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(f"{dependencies}\n")
    executable = environment / "bin" / "python"
    artefact = released[request.param]
    subprocess.run([*PIP, "--python", str(executable), "install", *OFFLINE, str(artefact)], check=True)
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def called(*arguments: str, cwd: Path = empty) -> subprocess.CompletedProcess[str]:
        command = [str(executable), *arguments]
        return subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False)

    return called


def test_a_wheel_has_all_of_the_package_and_nothing_else(released: dict[str, Path]) -> None:
    """Suites, fixtures, topologies and reports travel by their links; what runs left beside them stays at home."""
    within = (Path(PACKAGE, name) if name.parts[0] in LINKED else name for name in checked_in())
    expected = {str(path) for path in within if path.parts[0] == PACKAGE and path.name not in LINKED}
    expected |= {f"{PACKAGE}/{path}" for path in checked_in() if path.parts[0] == "docs" or str(path) in BESIDE_DOCS}
    for kind in ("wheel", "wheel of the sdist"):
        names = ZipFile(released[kind]).namelist()
        assert sorted({name for name in names if ".dist-info/" not in name} ^ expected) == [], kind
        assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names), kind


def test_a_wheel_is_the_same_twice(released: dict[str, Path]) -> None:
    """Built of the tree at another time in another folder, or of the sdist: the same bytes."""
    assert released["wheel"].read_bytes() == released["wheel of the sdist"].read_bytes()


def test_no_link_of_a_page_leads_out_of_the_wheel(released: dict[str, Path], tmp_path: Path) -> None:
    """A user without a checkout reads them all."""
    ZipFile(released["wheel"]).extractall(tmp_path)
    pages = [*(tmp_path / PACKAGE / "docs").rglob("*.md"), *(tmp_path / PACKAGE / name for name in BESIDE_DOCS[:-1])]
    link = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)")
    broken = [
        f"{page.name}: {to}"
        for page in pages
        for to in link.findall(page.read_text())
        if not (page.parent / to).exists()
    ]
    assert broken == []


def test_commands_of_the_pages_need_no_checkout() -> None:
    """Suites are named by their modules; a target of make stands where developers read."""
    pages = [ROOT / "docs" / "bugs-found.md", *(ROOT / "docs" / "how-to").glob("*.md"), ROOT / "docs" / "tutorial.md"]
    commands = re.compile(r"^(?:\$ |    )(?:pytest suites/|make ).*$", re.MULTILINE)
    assert [f"{page.name}: {each}" for page in pages for each in commands.findall(page.read_text())] == []


def test_the_sdist_has_the_pages_and_nothing_that_runs_left(released: dict[str, Path]) -> None:
    """All pages that README links to, and the licence."""
    with tarfile.open(released["sdist"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    pages = {str(name) for name in checked_in() if name.suffix == ".md" or name.parts[0] == "docs"}
    assert pages - names == set()
    assert "LICENSE" in names
    assert [name for name in names if name.endswith(("history.jsonl", "index.html"))] == []


def test_a_vendor_collects_the_suites(python: Python, tmp_path: Path) -> None:
    """In an empty folder, with the command of the README: all tests and all their fixtures."""
    plan = ("-m", "pytest", "--pyargs", f"{PACKAGE}.suites.kip_866", "--setup-plan", "-q", "-p", "no:cacheprovider")
    # By its root folder pytest shows whose tests they are; some files have tests of nights alone.
    planned = python(*plan, "--kmigrate-nightly", "--rootdir", str(tmp_path))
    assert planned.returncode == 0, planned.stdout + planned.stderr
    files = {line.strip().partition("::")[0] for line in planned.stdout.splitlines() if "::" in line}
    (suite,) = (tmp_path / "environment").glob(f"lib/python*/site-packages/{PACKAGE}/suites/kip_866")
    assert {tmp_path / file for file in files} == set(suite.glob("test_*.py"))


def test_a_vendor_runs_tests_and_the_command(python: Python, tmp_path: Path) -> None:
    """The contract comes with the package: a test module outside of it that has a bench is enough."""
    own = tmp_path / "own"
    own.mkdir()
    shutil.copy(ROOT / "tests/contract/test_fake_provider.py", own)
    tested = python("-m", "pytest", "-q", "-p", "no:cacheprovider", str(own), cwd=own)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert re.search(r"^2\d passed", tested.stdout, re.MULTILINE)
    (said,) = python("-m", f"{PACKAGE}.cli", "docs").stdout.splitlines()
    assert Path(said, "how-to", "install.md").is_file()
    assert re.fullmatch(r"pytest-kmigrate \d+\.\d+\.\d+\n", python("-m", f"{PACKAGE}.cli", "--version").stdout)
