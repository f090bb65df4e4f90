"""Whether a test's own code runs now: a fixture that it asks for then comes too late for what is done before."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_IN_CALL = pytest.StashKey[bool]()


@contextmanager
def in_call(item: pytest.Item) -> Iterator[None]:
    """The test's own code runs while the block does."""
    item.stash[_IN_CALL] = True
    try:
        yield
    finally:
        item.stash[_IN_CALL] = False


def is_in_call(item: pytest.Item) -> bool:
    """Whether the test's own code runs."""
    return item.stash.get(_IN_CALL, False)
