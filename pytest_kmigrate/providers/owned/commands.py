"""A command, on this machine's software or in an image, and how one is run to its end where nodes run."""

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_kmigrate.distributions.distribution import Image
from pytest_kmigrate.distributions.java import bound_to_us, java_environment
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.topology.braces import filled

JARS = "jars"
OPTIONS = "options"
"""What stands in braces in the variables of an adapter."""


@dataclass(frozen=True)
class Command:
    """A program with its arguments; ``environment`` is what it gets besides, ``image`` the id of one it runs in."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    image: str | None = None


class Tool(NamedTuple):
    """One of Kafka's own tools: the name of its script, and the class that this calls."""

    name: str
    main_class: str


Run = Callable[[Command, float], subprocess.CompletedProcess[str]]
"""Runs a command to its end where nodes run, within so many seconds; both of its streams are in ``stdout``."""


def run_here(command: Command, within_s: float) -> subprocess.CompletedProcess[str]:
    """Run it as a process of this machine; subprocess.TimeoutExpired."""
    return subprocess.run(
        bound_to_us(command.argv),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=within_s,
        check=False,
        env=java_environment(),
    )


def in_image(
    image: Image,
    words: Sequence[str],
    places: Mapping[str, str],
    options: Sequence[str],
    jars: Sequence[str] = (),
    arguments: Sequence[str] = (),
) -> Command:
    """A command of an adapter; ``places``: what stands in braces in its words.

    ``options`` of the JVM and more ``jars`` go by the environment. A variable that would be empty is left to the image.
    """
    if spaced := [each for each in options if each.split() != [each]]:
        raise WrongUseError(f"expected JVM options without spaces for a node of an image, got {spaced[0]!r}")
    if jars and not any(f"{{{JARS}}}" in text for _, text in image.environment):
        raise WrongUseError(
            f'expected an adapter with a place for more jars, such as CLASSPATH = "{{{JARS}}}" in [environment], as '
            f"the topology has {jars[0]}; add it, or put the jar into the image"
        )
    joined = {OPTIONS: " ".join(options), JARS: os.pathsep.join(jars)}
    environment = {name: filled(text, joined) for name, text in image.environment}
    argv = [filled(word, places) for word in words]
    return Command((*argv, *arguments), {name: text for name, text in environment.items() if text}, image.id)
