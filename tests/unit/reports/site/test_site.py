"""The site: one file without network, every link of which leads somewhere, whatever the tables hold."""

import json
import re
from html.parser import HTMLParser

import pytest

from pytest_kmigrate.reports.pages.page import page
from pytest_kmigrate.reports.pages.publication import MOST_ROWS_IN_JSON, files, report_json
from pytest_kmigrate.reports.site.views import MOST_PAGES, MOST_ROWS, address
from pytest_kmigrate.reports.summary.rows import Row
from pytest_kmigrate.reports.summary.summary import TABLES, Summary, summary_of
from tests.unit.reports.fabricated_marts import Tables
from tests.unit.reports.fabricated_tables import ABOUT, season

VOID = {"meta", "input", "br", "wbr"}
INLINE = {"wbr", "code", "b", "span", "a"}
VIEWS = (
    "overview", "requirements", "tests", "flakes", "consistency", "causes", "failures", "logs", "trends", "growth",
    "nights", "compare", "aside", "environment",
)  # fmt: skip


class Parsed(HTMLParser):
    """What a page is made of: addresses, links, text per view, and tags that were not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.crossed: list[str] = []
        self.text: dict[str, str] = {}
        self._open: list[str] = []
        self._view = ""
        self.feed(html)
        self.close()
        self.crossed += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember what a tag names, and that it is open."""
        named = dict(attrs)
        self.ids += [named["id"] or ""] if "id" in named else []
        self.links += [named["href"] or ""] if "href" in named else []
        self.loaded += [str(named[name]) for name in ("src", "srcset", "action", "data", "xlink:href") if name in named]
        if named.get("class") == "view":
            self._view = str(named["id"])
        if tag not in VOID:
            self._open.append(tag)
        if tag not in INLINE:
            self.handle_data(" ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag that closes itself is not open."""

    def handle_endtag(self, tag: str) -> None:
        """Only what was opened last may be closed."""
        if not self._open or self._open.pop() != tag:
            self.crossed.append(tag)

    def handle_data(self, data: str) -> None:
        """Text belongs to the view it is in."""
        self.text[self._view] = self.text.get(self._view, "") + data


@pytest.fixture(scope="module")
def tables() -> Tables:
    """A season in which everything happened."""
    return season(runs=600)


@pytest.fixture(scope="module")
def summary(tables: Tables) -> Summary:
    """That season, with two versions compared."""
    return summary_of(tables, ABOUT, ("3.6.0", "3.10.0"))


@pytest.fixture(scope="module")
def site(summary: Summary) -> Parsed:
    """Its site."""
    return Parsed(page(summary))


@pytest.mark.slow
def test_the_html_is_well_formed(site: Parsed) -> None:
    """Every tag is closed, in order, and no address is given twice."""
    assert site.crossed == []
    assert len(site.ids) == len(set(site.ids))


def test_every_link_leads_somewhere(site: Parsed) -> None:
    """A link is a view of this page, a file of the report, or a timeline beside it; no view lacks its link."""
    inside = {link[1:] for link in site.links if link.startswith("#")}
    outside = {link for link in site.links if not link.startswith("#")}
    assert inside <= set(site.ids)
    assert set(VIEWS) <= inside
    assert {link for link in outside if not link.endswith("/timeline.html")} == {"report.json", "report.md"}


def test_nothing_is_loaded_from_anywhere(summary: Summary, site: Parsed) -> None:
    """No address of a network is in the file, and no tag or style loads another file."""
    html = page(summary)
    assert site.loaded == []
    assert not re.search(r"https?:|//[a-z]|@import|url\(|\bfetch\(|import\(", html)


def test_there_is_a_page_per_requirement_test_and_cluster(tables: Tables, site: Parsed) -> None:
    """Each is reached from its view and leads down to timelines."""
    expected = {address("requirement", row["requirement"]) for row in tables["requirements"]}
    expected |= {address("test", row["test_id"]) for row in tables["tests"]}
    expected |= {address("cluster", row["cluster"]) for row in tables["failure_clusters"]}
    assert expected <= set(site.ids)
    assert expected <= {link[1:] for link in site.links}
    timelines = {str(row["timeline"]).replace(" ", "%20") for row in tables["attempts"] if row["outcome"] == "VIOLATES"}
    assert timelines - {"None"} <= set(site.links)


def test_a_requirement_leads_to_the_timelines_of_its_red_runs(tables: Tables, summary: Summary) -> None:
    """Without a detour: what was seen in the latest of them, with its timeline and command."""
    html = page(summary).partition(f'id="{address("requirement", "K866-TEST-controller-failures")}"')[2]
    red = [row for row in tables["attempts"] if "survives_a_crash" in str(row["test_id"]) and row["kind"] == "LIVENESS"]
    newest = next(row for row in reversed(red) if row["timeline"])
    view = html.partition("</section>")[0]
    assert f'href="{str(newest["timeline"]).replace(" ", "%20")}"' in view
    assert f"--kmigrate-seed {newest['seed']}" in view


def test_text_of_runs_is_never_markup(summary: Summary) -> None:
    """Names and messages with angle brackets are shown as they are."""
    html = page(summary)
    for said in ("<to>", "<hex>", "<odd>", "<17>", "<mid-line>", "<2 of 900>"):
        assert said not in html
        assert said.replace("<", "&lt;").replace(">", "&gt;") in html


@pytest.mark.parametrize("view", [view for view in VIEWS if view != "environment"])
def test_an_empty_view_says_why(view: str) -> None:
    """Without a single row no view is blank, and the whole is still well formed."""
    nothing: Tables = {name: [] for name in TABLES}
    empty = Parsed(page(summary_of(nothing, ABOUT)))
    assert empty.crossed == []
    assert re.search(r"\b(No|None|Nothing|not)\b", empty.text[view])


@pytest.mark.slow
def test_a_missing_table_counts_as_empty(tables: Tables) -> None:
    """A report over tables of an older version is made all the same, each of them missing in turn."""
    for name in TABLES:
        without = {other: rows for other, rows in tables.items() if other != name}
        assert Parsed(page(summary_of(without, ABOUT))).crossed == []


def test_the_overview_begins_with_what_needs_a_human(site: Parsed) -> None:
    """Headline, counts, then concerns: the lost record, what several tests fail by, then the versions."""
    headline, _, concerns = site.text["overview"].partition("Needs a human")
    places = [
        concerns.index(each)
        for each in ("safety violation", "failed alike", "got worse", "without an answer", "Versions")
    ]
    assert "broke a safety requirement" in headline
    assert places == sorted(places)


def test_safety_is_never_in_the_ranking_of_flakes(summary: Summary, site: Parsed) -> None:
    """Rows with a safety violation are counted and sent to the overview, however rare they are."""
    safety = [row for row in summary["flakiness"] if row["standing"] == "SAFETY"]
    ranking = site.text["flakes"].partition("never failed")[0]
    assert safety
    assert f"{len(safety)} with a safety violation left out" in ranking
    assert "no_record_is_lost" not in ranking


def test_a_change_point_is_marked_and_told(summary: Summary, site: Parsed) -> None:
    """The sparkline has its flag, and words say from what to what, since when."""
    flakes = page(summary).partition('id="flakes"')[2].partition("</section>")[0]
    assert 'class="flag"' in flakes
    assert re.search(
        r"0% until run \d+ \(2026-\d\d-\d\d, Kafka [\d.]+, commit 1a2b<3c>\), then \d+%", site.text["flakes"]
    )


@pytest.mark.slow
def test_a_requirement_tells_since_when_and_what_its_clean_runs_prove(tables: Tables, summary: Summary) -> None:
    """Its page names the test, run, version and commit a change began with; a bound only where nothing was violated."""
    site = Parsed(page(summary))
    change = tables["requirement_changes"][0]
    said = site.text[address("requirement", change["requirement"])]
    assert re.search(rf"Since run {change['since_attempt']} \(2026-\d\d-\d\d, Kafka [\d.]+, commit 1a2b<3c>\)", said)
    assert str(change["test_id"]).rpartition("::")[2] in said
    rows = summary["requirements"]
    assert {row["bound_after_clean"] is None for row in rows if row["violating"]} == {True}
    clean = next(row for row in rows if not row["violating"] and row["conforming"] == row["runs"])
    assert clean["bound_after_clean"] == pytest.approx(1 - 0.05 ** (1 / int(str(clean["runs"]))))


def test_a_red_requirement_says_by_which_checks(summary: Summary, site: Parsed) -> None:
    """In the matrix and on its page."""
    lossy = next(row for row in summary["requirements"] if row["standing"] == "SAFETY")
    lost, late = (f"by {check}" for check in ("no_acked_record_lost", "controller_moves"))
    assert lost in site.text["requirements"]
    assert late in site.text["requirements"]
    assert lost in site.text[address("requirement", lossy["requirement"])]


def test_how_long_metadata_differed_is_told(site: Parsed) -> None:
    """The bounds of the longest of each family, none above while some were never seen to end, and what differed."""
    said = site.text["consistency"]
    assert re.search(
        r"configs\s+configs topic:orders in copied: metadata log nothing, ZooKeeper {\"<n>\": \"7\"}", said
    )
    assert re.search(r"metadata log and ZooKeeper\s+3.6.0\s+3\s+3\s+2.0 s\s+unknown\s+1\b", said)


def test_versions_are_in_the_order_of_releases(site: Parsed) -> None:
    """3.10 comes after 3.9, in the matrix and in the panels of a trend."""
    for view in ("requirements", "trends"):
        said = site.text[view]
        assert said.index("3.6.0") < said.index("3.9.1") < said.index("3.10.0")


@pytest.mark.slow
def test_what_was_left_out_is_said() -> None:
    """More rows than a page can hold: the first of them, how many there are, and where the others lie."""
    tables = season(runs=400, tests=400)
    lost: Row = {"path": "a", "line": 1, "reason": "r", "is_run": True}
    tables["set_aside"] = [lost] * (MOST_ROWS + 5)
    html = page(summary_of(tables, ABOUT))
    site = Parsed(html)
    assert f"{MOST_ROWS} of {MOST_ROWS + 5} are on this page; all are in report.json" in site.text["aside"]
    assert len([name for name in site.ids if name.startswith("test/")]) == MOST_PAGES
    assert {link[1:] for link in site.links if link.startswith("#")} <= set(site.ids)


@pytest.mark.slow
def test_many_runs_do_not_make_a_large_page() -> None:
    """Ten times the runs of the same tests: the page is less than three times as large."""
    few, many = (len(page(summary_of(season(runs=runs), ABOUT))) for runs in (300, 3_000))
    assert many < 3 * few


def test_the_files_of_a_report_end_with_the_page(summary: Summary) -> None:
    """Whoever sees the new page finds the files it links to."""
    assert list(files(summary)) == ["report.json", "report.md", "index.html"]


def test_json_says_the_same(summary: Summary) -> None:
    """All rows of the summary are in report.json, schema 2, moments as text and nothing that JSON cannot say."""
    reported = json.loads(report_json({**summary, "causes": [{**summary["causes"][0], "lift_high": float("inf")}]}))
    assert (reported["schema"], reported["headline"], reported["left_out"]) == (2, summary["headline"], {})
    assert reported["causes"][0]["lift_high"] is None
    assert reported["infra_nights"][0]["night"] == "2026-01-21"
    assert len(reported["attempts"]) == len(summary["attempts"])
    assert reported["comparison"]["headline"].startswith("Kafka 3.6.0 to 3.10.0")


@pytest.mark.slow
def test_json_is_cut_where_editors_give_up(summary: Summary) -> None:
    """A table longer than that is cut, and by how much is said."""
    point = summary["trends"][0]
    reported = json.loads(report_json({**summary, "trends": [point] * (MOST_ROWS_IN_JSON + 3)}))
    assert len(reported["trends"]) == MOST_ROWS_IN_JSON
    assert reported["left_out"] == {"trends": 3}
