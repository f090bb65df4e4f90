"""The Kafka releases that can be downloaded: one lock each, in ``locks/``."""

import functools
import re
import tomllib
from importlib import resources

from pytest_kmigrate.distributions.manifest import Manifest, parsed
from pytest_kmigrate.model.errors import WrongUseError

SHAPE = re.compile(r"\d+(\.\d+){0,3}")


@functools.cache
def known_releases() -> tuple[str, ...]:
    """All versions there is a lock for, oldest first."""
    files = (file.name for file in resources.files(__package__).joinpath("locks").iterdir())
    return tuple(sorted((name.removesuffix(".json") for name in files if name.endswith(".json")), key=_numbers))


@functools.cache
def locked_release(version: str) -> Manifest:
    """The lock of one release; for any other version an error that says which exist near it."""
    if version not in known_releases():
        first, last = known_releases()[0], known_releases()[-1]
        nearest = nearest_releases(version) if SHAPE.fullmatch(version) else [last]
        raise WrongUseError(
            f"Kafka {version}: expected a release from {first} to {last}, got one that is not among them; "
            f"nearest: {', '.join(nearest)}. Another build can be used by the path of its folder"
        )
    file = resources.files(__package__).joinpath("locks", f"{version}.json")
    return parsed(file.read_text(), str(file))


@functools.cache
def commit_of(version: str) -> str | None:
    """The commit that nodes of a release log as theirs; None: it is not known."""
    file = resources.files(__package__).joinpath("commits.toml")
    commit = tomllib.loads(file.read_text(encoding="utf-8")).get(version)
    return str(commit) if commit else None


def nearest_releases(version: str) -> list[str]:
    """Up to three releases: those of the same minor version, else the nearest below and above."""
    wanted = _numbers(version)
    same_minor = [release for release in known_releases() if _numbers(release)[:2] == wanted[:2]]
    if same_minor:
        return same_minor[-3:]
    below = [release for release in known_releases() if _numbers(release) < wanted]
    above = [release for release in known_releases() if _numbers(release) > wanted]
    return below[-1:] + above[:1]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
