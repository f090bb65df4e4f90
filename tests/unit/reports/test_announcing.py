"""What an analysis announces before it reads."""

import pytest

from pytest_kmigrate.reports.analyze import _announced
from pytest_kmigrate.reports.ingestion.discovery import Discovery, FoundRun

RUN = FoundRun("run", None, ())


@pytest.mark.parametrize(
    ("runs", "foreign", "announced"),
    [
        ((RUN,), (), "reading 1 run, of which 1 is known"),
        ((), ("a.xml", "b.xml"), "reading 2 files of other tools"),
        ((RUN, RUN), ("a.xml",), "reading 2 runs, of which 1 is known and 1 file of other tools"),
    ],
)
def test_results_of_other_tools_are_announced(
    runs: tuple[FoundRun, ...], foreign: tuple[str, ...], announced: str
) -> None:
    """A folder that has nothing else was announced as 0 runs."""
    assert _announced(Discovery("/runs", runs, (), foreign), {"run": {}}) == announced  # type: ignore[dict-item]
