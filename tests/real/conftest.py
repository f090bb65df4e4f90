"""Every test of this folder starts real processes, and says so by its marker."""

from pathlib import Path

import pytest

_HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them before ``-m`` selects: a file that forgot its marker would be left out of ``make test`` unseen."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker("real")
