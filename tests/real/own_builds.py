"""A build of one's own, made of a release here: the same code with another manifest in one jar."""

import os
import zipfile
from pathlib import Path

from pytest_kmigrate.distributions.cache import entry
from pytest_kmigrate.distributions.distribution import LIBS
from pytest_kmigrate.distributions.kafka import resolve

_MANIFEST = "META-INF/MANIFEST.MF"
_MADE_BY = b"Manifest-Version: 1.0\r\nBuilt-By: acme\r\n\r\n"


def build_of(release: str) -> Path:
    """A folder with the jars of a release, in which only kafka-clients differs.

    It stays in the cache, as the class-data archive that is made for it does.
    """

    def made(folder: Path) -> None:
        (folder / LIBS).mkdir()
        for jar in resolve(release, progress=print, archive=False).jars:
            copy = folder / LIBS / jar.name
            if jar.name.startswith("kafka-clients"):
                _with_another_manifest(jar, copy)
            else:
                os.link(jar, copy)

    return entry(f"builds-of-tests/acme-{release}", made, print)


def _with_another_manifest(jar: Path, copy: Path) -> None:
    with zipfile.ZipFile(jar) as of_release, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as ours:
        for each in of_release.infolist():
            ours.writestr(each, _MADE_BY if each.filename == _MANIFEST else of_release.read(each))
