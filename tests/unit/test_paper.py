"""Papers for contributors: what they name is there."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from pytest_kmigrate.plugin.options import FLAGS, OPTIONS

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TEMPLATES = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
GUIDES = [ROOT / "docs" / name for name in ("CONTRIBUTING.md", "RELEASING.md", "adding-a-document.md")]

HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def _targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("path", [*WORKFLOWS, *GUIDES], ids=lambda path: path.name)
def test_each_target_that_is_named_exists(path: Path) -> None:
    """A workflow or guide calls targets of the Makefile only."""
    named = set(re.findall(r"(?:run: |`|^\$ )make ([a-z-]+)", path.read_text(), re.MULTILINE))
    assert named
    assert named <= _targets()


@pytest.mark.parametrize("path", [*WORKFLOWS, *GUIDES], ids=lambda path: path.name)
def test_each_program_of_the_environment_that_is_named_is_installed(path: Path) -> None:
    """By ``make cure`` or ``make check``: what else is needed is run by ``uvx``."""
    named = set(re.findall(r"\.venv/bin/([\w-]+)", path.read_text()))
    assert [each for each in sorted(named) if not (Path(sys.prefix) / "bin" / each).exists()] == []


PAGES = [*ROOT.glob("*.md"), *(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "changes")]
OF_THE_GUIDE = "kip_999"
"""The document that the guide has a contributor make."""


def _named(pattern: str) -> list[tuple[str, str]]:
    """What pages name, with the page; the changelog may name what is gone."""
    pages = [path for path in PAGES if path.name != "CHANGELOG.md"]
    return [(path.name, each) for path in pages for each in re.findall(pattern, path.read_text())]


def test_modules_that_pages_name_are_there() -> None:
    """By their path from the root, from the package, or from a document's folder."""
    package = ROOT / "pytest_kmigrate"
    roots = (ROOT, package, *(package / "documents").iterdir())
    named = [each for each in _named(r"`([\w./]+/\w+\.py)`") if OF_THE_GUIDE not in each[1]]
    assert named
    assert [each for each in named if not any((root / each[1]).is_file() for root in roots)] == []


def test_options_of_pytest_that_pages_name_are_there() -> None:
    """Each begins with the name of the product."""
    known = {f"--kmigrate-{each[0]}" for each in (*OPTIONS, *FLAGS)}
    assert [each for each in _named(r"--kmigrate-[a-z-]*[a-z]") if each[1] not in known] == []


def test_headings_that_pages_link_to_are_there() -> None:
    """A link to a part of a page leads to a heading of it."""
    dead = []
    for page in PAGES:
        for target, part in re.findall(r"\]\(((?:[^)\s#:]+\.md)?)#([^)\s]+)\)", page.read_text()):
            text = ((page.parent / target) if target else page).read_text()
            headings = (re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in HEADING.findall(text))
            dead += [(page.name, target, part)] * (part not in set(headings))
    assert dead == []


def test_every_page_is_reached_from_the_first_one() -> None:
    """By links from page to page; fragments of the changelog are no pages."""
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md" and page.is_file():
            reached.add(page)
            links = re.findall(r"\]\(([^)\s#:]+)[)#]", page.read_text())
            waiting += [(page.parent / link).resolve() for link in links]
    pages = {path.resolve() for path in PAGES}
    assert sorted(pages - {each.resolve() for each in reached}) == []


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
