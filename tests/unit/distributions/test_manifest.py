"""Manifests: every damage to a set of jars is found and named."""

from pathlib import Path

import pytest

from pytest_kmigrate.distributions.manifest import Manifest, parsed, verify
from pytest_kmigrate.model.errors import DistributionError
from tests.unit.distributions.conftest import small_jar, small_lock


def test_text_is_read_back(tmp_path: Path) -> None:
    """What is written is read as the same manifest."""
    lock = small_lock(tmp_path)
    assert parsed(lock.text(), "here") == lock


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1, "name": "kafka"}', '{"format": 2}'])
def test_unreadable(text: str) -> None:
    """Anything else is refused, naming the file."""
    with pytest.raises(DistributionError, match="here: expected a manifest"):
        parsed(text, "here")


def test_whole_set_passes(tmp_path: Path) -> None:
    """Untouched jars verify."""
    verify(small_lock(tmp_path), tmp_path, "cure")


def test_all_damage_at_once(tmp_path: Path) -> None:
    """A missing, a changed and an additional jar are each named, with the cure."""
    lock = small_lock(tmp_path)
    (tmp_path / "kafka-clients-3.9.1.jar").unlink()
    with (tmp_path / "zookeeper-3.9.1.jar").open("r+b") as file:
        file.write(b"X")
    small_jar(tmp_path, "stranger.jar")
    with pytest.raises(DistributionError) as raised:
        verify(lock, tmp_path, "the cure")
    text = str(raised.value)
    assert "kafka-clients-3.9.1.jar: expected by the manifest, but missing" in text
    assert "zookeeper-3.9.1.jar: corrupt, expected" in text
    assert "stranger.jar: lies there, but the manifest does not list it" in text
    assert text.endswith("the cure")


def test_digest_depends_on_names_and_contents_only(tmp_path: Path) -> None:
    """The digest is the same wherever and in whatever order the jars lie, and another for another jar."""
    lock = small_lock(tmp_path)
    turned = Manifest(lock.name, lock.version, lock.jars[::-1])
    assert turned.digest() == lock.digest()
    assert Manifest(lock.name, lock.version, lock.jars[:1]).digest() != lock.digest()
