"""Digests of sources change with what they stand for, and with nothing else."""

from pathlib import Path

from pytest_kmigrate.recording.sources import _files, digest_of


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
