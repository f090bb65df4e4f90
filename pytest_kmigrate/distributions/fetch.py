"""``kmigrate fetch``: one Kafka release, the agents and Toxiproxy as a folder that works without any network."""

import os
import shutil
from pathlib import Path

from pytest_kmigrate.distributions.agents import AGENTS_FOLDER, byteman_jar, jacoco_jar, jolokia_jar
from pytest_kmigrate.distributions.cache import Progress, disk_trouble_named
from pytest_kmigrate.distributions.distribution import LIBS
from pytest_kmigrate.distributions.jars import cached_jars
from pytest_kmigrate.distributions.manifest import MANIFEST_FILE, Manifest, verify
from pytest_kmigrate.distributions.releases import locked_release
from pytest_kmigrate.distributions.toxiproxy import toxiproxy_server
from pytest_kmigrate.model.errors import EnvironmentLackError, WrongUseError


def fetch(version: str, to: Path, progress: Progress) -> Path:
    """Lay the release down in ``to`` (new or empty), whole or not at all; returns the folder.

    It is filled from inside: one that is there may be a mount point, a link, or where somebody's shell stands.
    """
    folder = Path(os.path.abspath(os.path.expanduser(to)))  # noqa: PTH100, PTH111 - unlike Path's, these never raise
    is_new = not folder.exists()
    if not is_new and (not folder.is_dir() or any(folder.iterdir())):
        got = "one with something in it" if folder.is_dir() else "a file"
        raise WrongUseError(f"--to {to}: expected a new or an empty folder, got {got}; name another")
    lock = locked_release(version)
    building = folder / f".building-{os.getpid()}"
    try:
        building.mkdir(parents=True)
    except OSError as error:
        raise WrongUseError(
            f"--to {to}: expected a folder that can be made, got: {error.strerror}; name another"
        ) from error
    try:
        agents = [jolokia_jar(progress), byteman_jar(progress), jacoco_jar(progress), *_server(progress)]
        with disk_trouble_named(folder, "--to"):
            _lay_down(building, lock, cached_jars(lock, progress), agents)
            for part in (LIBS, AGENTS_FOLDER, MANIFEST_FILE):
                (building / part).rename(folder / part)
    finally:
        shutil.rmtree(building, ignore_errors=True)
        if is_new and not (folder / MANIFEST_FILE).exists():
            shutil.rmtree(folder, ignore_errors=True)
    progress(f"kafka {version} lies in {folder}; use it with: --kmigrate-kafka {folder}")
    return folder


def _server(progress: Progress) -> list[Path]:
    """Toxiproxy; if it is not available that is reported, since the machine that is fetched for may have its own."""
    try:
        return [toxiproxy_server(progress)]
    except EnvironmentLackError as error:
        progress(f"without Toxiproxy, which the other machine then needs on PATH: {error}")
        return []


def _lay_down(building: Path, lock: Manifest, libs: Path, agents: list[Path]) -> None:
    for folder, files in ((LIBS, [libs / jar.name for jar in lock.jars]), (AGENTS_FOLDER, agents)):
        (building / folder).mkdir(parents=True)
        for file in files:
            shutil.copy(file, building / folder / file.name)
    verify(lock, building / LIBS, "The copy went wrong: check the disk, then try again")
    (building / MANIFEST_FILE).write_text(lock.text())
