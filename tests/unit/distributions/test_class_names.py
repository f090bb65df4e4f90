"""Patterns of class names, looked for in jars."""

import zipfile
from pathlib import Path

from pytest_kmigrate.distributions.class_names import classes_in, has_classes


def test_a_pattern_finds_classes_of_a_package_and_below(tmp_path: Path) -> None:
    """Nested classes, too; other files and packages that begin alike are left out."""
    jar = tmp_path / "a.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for name in ("org/acme/A.class", "org/acme/A$B.class", "org/acme/x.txt", "org/acmes/C.class"):
            archive.writestr(name, b"")
    assert [name for _, name in classes_in([jar], ["org.acme.*"])] == ["org.acme.A", "org.acme.A$B"]
    assert has_classes((jar,), ("nothing.*", "org.acmes.?"))
    assert not has_classes((jar,), ("acme.*",))
