"""Jars that a manifest adds to the class path are among those that the digest is of."""

import zipfile
from pathlib import Path

import pytest

from pytest_kmigrate.distributions.class_path import must_be_whole
from pytest_kmigrate.model.errors import DistributionError


def jar_in(libs: Path, name: str, class_path: str | None) -> Path:
    """A jar with this line in its manifest, folded as tools fold long ones."""
    libs.mkdir(exist_ok=True)
    added = "" if class_path is None else f"Class-Path: {class_path}\r\n"
    with zipfile.ZipFile(libs / name, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\r\n{added}")
    return libs / name


@pytest.mark.parametrize(
    ("class_path", "is_refused"),
    [
        (None, False),
        ("b.jar", False),
        ("../libs/b.jar gone.jar", False),
        ("../patch.jar", True),
        ("b.jar ../pat\r\n ch.jar", True),
        ("../classes/", True),
        ("%2E%2E/patch.jar", True),
        ("file:../patch.jar", True),
    ],
)
def test_what_a_manifest_adds_is_a_jar_of_the_digest(
    tmp_path: Path, class_path: str | None, *, is_refused: bool
) -> None:
    """Of what is not there nothing is loaded."""
    (tmp_path / "classes").mkdir()
    (tmp_path / "patch.jar").touch()
    jars = [jar_in(tmp_path / "libs", "a.jar", class_path), jar_in(tmp_path / "libs", "b.jar", None)]
    if not is_refused:
        must_be_whole(jars)
        return
    with pytest.raises(DistributionError, match=r"a\.jar: expected a jar that adds none but its neighbours"):
        must_be_whole(jars)
