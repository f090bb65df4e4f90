"""How the tests are collected."""

import atexit
import gc
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collecting makes no garbage, and what it makes stays: the garbage collector looks at it neither then nor later.

    At the exit it does: some modules report what they think was never freed.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        atexit.register(gc.unfreeze)
