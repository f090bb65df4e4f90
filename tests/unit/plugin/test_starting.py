"""Facts about values of options that are paths: whatever they lead to, pytest's root folder and ini file stay."""

from pathlib import Path

import pytest

from pytest_kmigrate.plugin.starting import joined

pytest_plugins = ["pytester"]


@pytest.fixture
def project(pytester: pytest.Pytester) -> Path:
    """A project with an ini file and an option of its own, and a folder beside it that has another ini file."""
    project = pytester.mkdir("project")
    (project / "pytest.ini").write_text("[pytest]\ntestpaths = tests\nkmigrate-seed = 5\naddopts = -v\n")
    (project / "tests").mkdir()
    (project / "tests/conftest.py").write_text("def pytest_addoption(parser): parser.addoption('--mine')\n")
    asked = "(request.config.option.mine, str(request.config.getini('kmigrate-seed')))"
    (project / "tests/test_it.py").write_text(f"def test_it(request): assert {asked} == ('x', '5')\n")
    (pytester.path / "elsewhere/libs").mkdir(parents=True)
    (pytester.path / "elsewhere/pytest.ini").write_text("[pytest]\nkmigrate-seed = 6\n")
    return project


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--kmigrate-kafka", "--kmigrate-runs"])
@pytest.mark.parametrize("place", ["words", "environment"])
def test_a_path_after_a_space_is_no_path_of_a_test(
    pytester: pytest.Pytester, project: Path, monkeypatch: pytest.MonkeyPatch, option: str, place: str
) -> None:
    """The same root folder, ini file, seed, test id and own options as without it."""
    value = (option, str(pytester.path / "elsewhere"))
    if place == "environment":
        monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(value))
    monkeypatch.chdir(project)
    result = pytester.runpytest_subprocess("--mine", "x", "-p", "no:cacheprovider", *(value * (place == "words")))
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"rootdir: {project}", "tests/test_it.py::test_it PASSED*"])
    assert len([line for line in result.outlines if line.startswith("rootdir: ")]) == 1


@pytest.mark.slow
def test_a_test_that_fails_fails_all_the_same(
    pytester: pytest.Pytester, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exit status is that of pytest, also when it is called by a program."""
    monkeypatch.chdir(project)
    words = ("--mine", "y", "-p", "no:cacheprovider", "--kmigrate-runs", str(pytester.path / "elsewhere"))
    assert pytester.runpytest_subprocess(*words).ret == pytest.ExitCode.TESTS_FAILED
    assert pytester.runpytest_inprocess(*words).ret == pytest.ExitCode.TESTS_FAILED


def test_only_values_of_our_options_are_joined() -> None:
    """Neither those of other options, nor what follows a double dash or nothing."""
    words = ["-k", "a b", "--kmigrate-seed", "1", "--kmigrate-keep", "tests", "--", "--kmigrate-runs", "x"]
    assert joined(words) == ["-k", "a b", "--kmigrate-seed=1", "--kmigrate-keep", "tests", *words[-3:]]
    assert joined(["--kmigrate-runs"]) == ["--kmigrate-runs"]
