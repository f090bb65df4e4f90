"""Where the documentation of this version lies: in the wheel, or beside the package in a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def folder_of_docs() -> Path:
    """The folder with README.md, from which every page can be reached."""
    within = _PACKAGE / "docs"
    return within if within.is_dir() else _PACKAGE.parent / "docs"
