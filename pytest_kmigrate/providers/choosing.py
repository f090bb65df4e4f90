"""Providers by name. The fake one has none here: what a run on it shows says nothing about Kafka."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_kmigrate.model.errors import WrongUseError

if TYPE_CHECKING:
    from pytest_kmigrate.model.provider import Provider

PROVIDERS = ("process", "docker")


def provider_named(name: str, notify: Callable[[str], None]) -> "Provider":
    """The provider of this name; ``notify`` gets a line about everything that takes its time, downloads say."""
    if name not in PROVIDERS:
        raise WrongUseError(f"provider: expected one of {', '.join(PROVIDERS)}; got {name!r}")
    # pytest's start asks names; only who starts a cluster pays for what it is made by
    if name == "docker":
        from pytest_kmigrate.providers.docker.provider import DockerProvider  # noqa: PLC0415

        return DockerProvider(notify)
    from pytest_kmigrate.providers.process.provider import ProcessProvider  # noqa: PLC0415

    return ProcessProvider(notify)
