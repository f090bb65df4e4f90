"""How the tests are collected."""

import gc
from collections.abc import Generator

import pytest

from tests.checks_seen import ChecksSeen, is_whole


def pytest_configure(config: pytest.Config) -> None:
    """Where all unit tests of checks are run they show each check each of its outcomes."""
    if is_whole(config):
        config.pluginmanager.register(ChecksSeen(), "checks-seen")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays: the garbage collector looks at none of it, while it is made or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
