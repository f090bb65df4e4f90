"""Providers by name. The fake one has none here: what a run on it shows says nothing about Kafka.

What a provider needs is imported when it is chosen: pytest asks for the names at every start.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kmigrate.model.errors import WrongUseError

if TYPE_CHECKING:
    from pytest_kmigrate.model.provider import Provider
    from pytest_kmigrate.model.topology import Topology

Notify = Callable[[str], None]


@dataclass(frozen=True)
class _Choice:
    """One provider: how it is made, given the file that the command line names, and what its files describe."""

    made: "Callable[[Notify, str | None], Provider]"
    described: "Callable[[str, str | None], Topology]"
    needs_file: bool = False
    """Whether every test is about the one cluster of that file."""


def _process(notify: Notify, _: str | None) -> "Provider":
    from pytest_kmigrate.providers.process.provider import ProcessProvider  # noqa: PLC0415 - as said above

    return ProcessProvider(notify)


def _docker(notify: Notify, _: str | None) -> "Provider":
    from pytest_kmigrate.providers.docker.provider import DockerProvider  # noqa: PLC0415 - as said above

    return DockerProvider(notify)


def _attach(_: Notify, file: str | None) -> "Provider":
    from pytest_kmigrate.providers.attach.loading import site_at  # noqa: PLC0415 - as said above
    from pytest_kmigrate.providers.attach.provider import AttachProvider  # noqa: PLC0415 - as said above

    assert file is not None, "its choice needs a file"
    return AttachProvider(site_at(Path(file)))


def _wished(name_or_path: str, kafka: str | None) -> "Topology":
    from pytest_kmigrate.topology.loading import find, load  # noqa: PLC0415 - it brings pydantic

    return load(find(name_or_path), kafka=kafka)


def _standing(path: str, kafka: str | None) -> "Topology":
    from pytest_kmigrate.providers.attach.loading import site_at  # noqa: PLC0415 - as said above

    if kafka is not None:
        raise WrongUseError(f"--kmigrate-kafka: expected none, as the cluster of {path} runs what it runs; got {kafka}")
    return site_at(Path(path)).topology


_CHOICES = {
    "process": _Choice(_process, _wished),
    "docker": _Choice(_docker, _wished),
    "attach": _Choice(_attach, _standing, needs_file=True),
}
PROVIDERS = tuple(_CHOICES)
OF_ONE_FILE = frozenset(name for name, choice in _CHOICES.items() if choice.needs_file)
"""Providers of one cluster, which the command line names by a file."""


def provider_named(name: str, notify: Notify, file: str | None = None) -> "Provider":
    """The provider of this name; ``notify`` gets a line about everything that takes its time, downloads say.

    ``file``: the topology that the command line names, if it names any; some providers need it.
    """
    return _chosen(name).made(notify, file)


def topology_named(provider: str, name_or_path: str, kafka: str | None) -> "Topology":
    """What a file describes to this provider, with the distribution under test, if one is given."""
    return _chosen(provider).described(name_or_path, kafka)


def _chosen(name: str) -> _Choice:
    if name not in _CHOICES:
        raise WrongUseError(f"provider: expected one of {', '.join(_CHOICES)}; got {name!r}")
    return _CHOICES[name]
