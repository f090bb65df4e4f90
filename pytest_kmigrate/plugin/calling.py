"""Whether a test's own code runs now: a fixture that it asks for then comes too late for what is done before."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_IN_CALL = pytest.StashKey[bool]()
_CURRENT = pytest.StashKey[pytest.Item]()


@contextmanager
def in_call(item: pytest.Item) -> Iterator[None]:
    """The test's own code runs while the block does."""
    item.stash[_IN_CALL] = True
    item.config.stash[_CURRENT] = item
    try:
        yield
    finally:
        item.stash[_IN_CALL] = False
        del item.config.stash[_CURRENT]


def test_in_call(config: pytest.Config) -> pytest.Item | None:
    """The test whose own code runs, if one's does."""
    return config.stash.get(_CURRENT, None)


def is_in_call(item: pytest.Item) -> bool:
    """Whether the test's own code runs."""
    return item.stash.get(_IN_CALL, False)
