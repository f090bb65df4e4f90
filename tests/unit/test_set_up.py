"""``make setup``: what users need, by uv where it can be had, and by pip where it cannot."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FAKE_PYTHON = """#!/bin/sh
echo "python $@" >> {said}
case "$1 $2" in
  "-m venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python;;
  "-m pip") case "$*" in *requirements-uv.lock*) {pip_has_uv} || exit 1;; esac;;
esac
"""
FAKE_UV = """#!/bin/sh
echo "uv $@" >> {said}
exit {status}
"""


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., tuple[list[str], str]]:
    """Run targets of a copy of the Makefile with a python and a uv that only write down what they are called with."""

    def run(*targets: str, uv: int | None, pip_has_uv: bool = True) -> tuple[list[str], str]:
        copy, programs, said = tmp_path / "copy", tmp_path / "programs", tmp_path / "said"
        copy.mkdir()
        programs.mkdir()
        for name in ("Makefile", "pyproject.toml", *(each.name for each in ROOT.glob("requirements*"))):
            shutil.copy(ROOT / name, copy / name)
        fetched = programs / "fetched-uv"
        fetched.write_text(FAKE_UV.format(said=said, status=0))
        fetched.chmod(0o755)
        has_uv = f"cp {fetched} .venv/bin/uv" if pip_has_uv else "false"
        (programs / "python3").write_text(FAKE_PYTHON.format(said=said, pip_has_uv=has_uv))
        if uv is not None:
            (programs / "uv").write_text(FAKE_UV.format(said=said, status=uv))
        for program in programs.iterdir():
            program.chmod(0o755)
        environment = {"PATH": f"{programs}:/usr/bin:/bin"}
        ended = subprocess.run(
            ["make", *targets], cwd=copy, env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr
        return said.read_text().splitlines(), ended.stderr

    return run


INSTALLED_BY_UV = "uv pip install --quiet --python .venv/bin/python --require-hashes -r requirements-users.lock"


def test_uv_on_path_is_used(made: Callable[..., tuple[list[str], str]]) -> None:
    """And pip installs nothing but this project itself."""
    said, errors = made("setup", uv=0)
    assert INSTALLED_BY_UV in said
    assert [line.split()[-1] for line in said if " pip install" in line and line.startswith("python")] == ["."]
    assert errors == ""


def test_uv_is_had_by_pip(made: Callable[..., tuple[list[str], str]]) -> None:
    """With its hash."""
    said, _ = made("setup", uv=None)
    (fetch,) = [line for line in said if "requirements-uv.lock" in line]
    assert "--require-hashes" in fetch
    assert INSTALLED_BY_UV in said


@pytest.mark.parametrize(("uv", "pip_has_uv"), [(2, True), (None, False)], ids=["it fails", "it cannot be had"])
def test_pip_does_it_with_a_line_that_says_why(
    made: Callable[..., tuple[list[str], str]], uv: int | None, pip_has_uv: bool
) -> None:
    """With the same hashes."""
    said, errors = made("setup", uv=uv, pip_has_uv=pip_has_uv)
    (by_pip,) = [line for line in said if "requirements-users.lock" in line and line.startswith("python")]
    assert "--require-hashes" in by_pip
    assert errors.splitlines()[-1].startswith("uv is not to be had or failed")


def test_developers_get_more(made: Callable[..., tuple[list[str], str]]) -> None:
    """Users get no linter."""
    said, _ = made("setup", ".venv/.developing", uv=0)
    assert said[-1].endswith("-r requirements.lock")
    users = "\n" + (ROOT / "requirements-users.lock").read_text()
    assert not [name for name in ("ruff", "mypy", "duckdb", "polars", "hypothesis") if f"\n{name}==" in users]
    assert all(f"\n{name}==" in users for name in ("pyspark", "docker", "allure-pytest", "hatchling"))


@pytest.mark.parametrize("night", ["abc", "", "2026-11-29x"])
def test_a_night_that_is_no_date_is_named_with_its_file(tmp_path: Path, night: str) -> None:
    """No seed follows from it, so none is drawn, and nothing is made."""
    shutil.copy(ROOT / "Makefile", tmp_path / "Makefile")
    words = ["make", "-o", "cure", "-o", ".venv/.developing", "chaos", f"NIGHT={night}"]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert f"chaos/kip-866/{night}/night.jsonl: expected the file of a night, got none: put it there" in ended.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["Makefile"]
