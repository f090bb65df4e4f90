"""The options a run was asked for with, as its header records them."""

import shlex
from collections.abc import Sequence
from itertools import takewhile

from pytest_kmigrate.model.history import RunHeader

PREFIX = "--kmigrate-"
"""Every option of pytest that is ours begins with it."""


def kafka_asked_for(header: RunHeader) -> str:
    """The distribution as it was named: a release, or a path, of which ``header.kafka`` is what its jars say.

    If the command that does it again does not have it, it is what the jars say.
    """
    return options_asked_for(header).get("kafka", header.kafka)


def test_asked_for(header: RunHeader) -> list[str]:
    """How pytest was asked for the test, in the command that does it again; its id where an older one lacks it."""
    words = _words(header)[1:]
    return list(takewhile(lambda word: not word.startswith(PREFIX), words)) or [header.test_id]


def options_asked_for(header: RunHeader) -> dict[str, str]:
    """Our options in the command that does it again; none, where an older one has a lone quote."""
    return _options(_words(header))


def options_in(command: object) -> dict[str, str]:
    """Our options in a list of words, such as pytest was called with; none of anything else."""
    return _options([str(each) for each in command]) if isinstance(command, list | tuple) else {}


def _words(header: RunHeader) -> list[str]:
    try:
        return shlex.split(header.circumstances.reproduce)
    except ValueError:
        return []


def _options(words: Sequence[str]) -> dict[str, str]:
    """Our options of a command line, in either way of writing them."""
    found = {}
    for word, following in zip(words, [*words, ""][1:], strict=True):
        name, equals, value = word.partition("=")
        if name.startswith(PREFIX):
            found[name.removeprefix(PREFIX)] = value if equals else following
    return found
