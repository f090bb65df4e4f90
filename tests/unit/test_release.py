"""What a release publishes: its version is that of the changelog, and its bill lists what users get."""

from typing import Any

import pytest

from tests import release
from tests.release import bill_of_materials, locked, normal, version


def test_the_version_is_that_of_the_changelog(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that the changelog does not begin with is refused, with what to do."""
    found = version()
    for name in ("pyproject.toml", "CHANGELOG.md"):
        (tmp_path / name).write_text((release.ROOT / name).read_text())
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 9.9.9 (2030-01-01)\n")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    with pytest.raises(ValueError, match=rf"version of pyproject.toml, {found}; got 9.9.9: docs/RELEASING.md"):
        version()


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
