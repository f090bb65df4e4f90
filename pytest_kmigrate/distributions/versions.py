"""Which release a distribution is, as its jars say."""

import re
import zipfile
from pathlib import Path

from pytest_kmigrate.distributions.distribution import LIBS, unpacked_at
from pytest_kmigrate.model.errors import DistributionError

_VERSIONED_JAR = re.compile(r"kafka-(?:clients|server-common)-(\d.*)\.jar")
_VERSION_FILE = "kafka/kafka-version.properties"


def version_of(kafka: str) -> str:
    """The version that a distribution is of, given as a version or by its path, in which no jar is verified.

    DistributionError when a folder has jars of no Kafka, or of several. A path that leads nowhere is returned as it is.
    """
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
