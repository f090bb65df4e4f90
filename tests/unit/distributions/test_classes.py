"""The digest of the classes of jars: what a vendor can change without changing the code changes nothing of it."""

import zipfile
from pathlib import Path

import pytest

from pytest_kmigrate.distributions.classes import digest_of_classes
from pytest_kmigrate.model.errors import DistributionError

CLASSES = {"kafka/A.class": b"\xca\xfe\xba\xbeA", "kafka/B.class": b"\xca\xfe\xba\xbeB"}


def jar(file: Path, *, manifest: bytes = b"Built: today", compression: int = zipfile.ZIP_STORED, **more: bytes) -> Path:
    """A jar with two classes and a manifest; ``more``: other classes by name."""
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr("META-INF/MANIFEST.MF", manifest)
        for name, content in {**CLASSES, **{f"{each}.class": code for each, code in more.items()}}.items():
            archive.writestr(name, content)
    return file


def test_only_classes_count(tmp_path: Path) -> None:
    """Another date in a manifest, another compression and another name of the jar are the same code."""
    first = digest_of_classes((jar(tmp_path / "a.jar"),))
    other = jar(tmp_path / "b.jar", manifest=b"Built: tomorrow", compression=zipfile.ZIP_DEFLATED)
    assert digest_of_classes((other,)) == first
    assert digest_of_classes((jar(tmp_path / "c.jar", C=b"x"),)) != first


def test_a_damaged_jar_is_named(tmp_path: Path) -> None:
    """With what to do."""
    (tmp_path / "a.jar").write_bytes(b"PK")
    with pytest.raises(DistributionError, match=r"a\.jar: expected a jar, got a damaged file; unpack the distribution"):
        digest_of_classes((tmp_path / "a.jar",))
