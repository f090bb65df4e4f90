"""Which test it is, and how pytest is asked for it again."""

import os

import pytest

from pytest_kmigrate.recording.identity import module_in_suites


def identity_of(item: pytest.Item) -> str:
    """Module and name of a test: the same wherever pytest was started, whatever its root folder."""
    return f"{module_in_suites(item.path) or _module(item)}::{_name(item)}"


def words_for(item: pytest.Item) -> tuple[str, ...]:
    """What to call pytest with: a suite of the package from anywhere, another test from where pytest was started."""
    if module_in_suites(item.path):
        return ("--pyargs", identity_of(item))
    return (f"{os.path.relpath(item.path, item.config.invocation_params.dir)}::{_name(item)}",)


def _module(item: pytest.Item) -> str:
    assert isinstance(item, pytest.Function)
    return str(item.module.__name__)


def _name(item: pytest.Item) -> str:
    """With its classes and parameters."""
    return item.nodeid.partition("::")[2]
