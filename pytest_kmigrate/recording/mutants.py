"""The folder of a mutant: the changed class file, and what it is called; and the files of a sample of such."""

import json
from collections.abc import Mapping
from pathlib import Path

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.provider import Mutant

DESCRIPTION = "mutant.json"
CLASS_FILE = "mutant.class"
SAMPLE, RESULTS = "sample.jsonl", "results.jsonl"
"""In the folder of a sample of mutants: what was drawn, and what each test of a mutant showed."""
_MAGIC = b"\xca\xfe\xba\xbe"


def write_mutant(folder: Path, described: Mapping[str, object]) -> None:
    """Describe the mutant whose class file lies in the folder; ``described`` has its ``id`` and ``class_name``.

    It may have ``original``, the SHA-256 of the class file that was changed.
    """
    (folder / DESCRIPTION).write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")


def read_mutant(folder: Path) -> Mutant:
    """The mutant in a folder; WrongUseError if there is none."""
    try:
        described = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        names, file = (str(described["id"]), str(described["class_name"])), (folder / CLASS_FILE).absolute()
        mutant = Mutant(*names, file, described.get("original"))
        is_class = mutant.file.read_bytes()[:4] == _MAGIC
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WrongUseError(
            f"{folder}: expected a folder with {DESCRIPTION} (id, class_name) and {CLASS_FILE}, got: {error}"
        ) from error
    if not is_class:
        raise WrongUseError(f"{mutant.file}: expected a class file, got other content")
    return mutant
