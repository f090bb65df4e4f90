"""Digests of sources change with what they stand for, and with nothing else."""

from pathlib import Path

import pytest

from pytest_kmigrate.recording import sources
from pytest_kmigrate.recording.sources import _files, digest_of, digest_of_test


def test_a_digest_tells_contents_and_names_apart(tmp_path: Path) -> None:
    """The same files give the same digest; another content, name or number of files another."""
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text("a")
    two.write_text("a")
    digests = {digest_of([one]), digest_of([two]), digest_of([one, two])}
    one.write_text("b")
    digests.add(digest_of([one]))
    assert len(digests) == 4
    one.write_text("a")
    assert digest_of([one]) in digests


def test_the_harness_is_no_suite_and_nothing_compiled(tmp_path: Path) -> None:
    """A test that changes invalidates its own runs and no others; reports judge nothing."""
    for name in ("a.py", "data.toml", "checkers/b.py", "suites/c.py", "reports/d.py", "checkers/__pycache__/b.pyc"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True, parents=True)
        file.touch()
    assert {file.name for file in _files(tmp_path)} == {"a.py", "data.toml", "b.py"}


@pytest.mark.parametrize(
    ("name", "is_part"),
    [
        ("toys/test_one.py", True),
        ("toys/helpers.py", True),
        ("toys/schedules.jsonl", True),
        ("balls/fixtures.py", True),
        ("toys/test_two.py", False),
        ("toys/notes.md", False),
        ("balls/test_three.py", False),
        ("dolls/fixtures.py", False),
    ],
)
def test_a_test_is_its_file_and_what_it_uses(
    tmp_path: Path, name: str, *, is_part: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Helpers and schedules beside it, and helpers of another suite that one of these imports."""
    monkeypatch.setattr(sources, "_SUITES", tmp_path)
    for file in (
        "toys/test_one.py",
        "toys/helpers.py",
        "toys/schedules.jsonl",
        "balls/fixtures.py",
        "dolls/fixtures.py",
    ):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("x = 1\n")
    (tmp_path / "toys" / "helpers.py").write_text("from pytest_kmigrate.suites.balls.fixtures import *\n")
    before = digest_of_test(tmp_path / "toys" / "test_one.py")
    with (tmp_path / name).open("a") as changed:
        changed.write("y = 2\n")
    assert (digest_of_test(tmp_path / "toys" / "test_one.py") != before) is is_part


def test_a_users_test_may_use_a_suite_of_the_package(tmp_path: Path) -> None:
    """Which is not beside it; what does not exist is for Python to say."""
    file = tmp_path / "test_mine.py"
    file.write_text("from pytest_kmigrate.suites.kip_500.fixtures import *\n")
    assert digest_of_test(file) != digest_of([file])
    file.write_text("from pytest_kmigrate.suites.kip_501.fixtures import *\n")
    assert digest_of_test(file) == digest_of([file])


def test_a_conftest_above_changes_a_run_and_no_plan(tmp_path: Path) -> None:
    """A package may be installed below anything; what takes part in a run from there makes it another."""
    file = tmp_path / "project" / "toys" / "test_one.py"
    file.parent.mkdir(parents=True)
    file.touch()
    planned, ran = digest_of_test(file, has_above=False), digest_of_test(file)
    assert planned == ran
    (tmp_path / "project" / "conftest.py").write_text("x = 1\n")
    assert (digest_of_test(file, has_above=False), digest_of_test(file) != ran) == (planned, True)
