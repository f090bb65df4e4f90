"""Kafka distributions: from what stands behind ``--kmigrate-kafka`` to verified jars on this machine."""

import dataclasses
import re
import zipfile
from pathlib import Path

from pytest_kmigrate.distributions.agents import AGENTS_FOLDER, jolokia_jar, take_agents
from pytest_kmigrate.distributions.cache import Progress
from pytest_kmigrate.distributions.cds import archive_for
from pytest_kmigrate.distributions.class_path import must_be_whole
from pytest_kmigrate.distributions.distribution import LIBS, Distribution, unpacked_at
from pytest_kmigrate.distributions.jars import cached_jars
from pytest_kmigrate.distributions.manifest import MANIFEST_FILE, digest_of, parsed, sha256_of_all, verify_once
from pytest_kmigrate.distributions.releases import SHAPE, known_releases, locked_release
from pytest_kmigrate.distributions.toxiproxy import SERVER, take_server
from pytest_kmigrate.distributions.versions import version_in
from pytest_kmigrate.model.errors import DistributionError, WrongUseError

__all__ = ["Distribution", "resolve"]


_SHOWN_OF_DIGEST = 8
_AGAIN = (
    "Fetch it again: kmigrate fetch {version} --to ANOTHER_FOLDER; if the change is yours, remove {file}: "
    "the folder is then a build of its own"
)


def resolve(kafka: str, *, progress: Progress, archive: bool = True) -> Distribution:
    """The distribution named by a version ("3.9.1") or by the path of an unpacked one (a folder with ``libs/``).

    A version is downloaded where the cache does not hold it; all jars are verified. ``archive=False`` leaves out the
    class-data archive, whose first making takes some seconds.
    """
    found = _release(kafka, progress) if SHAPE.fullmatch(kafka) else _unpacked(kafka, progress)
    return _quick_to_start(found, progress) if archive else found


def _quick_to_start(found: Distribution, progress: Progress) -> Distribution:
    with_agent = dataclasses.replace(found, appended=(jolokia_jar(progress),))
    return dataclasses.replace(with_agent, cds_archive=archive_for(with_agent, progress))


def _release(version: str, progress: Progress) -> Distribution:
    lock = locked_release(version)
    libs = cached_jars(lock, progress)
    return Distribution(version, tuple(libs / jar.name for jar in lock.jars), lock.digest())


def _unpacked(kafka: str, progress: Progress) -> Distribution:
    folder = unpacked_at(kafka)
    if folder is None:
        raise WrongUseError(
            f"{kafka}: expected a version such as 3.9.1 or the path of an unpacked Kafka with a folder {LIBS} in it"
        )
    libs = folder / LIBS
    take_agents(folder, progress)
    take_server(folder / AGENTS_FOLDER / SERVER, progress)
    jars = tuple(sorted(libs.glob("*.jar")))
    if (folder / MANIFEST_FILE).is_file():
        manifest = parsed((folder / MANIFEST_FILE).read_bytes(), str(folder / MANIFEST_FILE))
        verify_once(manifest, libs, _AGAIN.format(version=manifest.version, file=folder / MANIFEST_FILE))
        must_be_whole(jars)
        return _named(folder, manifest.version, jars, manifest.digest())
    _must_be_jars(jars)
    must_be_whole(jars)
    sums = zip((jar.name for jar in jars), sha256_of_all(jars), strict=True)
    return _named(folder, version_in(libs), jars, digest_of(sums))


def _named(folder: Path, version: str, jars: tuple[Path, ...], digest: str) -> Distribution:
    """A distribution by path; one that has the very jars of the release is that release."""
    is_release = version in known_releases() and locked_release(version).digest() == digest
    name = re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-")
    return Distribution(version, jars, digest, "" if is_release else f"{name}.{digest[:_SHOWN_OF_DIGEST]}".lstrip("."))


def _must_be_jars(jars: tuple[Path, ...]) -> None:
    """A damaged one would only be met by a node that needs it, which then dies of a class that is not there."""
    damaged = [str(jar) for jar in jars if not (jar.is_file() and zipfile.is_zipfile(jar))]
    if damaged:
        reported = f"expected a jar, got a damaged file{'' if len(damaged) == 1 else ' each'}"
        raise DistributionError(f"{', '.join(damaged)}: {reported}; unpack the distribution again")
