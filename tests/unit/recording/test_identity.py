"""Names of tests in folders of version 0.1, which were paths: those of one test come to one."""

import pytest

from pytest_kmigrate.recording.identity import stable_id

NOW = "pytest_kmigrate.suites.kip_866.test_copy::test_it[a/b.py::c]"


@pytest.mark.parametrize(
    "before",
    ["suites/kip_866/test_copy.py", "../venv/lib/python3.12/site-packages/pytest_kmigrate/suites/kip_866/test_copy.py"],
)
def test_a_test_of_a_suite_has_one_name(before: str) -> None:
    """Wherever the package was installed, and pytest started."""
    assert stable_id(f"{before}::test_it[a/b.py::c]") == NOW


@pytest.mark.parametrize(
    "test_id", [NOW, "tests/test_mine.py::test_it", "suites/kip_866/test_gone.py::test_it", "::test_it"]
)
def test_any_other_name_is_kept(test_id: str) -> None:
    """A name of today, and a path that is of no suite of the package."""
    assert stable_id(test_id) == test_id
