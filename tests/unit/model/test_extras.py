"""A command whose extra is not installed ends with one sentence that names what installs it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pytest_kmigrate.model.extras import EXTRAS, extra_lack

WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {modules}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""
COMMAND = "from pytest_kmigrate.cli import main\nmain()\n"
PYTEST = "import pytest\nsys.exit(pytest.main(sys.argv[1:]))\n"
A_TEST = "def test_it(cluster): ...\n"


def _ended(folder: Path, extra: str, code: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """A process in which no module of the extra can be imported."""
    program = WITHOUT.format(modules=set(EXTRAS[extra])) + code
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "arguments"),
    [
        ("analysis", ["analyze", "runs", "--out", "report"]),
        ("docker", ["up", "zk1-broker3-controller3", "--provider", "docker"]),
    ],
)
def test_a_command_names_the_extra_it_needs(tmp_path: Path, extra: str, arguments: list[str]) -> None:
    """Status 4: the environment lacks something."""
    (tmp_path / "runs").mkdir()
    ended = _ended(tmp_path, extra, COMMAND, *arguments)
    assert ended.returncode == 4, ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert ended.stderr.strip().endswith(f"pip install 'pytest-kmigrate[{extra}]'")


@pytest.mark.slow
def test_a_session_names_the_extra_it_needs(tmp_path: Path) -> None:
    """Wherever pytest shows it: the sentence, and no trace of ours."""
    (tmp_path / "test_it.py").write_text(A_TEST)
    ended = _ended(tmp_path, "docker", PYTEST, "--kmigrate-provider", "docker", "-p", "no:cacheprovider")
    said = ended.stdout + ended.stderr
    assert ended.returncode != 0
    assert "pip install 'pytest-kmigrate[docker]'" in said
    assert "Traceback" not in said


@pytest.mark.slow
@pytest.mark.parametrize("extra", sorted(EXTRAS))
@pytest.mark.parametrize("arguments", [["--help"], ["doctor"], ["ps"], ["gc"], ["requirements"], ["bugs"]])
def test_what_needs_no_extra_goes_without(tmp_path: Path, extra: str, arguments: list[str]) -> None:
    """Also what looks for containers, where there is nothing to look with."""
    ended = _ended(tmp_path, extra, COMMAND, *arguments)
    assert "pytest-kmigrate[" not in ended.stderr
    assert "ModuleNotFoundError" not in ended.stderr


def test_a_module_of_no_extra_is_a_defect() -> None:
    """It is not explained away."""
    assert extra_lack(ModuleNotFoundError("No module named 'numpy'", name="numpy")) is None
    assert extra_lack(ModuleNotFoundError("of no name")) is None


def test_each_extra_stands_in_the_metadata() -> None:
    """The commands that errors name exist."""
    declared = tomllib.loads(Path("pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*declared} == {*EXTRAS, "all"}
