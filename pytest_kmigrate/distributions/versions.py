"""Which release a distribution is, as its jars say."""

import re
import zipfile
from collections.abc import Iterable
from pathlib import Path

from packaging.version import Version

from pytest_kmigrate.distributions.distribution import LIBS, laid_down, unpacked_at
from pytest_kmigrate.distributions.releases import known_releases
from pytest_kmigrate.model.errors import DistributionError

_VERSIONED_JAR = re.compile(r"kafka-(?:clients|server-common)-(\d.*)\.jar")
_VERSION_FILE = "kafka/kafka-version.properties"
_LEVELS = "org/apache/kafka/server/common/MetadataVersion.class"
_LEVEL = re.compile(rb"IBP_(\d+)_(\d+)_IV\d+")
_OWN_LEVELS_ONLY = (3, 6)
"""The last line whose code knows no level of the next one."""


def numbers_of(version: str) -> Version:
    """The numbers that a version begins with, such as 4.1.0 of ``4.1.0-SNAPSHOT``; 0 if it begins with none.

    A build is compared as its release, so nothing is left of the name of one.
    """
    return Version(re.split(r"[^0-9.]", version)[0].rstrip(".") or "0")


def version_of(kafka: str) -> str:
    """The version that a distribution is of, given as a version, by its path or image, in which no jar is verified.

    DistributionError when a folder has jars of no Kafka, or of several. A path that leads nowhere is returned as it is.
    """
    if version := laid_down(kafka):
        return version
    folder = unpacked_at(kafka)
    return kafka if folder is None else version_in(folder / LIBS)


def version_in(libs: Path) -> str:
    """The version of the Kafka whose jars are in this folder; DistributionError when there is none, or several."""
    jars = sorted(libs.glob("*.jar"))
    versions = {match.group(1) for jar in jars if (match := _VERSIONED_JAR.fullmatch(jar.name))}
    if not versions:
        versions = {version for jar in jars if jar.name.startswith("kafka-clients") for version in _version_inside(jar)}
    if len(versions) != 1:
        got = f"several: {', '.join(sorted(versions))}" if versions else "none"
        raise DistributionError(
            f"{libs}: expected the jars kafka-clients and kafka-server-common of one Kafka version, got {got}; "
            "give the folder of an unpacked Kafka, or a version such as 3.9.1"
        )
    return versions.pop()


def _version_inside(jar: Path) -> list[str]:
    try:
        with zipfile.ZipFile(jar) as archive:
            lines = archive.read(_VERSION_FILE).decode(errors="replace").splitlines()
    except (KeyError, OSError, zipfile.BadZipFile):
        return []
    return [line.partition("=")[2].strip() for line in lines if line.startswith("version=")]


def release_in(libs: Path) -> str:
    """The release that the jars in a folder are of; of a vendor's own number the first release of the same line.

    DistributionError when there is no Kafka, or jars are named like a release that their code is not of.
    """
    named, line = version_in(libs), line_in(libs.glob("kafka*.jar"))
    if line is None or tuple(named.split(".")[:2]) == tuple(map(str, line)):
        return named
    of_code = ".".join(map(str, line))
    if named in known_releases():
        raise DistributionError(
            f"{libs}: expected the code of Kafka {named}, as its jars are named; got code of Kafka {of_code}: "
            "build it from that release, or name the jars by their own"
        )
    return f"{of_code}.0"


def line_in(jars: Iterable[Path]) -> tuple[int, int] | None:
    """The line by the levels of metadata that the code knows; None where it has none (before 3.3)."""
    levels = sorted({level for jar in jars for level in _levels_in(jar)})
    if not levels:
        return None
    is_own = levels[-1] <= _OWN_LEVELS_ONLY or len(levels) == 1
    return levels[-1] if is_own else levels[-2]


def _levels_in(jar: Path) -> list[tuple[int, int]]:
    try:
        with zipfile.ZipFile(jar) as archive:
            code = archive.read(_LEVELS)
    except (KeyError, OSError, zipfile.BadZipFile):
        return []
    return [(int(major), int(minor)) for major, minor in _LEVEL.findall(code)]
