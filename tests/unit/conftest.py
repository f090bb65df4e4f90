"""Fixtures of the unit tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from pytest_kmigrate.redaction.known import forget_all
from tests.unit.fakes import Stage, staged

# How long an example takes says how busy the machine is, and nothing about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """ZooKeeper, three brokers and three controllers, all of them fakes and up."""
    with staged(tmp_path) as made:
        yield made


@pytest.fixture
def nothing_known() -> Iterator[None]:
    """No value is known to be secret, as other tests of this process know other values."""
    forget_all()
    yield
    forget_all()
