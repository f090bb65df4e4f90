"""Facts about all diagnoses: each names a known bug, and nothing else does."""

from pathlib import Path

from pytest_kmigrate.catalogue import all_known_bugs
from pytest_kmigrate.documents import documents


def test_every_diagnosis_names_a_known_bug_and_every_row_says_whether_there_is_one() -> None:
    """An id without a row in known-bugs.toml would never be named; a row without a diagnosis says so."""
    named = {each.bug_id for document in documents() for each in document.diagnoses}
    assert named == {bug.id for bug in all_known_bugs() if bug.recognized}


def test_every_diagnosis_has_a_test_of_its_own() -> None:
    """With a history that it explains, and one of another defect that it must not explain."""
    tests = "".join(file.read_text() for file in Path(__file__).parent.rglob("test_*.py"))
    untested = [bug.id for bug in all_known_bugs() if bug.recognized and f'("{bug.id}",)' not in tests]
    assert untested == []
