"""Facts about the page of nights: what is called clean, red, never seen, and whole."""

from typing import Any

import pytest

from pytest_kmigrate.reports.pages.publication import files
from pytest_kmigrate.reports.site.chaos import chaos, level_of_cell
from pytest_kmigrate.reports.site.views import Site
from pytest_kmigrate.reports.summary.summary import Summary, summary_of
from tests.unit.reports.fabricated_tables import ABOUT, season

TABLES = season(40)

CELL: dict[str, Any] = {
    "profile": "kip-866", "kafka": "3.9.1", "effect": "kill", "state": "HYBRID", "aim": "active-controller",
    "runs": 10, "begun": 10, "witnessed": 10, "answered": 10, "conforming": 10, "violating": 0, "new_violating": 0,
    "safety_violations": 0, "known_bugs": [], "low": 0.0, "high": 0.26, "median_s": 50.0, "why_unseen": None,
    "example": None,
}  # fmt: skip
NIGHT: dict[str, Any] = {
    "night": "d1", "profile": "kip-866", "lines": 4, "carried_out": 2, "missing": ["2", "4"], "shards": 2,
    "shards_seen": 1, "is_whole": False, "seconds": 3600.0,
}  # fmt: skip
SHRINK: dict[str, Any] = {
    "run_id": "run", "signature": "BUG-1", "runs": 7, "replays": 3, "shown": 2, "p_low": 0.2, "p_high": 0.94,
    "happenings": 3, "left": 1, "seconds": 300.0, "schedule": '{"schema":1}', "folder": "shrunk/04/r",
}  # fmt: skip


def _summary(**tables: Any) -> Summary:
    schedule = {"folder": "f", "document": "kip-866", "night": "d1", "line": 1, "shrinks": None}
    return summary_of({**TABLES, "schedules": [schedule], **tables}, ABOUT)


def test_a_cell_is_as_its_gravest_release() -> None:
    """New before known, known before clean; begun and never seen to bite is no answer."""
    red = {**CELL, "conforming": 0, "violating": 1}
    assert level_of_cell([]) == "NOT_APPLICABLE"
    assert level_of_cell([{**CELL, "conforming": 0, "answered": 0}]) == "INCONCLUSIVE"
    assert level_of_cell([CELL]) == "CONFORMS"
    assert level_of_cell([CELL, red]) == "DEFECT"
    assert level_of_cell([CELL, {**red, "new_violating": 1}]) == "VIOLATES"
    assert level_of_cell([CELL, {**red, "new_violating": 1, "safety_violations": 1}]) == "SAFETY"


def test_the_page_says_what_was_visited_and_what_n_runs_prove() -> None:
    """Every cell that can be is on it; a clean one with what its runs leave possible."""
    unseen = {**CELL, "aim": "every-broker", "witnessed": 0, "answered": 0, "conforming": 0, "why_unseen": "no trace"}
    red = {**CELL, "effect": "cut", "aim": "a->b", "violating": 2, "new_violating": 1, "known_bugs": ["kmigrate-35"]}
    summary = _summary(chaos_cells=[CELL, unseen, red], chaos_nights=[NIGHT], shrinks=[SHRINK])
    content = chaos(Site(summary)).content
    for expected in (
        "active-controller: clean in 10 runs, so at most 26% of such runs violate",
        "every-broker: begun, and never seen to bite",
        "no trace",
        "cut(a-&gt;b)",
        "kmigrate-35",
        "2 of 4 lines missing: 2, 4; 1 of 2 machines seen",
        "kmigrate replay shrunk/04/r",
        "2 of 3<br>20% to 94%",
        "cannot be",
    ):
        assert expected in content, expected
    assert "the night is whole" not in content
    assert len([row for row in summary["chaos_space"] if row["why_not"] is None]) > 400


@pytest.mark.slow
def test_a_night_that_misses_lines_needs_a_human() -> None:
    """And so does a new red of a schedule, which is in no table of tests."""
    run = {**TABLES["attempts"][0], "folder": "f", "outcome": "VIOLATES", "kind": "SAFETY", "known_bugs": []}
    run |= {"check": "no_acked_record_lost", "test_id": "suites/test_chaos.py::test_schedule[x]", "is_aside": False}
    summary = _summary(chaos_nights=[NIGHT], attempts=[run], tests=[], failure_clusters=[], failure_members=[])
    concerns = {(row["level"], row["title"]): row["detail"] for row in summary["attention"]}
    assert concerns[("INCONCLUSIVE", "Night d1 is not whole")].startswith("2 of 4 lines missing")
    assert concerns[("SAFETY", "no_acked_record_lost")] == "1 schedule violates it, 1 SAFETY"
    whole = {**NIGHT, "missing": [], "is_whole": True}
    calm = _summary(chaos_nights=[whole])
    assert not [row for row in calm["attention"] if str(row["title"]).startswith("Night")]
    assert "none: the night is whole" in chaos(Site(calm)).content


def test_a_report_without_schedules_says_so() -> None:
    """In one sentence; the page is there all the same."""
    summary = summary_of(TABLES, ABOUT)
    assert "No run carried out a schedule." in chaos(Site(summary)).content
    assert 'id="chaos"' in files(summary)["index.html"]
