"""``kmigrate fetch``: one Kafka release and the agents as a folder that works without any network."""

import os
import shutil
from pathlib import Path

from pytest_kmigrate.distributions.agents import AGENTS_FOLDER, byteman_jar, jolokia_jar
from pytest_kmigrate.distributions.cache import Progress, disk_trouble_named
from pytest_kmigrate.distributions.distribution import LIBS
from pytest_kmigrate.distributions.jars import cached_jars
from pytest_kmigrate.distributions.manifest import MANIFEST_FILE, Manifest, verify
from pytest_kmigrate.distributions.releases import locked_release
from pytest_kmigrate.model.errors import WrongUseError


def fetch(version: str, to: Path, progress: Progress) -> Path:
    """Lay the release down in ``to`` (new or empty), whole or not at all; returns the folder."""
    folder = to.expanduser().absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise WrongUseError(f"--to {to}: expected a new or an empty folder, got one with something in it; name another")
    lock = locked_release(version)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUseError(f"--to {to}: expected a folder that can be made, got: {error}; name another") from error
    libs = cached_jars(lock, progress)
    agents = [jolokia_jar(progress), byteman_jar(progress)]
    building = folder.parent / f".{folder.name}.building-{os.getpid()}"
    with disk_trouble_named(folder.parent, "--to"):
        try:
            _lay_down(building, lock, libs, agents)
            building.replace(folder)
        finally:
            shutil.rmtree(building, ignore_errors=True)
    progress(f"kafka {version} lies in {folder}; use it with: --kmigrate-kafka {folder}")
    return folder


def _lay_down(building: Path, lock: Manifest, libs: Path, agents: list[Path]) -> None:
    for folder, jars in ((LIBS, [libs / jar.name for jar in lock.jars]), (AGENTS_FOLDER, agents)):
        (building / folder).mkdir(parents=True)
        for jar in jars:
            shutil.copyfile(jar, building / folder / jar.name)
    verify(lock, building / LIBS, "The copy went wrong: check the disk, then try again")
    (building / MANIFEST_FILE).write_text(lock.text())
