"""What the tests of checkpoints share."""

from pathlib import Path

import pytest

from tests.unit.running.checkpoints.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """An empty one."""
    return Bench(tmp_path / "checkpoints")
