"""What a release publishes: its version is that of the changelog, and its bill lists what users get."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import release
from tests.release import bill_of_materials, locked, main, normal, unready, version


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One that is ready to be released, with 1.2.3."""
    (tmp_path / "docs" / "changes").mkdir(parents=True)
    (tmp_path / "docs" / "changes" / "README.md").touch()
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3 (2030-01-01)\n\n## 1.2.2 (2029-01-01)\n")
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    return tmp_path


def test_a_release_lacks_nothing(repository: Path) -> None:
    """Its changelog begins with its version and a date, no fragment is left, all is committed."""
    assert unready() == []
    assert version() in (repository / "CHANGELOG.md").read_text()


def test_all_that_a_release_lacks_is_listed_at_once(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what to do, and nothing is built."""
    (repository / "CHANGELOG.md").write_text("# Changelog\n\n## 9.9.9 (unreleased)\n")
    (repository / "docs" / "changes" / "a.fix.md").touch()
    assert main() == 2
    assert capsys.readouterr().err.splitlines() == [
        "dist: CHANGELOG.md: expected 1.2.3, the version of pyproject.toml, first; got 9.9.9",
        "dist: CHANGELOG.md: expected a date at the first heading; got (unreleased)",
        "dist: docs/changes: expected that the fragments are collected; got 1",
        "dist: git: expected that all is committed; got 2 changed or new files",
        "docs/RELEASING.md has the steps; `make dist TRIAL=1` builds all the same",
    ]


def test_the_bill_has_what_users_get_and_nothing_else() -> None:
    """A package that only developers have is left out, and so is one that nothing of ours needs."""
    names = ("Rich", "mypy", "markdown_it", "stray")
    listed: dict[str, Any] = {
        "metadata": {"component": {"bom-ref": "root"}},
        "components": [{"bom-ref": f"{each}==1", "name": each} for each in names],
        "dependencies": [
            {"ref": "root", "dependsOn": ["mypy==1", "Rich==1"]},
            {"ref": "Rich==1", "dependsOn": ["markdown_it==1", "mypy==1"]},
            {"ref": "mypy==1"},
            {"ref": "markdown_it==1"},
            {"ref": "stray==1"},
        ],
    }
    bill = bill_of_materials(listed, {"rich", "markdown-it", "stray"})
    assert [each["name"] for each in bill["components"]] == ["Rich", "markdown_it"]
    assert bill["dependencies"] == [
        {"ref": "Rich==1", "dependsOn": ["markdown_it==1"]},
        {"ref": "markdown_it==1", "dependsOn": []},
        {"ref": "root", "dependsOn": ["Rich==1"]},
    ]


def test_names_of_packages_are_compared_as_registries_do() -> None:
    """Case, dots, dashes and underscores make no difference; the lock has what the product imports."""
    assert normal("Typing_Extensions") == "typing-extensions"
    assert {"pydantic", "pyspark", "rich"} <= locked()
    assert "mypy" not in locked()
