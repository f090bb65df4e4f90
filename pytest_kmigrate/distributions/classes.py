"""One digest over the classes of jars: manifests, the order of files and their compression change nothing of it."""

import hashlib
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pytest_kmigrate.model.errors import DistributionError

_CLASS = ".class"


@cache
def digest_of_classes(jars: Sequence[Path]) -> str:
    """The SHA-256 of the names, lengths and checksums of all classes; DistributionError for what is no jar.

    ``jars`` is hashable, such as a tuple. Only the tables of contents are read, not the classes.
    """
    found = {entry for jar in jars for entry in _classes_in(jar)}
    return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()


def _classes_in(jar: Path) -> list[str]:
    try:
        with zipfile.ZipFile(jar) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError) as error:
        raise DistributionError(f"{jar}: expected a jar, got a damaged file; unpack the distribution again") from error
    return [f"{each.filename} {each.file_size} {each.CRC:08x}" for each in entries if each.filename.endswith(_CLASS)]
