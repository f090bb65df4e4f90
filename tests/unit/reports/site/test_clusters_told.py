"""Rows that differ only in what they ran on: each says on what, and none says what is the same for all."""

import re
from collections.abc import Iterable

import pytest

from pytest_kmigrate.reports.pages.markdown import report_markdown
from pytest_kmigrate.reports.site.comparing import comparing
from pytest_kmigrate.reports.site.flakes import flakes
from pytest_kmigrate.reports.site.overview import overview
from pytest_kmigrate.reports.site.requirements import requirement_pages
from pytest_kmigrate.reports.site.tests import test_pages as pages_of_tests
from pytest_kmigrate.reports.site.tests import tests as list_of_tests
from pytest_kmigrate.reports.site.trends import trends
from pytest_kmigrate.reports.site.views import Site
from pytest_kmigrate.reports.summary.rows import Row
from pytest_kmigrate.reports.summary.summary import Summary, summary_of
from tests.unit.reports.fabricated_tables import ABOUT, season

OTHER: Row = {"profile": "kip-866-draft", "provider": "container"}


def _summary(*differing: str) -> Summary:
    """A season whose every run was made twice, alike but for what is named."""
    other = {name: OTHER[name] for name in differing}
    tables = {
        name: rows + [{**row, **other} for row in rows if other and other.keys() <= row.keys()]
        for name, rows in season(runs=600).items()
    }
    return summary_of(tables, ABOUT, ("3.6.0", "3.10.0"))


def _rows(content: str, cells: int) -> Iterable[list[str]]:
    """What distinguishes the rows of each table of a page: their first cells."""
    for table in re.findall(r"<tbody>(.*?)</tbody>", content):
        yield [" ".join(re.findall(r"<td.*?</td>", row)[:cells]) for row in re.findall(r"<tr>(.*?)</tr>", table)]


@pytest.mark.parametrize("differing", ["profile", "provider"])
def test_rows_that_differ_only_there_do_not_look_alike(differing: str) -> None:
    """Tests, their cells, comparison, durations; concerns, changes; on the site and in the comment."""
    summary = _summary(differing)
    site = Site(summary)
    compared = comparing(site).content.partition("<h2>Durations")
    pages = [(comparing(site).content.partition("<h2>Tests")[2], 1), (list_of_tests(site).content, 2)]
    pages += [(flakes(site).content, 2), (pages_of_tests(site)[0].content.partition("Runs that did not")[0], 2)]
    named = [row for content, cells in pages for row in _rows(content, cells)]
    reported = report_markdown(summary)
    named += [re.findall(r"<li>.*?</li>", view.content) for view in (overview(site), requirement_pages(site)[0])]
    named += [
        [line.rpartition(" | **")[0] for line in reported.partition("### Tests")[2].splitlines() if " | **" in line]
    ]
    named += [[line for line in reported.partition("## Flakes")[2].splitlines() if line.startswith(("| `", "- `"))]]
    named += [[f"{row['title']} {row['condition']}" for row in summary["attention"] if row["test_id"]]]

    assert compared[1]
    for rows in named:
        assert len(rows) == len(set(rows))
    assert str(OTHER[differing]) in "".join(map(str, named))


def test_what_is_the_same_for_all_is_told_nowhere_but_once() -> None:
    """Of one profile and one provider no row says so."""
    summary = _summary()
    site = Site(summary)
    views = [draw(site).content for draw in (list_of_tests, comparing, flakes, trends, overview)]

    reported = "".join([*views, report_markdown(summary), str(summary["attention"])])

    assert not re.search(r"[^\w/](kip-866|process)[^\w]", re.sub(r"<[^>]*>", "|", reported).replace("kip_866", ""))
