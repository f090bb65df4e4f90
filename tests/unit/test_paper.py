"""Papers for contributors: what they name is there."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TEMPLATES = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
GUIDES = [ROOT / "docs" / name for name in ("CONTRIBUTING.md", "RELEASING.md", "adding-a-document.md")]


def _targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("path", [*WORKFLOWS, *GUIDES], ids=lambda path: path.name)
def test_each_target_that_is_named_exists(path: Path) -> None:
    """A workflow or guide calls targets of the Makefile only."""
    named = set(re.findall(r"(?:run: |`|^\$ )make ([a-z-]+)", path.read_text(), re.MULTILINE))
    assert named
    assert named <= _targets()


@pytest.mark.parametrize("path", [*WORKFLOWS, *TEMPLATES], ids=lambda path: path.name)
def test_files_of_the_forge_are_yaml(path: Path) -> None:
    """A forge can read them."""
    assert "name" in yaml.safe_load(path.read_text())


def test_the_index_of_decisions_is_complete() -> None:
    """Each record is listed once under its title, and no number is used twice."""
    folder = ROOT / "docs/decisions"
    listed = re.findall(r"^- \[(.+)\]\((.+)\)$", (folder / "README.md").read_text(), re.MULTILINE)
    there = [
        (path.read_text().partition("\n")[0].removeprefix("# "), path.name) for path in sorted(folder.glob("[0-9]*.md"))
    ]
    assert listed == there
    assert len({name[:3] for _, name in there}) == len(there)


def test_fragments_of_the_changelog_have_a_known_kind() -> None:
    """The tool that collects them leaves out a file whose kind it does not know."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
    kinds = [each["directory"] for each in settings["type"]]
    fragments = [path for path in (ROOT / settings["directory"]).iterdir() if path.name not in settings["ignore"]]
    assert [path.name for path in fragments if path.suffixes[-2:-1] not in [[f".{kind}"] for kind in kinds]] == []


def test_the_changelog_has_the_place_of_the_next_release() -> None:
    """Below its introduction: the tool writes at the top of a file without this mark."""
    before, _, after = (ROOT / "CHANGELOG.md").read_text().partition("<!-- towncrier release notes start -->\n")
    assert before.startswith("# Changelog\n")
    assert "\n## " not in before
    assert after.startswith("\n## ")


def test_the_glossary_is_sorted() -> None:
    """A reader finds a word by its first letter, and each word stands once."""
    words = re.findall(r"^\| ([a-z][^|]*) \|", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)[1:]
    assert words == sorted(set(words))
