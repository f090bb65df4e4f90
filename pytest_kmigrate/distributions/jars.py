"""Sets of locked jars in the cache: copied from what lies there already, else downloaded, and verified."""

import shutil
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from pytest_kmigrate.distributions.cache import Progress, cache_dir, entry
from pytest_kmigrate.distributions.distribution import LIBS
from pytest_kmigrate.distributions.ivy import Artifact, download
from pytest_kmigrate.distributions.manifest import MANIFEST_FILE, Jar, Manifest, parsed, sha256_of, verify, verify_once
from pytest_kmigrate.model.errors import DistributionError


def cached_jars(lock: Manifest, progress: Progress, nearby: Path | None = None) -> Path:
    """The folder holding exactly the jars of ``lock``, every one checked by SHA-256.

    Jars that lie in ``nearby`` or belong to another cached release are copied, only the others are downloaded.
    """
    folder = entry(f"{lock.name}/{lock.version}", lambda empty: _fill(empty, lock, progress, nearby), progress)
    cure = f"Remove it and repeat the command, which downloads it again: rm -r {folder}"
    if not (folder / MANIFEST_FILE).is_file():
        raise DistributionError(f"{folder}: expected a {MANIFEST_FILE}, got none, so it is damaged. {cure}")
    manifest = parsed((folder / MANIFEST_FILE).read_bytes(), str(folder / MANIFEST_FILE))
    if manifest != lock:
        raise DistributionError(
            f"{folder}: expected the jars this version of pytest-kmigrate has locked, got another list. {cure}"
        )
    verify_once(lock, folder / LIBS, cure)
    return folder / LIBS


def _fill(folder: Path, lock: Manifest, progress: Progress, nearby: Path | None) -> None:
    libs = folder / LIBS
    libs.mkdir()
    missing = [jar for jar in lock.jars if not _copied(jar, libs, nearby)]
    if missing:
        megabytes = sum(jar.size for jar in missing) / 1e6
        progress(f"{lock.name} {lock.version}: downloading {len(missing)} jars, {megabytes:.0f} MB")
        _download(missing, libs, f"{lock.name} {lock.version}", progress)
    verify(lock, libs, "What was downloaded is not what was locked: check the mirror or the network, then try again")
    (folder / MANIFEST_FILE).write_text(lock.text())
    progress(f"{lock.name} {lock.version}: complete, {len(lock.jars)} jars verified")


def _download(jars: Sequence[Jar], libs: Path, what: str, progress: Progress) -> None:
    arrived, guard = 0, threading.Lock()

    def count() -> None:
        nonlocal arrived
        with guard:
            arrived += 1
            if arrived % 10 == 0 and arrived < len(jars):
                progress(f"{what}: {arrived} of {len(jars)} jars")

    # Largest first and dealt out in turn, so that the processes finish at about the same time.
    largest_first = sorted(jars, key=lambda jar: -jar.size)
    with tempfile.TemporaryDirectory(prefix="ivy-", dir=libs.parent) as work:
        download([Artifact.parsed(jar.source) for jar in largest_first], libs, Path(work), count)


def _copied(jar: Jar, libs: Path, nearby: Path | None) -> bool:
    """Copy the jar from where it already lies, if anywhere: neighbouring releases share nine tenths of their bytes."""
    places = [nearby / jar.name] if nearby is not None else []
    places += cache_dir().glob(f"*/[!.]*/{LIBS}/{jar.name}")
    for place in places:
        if place.is_file() and place.stat().st_size == jar.size and sha256_of(place) == jar.sha256:
            shutil.copyfile(place, libs / jar.name)
            return True
    return False
