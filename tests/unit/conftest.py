"""Fixtures of the unit tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.fakes import Stage, staged


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """ZooKeeper, three brokers and three controllers, all of them fakes and up."""
    with staged(tmp_path) as made:
        yield made
