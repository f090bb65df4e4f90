"""Pages of requirements that checks judged in runs whose tests were about something else."""

import re

from pytest_kmigrate.analysis.facts import EVERY_RUN as IN_THE_TABLES
from pytest_kmigrate.reports.site.requirements import requirement_pages
from pytest_kmigrate.reports.site.views import EVERY_RUN, Site
from pytest_kmigrate.reports.summary.rows import CELL, Row
from pytest_kmigrate.reports.summary.summary import summary_of
from tests.unit.reports.fabricated_tables import ABOUT, season


def _page(**more: object) -> str:
    """The page of a requirement that no test asked for: 2 of 9 runs with an answer violate it, 3 have none."""
    tables = season(runs=60)
    counts = {"runs": 12, "conforming": 7, "violating": 2, "inconclusive": 3, "not_applicable": 0}
    cell: Row = {**tables["cells"][0], **counts, "test_id": EVERY_RUN, "safety_violations": 0}
    row: Row = {**tables["requirements"][0], **counts, "safety_violations": 0}
    rates = [{**row, "test_id": EVERY_RUN} for row in tables["requirement_flakiness"][:1]]
    tables |= {"cells": [cell], "requirements": [row], "requirement_flakiness": rates, "bugs": [], **more}
    site = Site(summary_of(tables, ABOUT))
    (page,) = [each for each in requirement_pages(site) if each.title == cell["requirement"]]
    assert set(CELL) <= set(cell)
    return page.content


def test_the_name_of_no_test_is_that_of_the_tables() -> None:
    """The site imports no Spark, so the name stands twice."""
    assert EVERY_RUN == IN_THE_TABLES


def test_runs_that_did_not_ask_are_counted_in_words() -> None:
    """There is no test whose ticks could be drawn; nor are runs listed whose own verdicts are about something else."""
    content = _page()

    said = re.sub("<[^>]+>", " ", content)
    assert "any test" in said
    assert "judged in every run, though no test asked" in said
    assert "violated in 2 of 9 runs" in said
    assert "3 inconclusive" in said
    assert EVERY_RUN not in said
    assert 'class="strip"' not in content
    assert "Runs that did not conform" not in content


def test_the_known_bugs_behind_a_requirement_are_named() -> None:
    """With how many runs and which checks saw them; those of other requirements are not."""
    tables = season(runs=60)
    bug: Row = {"kafka": "3.9.1", "runs": 4, "kinds": ["LIVENESS"], "checks": ["a_check", "b_check"], "tests": []}
    mine = {**bug, "bug": "KAFKA-1", "requirements": [tables["cells"][0]["requirement"]], "example": "e"}
    other = {**mine, "bug": "KAFKA-2", "requirements": ["another"]}

    said = re.sub("<[^>]+>", "", _page(bugs=[mine, other]))

    assert "KAFKA-1 in 4 runs (Kafka 3.9.1), by a_check, b_check" in said
    assert "KAFKA-2" not in said
