"""The folder of a mutant."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.provider import Mutant
from pytest_kmigrate.recording.mutants import CLASS_FILE, DESCRIPTION, read_mutant, write_mutant


def test_a_mutant_is_read_as_it_was_written(tmp_path: Path) -> None:
    """With the absolute path of its class file, as nodes run elsewhere."""
    (tmp_path / CLASS_FILE).write_bytes(b"\xca\xfe\xba\xbe...")
    write_mutant(tmp_path, {"id": "m", "class_name": "org.acme.A$B", "line": 3})
    mutant = read_mutant(tmp_path)
    assert mutant == Mutant("m", "org.acme.A$B", tmp_path / CLASS_FILE)
    write_mutant(tmp_path, {"id": "m", "class_name": "org.acme.A$B", "original": "c0ffee"})
    assert read_mutant(tmp_path).original == "c0ffee"


@pytest.mark.parametrize(
    ("description", "content", "expected"),
    [
        (None, b"\xca\xfe\xba\xbe", DESCRIPTION),
        ('{"id": "m"}', b"\xca\xfe\xba\xbe", "class_name"),
        ("no JSON", b"\xca\xfe\xba\xbe", "expected a folder"),
        ('{"id": "m", "class_name": "A"}', None, CLASS_FILE),
        ('{"id": "m", "class_name": "A"}', b"PK", "expected a class file"),
    ],
)
def test_another_folder_is_refused(
    tmp_path: Path, description: str | None, content: bytes | None, expected: str
) -> None:
    """In one sentence with what is missing."""
    if description is not None:
        (tmp_path / DESCRIPTION).write_text(description)
    if content is not None:
        (tmp_path / CLASS_FILE).write_bytes(content)
    with pytest.raises(WrongUseError, match=expected):
        read_mutant(tmp_path)
