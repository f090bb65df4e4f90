"""A cache of its own for every test, and distributions made of a few small jars instead of a download."""

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pytest_kmigrate.distributions import jars, manifest
from pytest_kmigrate.distributions.ivy import Artifact


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder that everything under test uses."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("KMIGRATE_CACHE", str(folder))
    manifest.verify_once.cache_clear()
    return folder


@pytest.fixture
def said() -> list[str]:
    """Collects progress lines; pass ``said.append`` as progress."""
    return []


def small_jar(folder: Path, name: str, version_inside: str | None = None) -> Path:
    """A real, tiny jar whose content depends on its name only."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr(zipfile.ZipInfo("content"), name)
        if version_inside is not None:
            archive.writestr(
                zipfile.ZipInfo("kafka/kafka-version.properties"), f"commitId=1\nversion={version_inside}\n"
            )
    return folder / name


def small_lock(folder: Path, version: str = "3.9.1") -> manifest.Manifest:
    """The lock of a release made of two tiny jars."""
    found = []
    for module in ("kafka-clients", "zookeeper"):
        file = small_jar(folder, f"{module}-{version}.jar")
        source = f"org.example:{module}:{version}"
        found.append(manifest.Jar(file.name, file.stat().st_size, manifest.sha256_of(file), source))
    return manifest.Manifest("kafka", version, tuple(found))


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replaces the network by tiny jars; lists what was asked for."""
    asked: list[str] = []

    def fake(artifacts: Sequence[Artifact], libs: Path, _work: Path, on_jar: Callable[[], None]) -> None:
        for artifact in artifacts:
            asked.append(str(artifact))
            small_jar(libs, artifact.file_name)
            on_jar()

    monkeypatch.setattr(jars, "download", fake)
    return asked
