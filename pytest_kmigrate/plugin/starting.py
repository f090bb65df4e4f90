"""Keeps pytest from taking the value of one of our options for the path of a test.

pytest chooses its root folder and ini file before it loads plugins. At that time it does not know our options. A value
after a space that is an existing path (``--kmigrate-kafka /opt/kafka``) then counts as a test: pytest reads another ini
file, with other options, and gives tests other ids. A value after ``=`` never counts as one.
"""

import os
import shlex
from collections.abc import Sequence
from itertools import pairwise

import pytest

from pytest_kmigrate.plugin.options import WITH_VALUES

_ADDED = "PYTEST_ADDOPTS"
_STATUS = pytest.StashKey[int]()


def start_again_if_misread(config: pytest.Config, arguments: list[str]) -> None:
    """Run pytest with ``--option=value`` if a value of ours was taken for a test; nothing is left for this start to do.

    ``arguments`` is the list that pytest goes on with.
    """
    words, added = config.invocation_params.args, shlex.split(os.environ.get(_ADDED, ""))
    if _are_misread(words) or _are_misread(added):
        os.environ[_ADDED] = shlex.join(joined(added))
        config.stash[_STATUS] = int(pytest.main(joined(words), config.invocation_params.plugins))
        arguments.clear()
        config.known_args_namespace.noconftest = True


def status_of_second_start(config: pytest.Config) -> int | None:
    """How the second start ended; None if there was none."""
    return config.stash.get(_STATUS, None)


def joined(words: Sequence[str]) -> list[str]:
    """The same command line with ``--option=value`` for each of our options whose value is a word of its own."""
    found, rest = list[str](), list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*found, word, *rest]
        found.append(f"{word}={rest.pop(0)}" if word in WITH_VALUES and rest else word)
    return found


def _are_misread(words: Sequence[str]) -> bool:
    """Whether any value that follows its option after a space is there as a file or folder."""
    values = [value for word, value in pairwise(words) if word in WITH_VALUES]
    return any(os.path.exists(value) for value in values)  # noqa: PTH110 - unlike Path's, it never raises
