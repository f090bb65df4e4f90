"""Providers by name. The fake one has none here: what a run on it shows says nothing about Kafka.

What a provider needs is imported when it is chosen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kmigrate.distributions.distribution import is_image
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.extras import extras_named
from pytest_kmigrate.model.provider_names import ATTACH, DOCKER, PROCESS, PROVIDERS

if TYPE_CHECKING:
    from pytest_kmigrate.model.provider import Provider
    from pytest_kmigrate.model.topology import Topology

Notify = Callable[[str], None]


@dataclass(frozen=True)
class _Kafka:
    """The distribution under test, if one is given, and the option that gives it."""

    name: str | None
    option: str


@dataclass(frozen=True)
class _Choice:
    """One provider: how it is made, given file and Kafka of the command line, and what files describe to it."""

    made: "Callable[[Notify, str | None, str | None], Provider]"
    described: "Callable[[Provider, Notify, str, _Kafka], Topology]"
    needs_file: bool = False
    """Whether every test is about the one cluster of that file."""


def _process(notify: Notify, _file: str | None, _kafka: str | None) -> "Provider":
    from pytest_kmigrate.providers.process.provider import ProcessProvider  # noqa: PLC0415 - as said above

    return ProcessProvider(notify)


def _docker(notify: Notify, _file: str | None, kafka: str | None) -> "Provider":
    with extras_named():
        from pytest_kmigrate.providers.docker.provider import DockerProvider  # noqa: PLC0415 - as said above

    return DockerProvider(notify, kafka)


def _attach(notify: Notify, file: str | None, _kafka: str | None) -> "Provider":
    from pytest_kmigrate.providers.attach.file.loading import site_at  # noqa: PLC0415 - as said above
    from pytest_kmigrate.providers.attach.provider import AttachProvider  # noqa: PLC0415 - as said above

    assert file is not None, "its choice needs a file"
    return AttachProvider(site_at(Path(file)), notify)


def _wished(_provider: "Provider", _notify: Notify, name_or_path: str, kafka: _Kafka) -> "Topology":
    from pytest_kmigrate.topology.loading import find, load  # noqa: PLC0415 - it brings pydantic

    return load(find(name_or_path), kafka=kafka.name, option=kafka.option)


def _wished_in_containers(provider: "Provider", notify: Notify, name_or_path: str, kafka: _Kafka) -> "Topology":
    """Its release is known before the file is read, which has rules about it."""
    from pytest_kmigrate.providers.docker.images import brought, check_fits  # noqa: PLC0415 - as said above

    if kafka.name is None or not is_image(kafka.name):
        return _wished(provider, notify, name_or_path, kafka)
    image = brought(kafka.name, notify).image
    topology = _wished(provider, notify, name_or_path, kafka)
    assert image is not None, "it is brought as an image"
    check_fits(topology, image, kafka.option)
    return topology


def _standing(provider: "Provider", _: Notify, path: str, kafka: _Kafka) -> "Topology":
    """That of the provider's own file, whose secrets are fetched once."""
    from pytest_kmigrate.providers.attach.provider import AttachProvider  # noqa: PLC0415 - as said above

    assert isinstance(provider, AttachProvider), "the choice is of this provider"
    if kafka.name is not None:
        raise WrongUseError(
            f"{kafka.option}: expected none, as the cluster of {path} runs what it runs; got {kafka.name}"
        )
    return provider.site.topology


_CHOICES = {
    PROCESS: _Choice(_process, _wished),
    DOCKER: _Choice(_docker, _wished_in_containers),
    ATTACH: _Choice(_attach, _standing, needs_file=True),
}
OF_ONE_FILE = frozenset(name for name, choice in _CHOICES.items() if choice.needs_file)
"""Providers of one cluster, which the command line names by a file."""
STARTING = tuple(name for name in PROVIDERS if name not in OF_ONE_FILE)
"""Providers that start clusters."""


def provider_named(name: str, notify: Notify, file: str | None = None, kafka: str | None = None) -> "Provider":
    """The provider of this name; ``notify`` gets a line about everything that takes its time, downloads say.

    ``file`` and ``kafka``: the topology and the distribution that the command line names, if it names any.
    """
    return _chosen(name).made(notify, file, kafka)


def topology_named(
    provider: "Provider", notify: Notify, name_or_path: str, kafka: str | None, option: str = "--kmigrate-kafka"
) -> "Topology":
    """What a file describes to this provider, with the distribution under test, if ``option`` gives one."""
    return _chosen(provider.name).described(provider, notify, name_or_path, _Kafka(kafka, option))


def _chosen(name: str) -> _Choice:
    if name not in _CHOICES:
        raise WrongUseError(f"provider: expected one of {', '.join(_CHOICES)}; got {name!r}")
    return _CHOICES[name]
