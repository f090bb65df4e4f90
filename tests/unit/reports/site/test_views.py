"""Views: the order and the numbers of single ones, with tables of a few rows."""

import re
from html import escape

from pytest_kmigrate.reports.pages.markdown import report_markdown
from pytest_kmigrate.reports.pages.page import page
from pytest_kmigrate.reports.site.causes import causes
from pytest_kmigrate.reports.site.comparing import comparing
from pytest_kmigrate.reports.site.environment import environment
from pytest_kmigrate.reports.site.flakes import flakes
from pytest_kmigrate.reports.site.nights import nights
from pytest_kmigrate.reports.site.overview import overview
from pytest_kmigrate.reports.site.tests import MOST_DOTS
from pytest_kmigrate.reports.site.tests import test_pages as pages_of_tests
from pytest_kmigrate.reports.site.tests import tests as list_of_tests
from pytest_kmigrate.reports.site.views import Site, address
from pytest_kmigrate.reports.summary.rows import Row
from pytest_kmigrate.reports.summary.summary import summary_of
from tests.unit.reports.fabricated_tables import ABOUT, season
from tests.unit.reports.single_rows import BEGIN, site_of


def test_a_bad_night_has_the_interval_of_its_share() -> None:
    """5 of 6 runs without an answer: 83 %, and with so few runs anything from 44 % on."""
    night: Row = {"night": BEGIN.date(), "runs": 6, "inconclusive": 5, "violating": 0, "tests_touched": 4}
    night |= {"wrong": "inconclusive", "wrong_runs": 5, "judged_runs": 6}

    night |= {"usual_rate": 0.021, "p_value": 1e-7, "reason": "5 of 6 runs inconclusive, usual are 2.1%"}

    content = nights(site_of(infra_nights=[night])).content

    assert "83%, 95 % interval 43% to 97%" in content
    assert "5 of 6 without an answer" in content
    assert content.count("2.1%") == 1


def test_a_night_of_violations_is_told_as_one() -> None:
    """36 of 38 runs that could be judged violated: that none was without an answer is not written."""
    summary = summary_of(season(runs=60), ABOUT)
    red = {"inconclusive": 0, "violating": 37, "wrong": "violating", "wrong_runs": 36, "judged_runs": 38, "runs": 40}
    summary["infra_nights"] = [{**summary["infra_nights"][0], **red}]

    content = nights(Site(summary)).content

    assert "95%, 95 % interval 82% to 99%" in content
    assert "36 of 38 violating" in content
    assert "(36 of 38 violating)" in report_markdown(summary)


def test_the_commands_of_red_runs_come_first() -> None:
    """What broke SAFETY, then violating, then without an answer, then the others, the newest of each first."""
    attempts = season(runs=60)["attempts"]
    oldest = min((each for each in attempts if each["outcome"] == "VIOLATES"), key=lambda each: str(each["started_at"]))
    oldest["kind"] = "SAFETY"

    content = environment(site_of(attempts=attempts)).content

    order = re.findall(r'<span class="chip"[^>]*>([a-z ]+)</span>', content)
    assert order == sorted(order, key=["safety violation", "violates", "inconclusive", "conforms"].index)
    assert "safety violation" in order
    seeds = [int(seed) for seed in re.findall(r"--kmigrate-seed (\d+)", content)]
    conforming = seeds[order.index("conforms") :]
    assert conforming[0] > conforming[-1]


def test_a_run_of_an_infra_night_is_shown_as_it_counts() -> None:
    """Nothing is held against its test: it stands there without an answer, and why."""
    tables = season(runs=60)
    red = next(each for each in tables["attempts"] if each["outcome"] == "VIOLATES" and each["kind"] != "SAFETY")
    tables["attempts"] = [{**red, "is_aside": True}]

    page = next(each for each in pages_of_tests(site_of(**tables)) if each.address == address("test", red["test_id"]))

    assert "in an infra night" in page.content
    (chip,) = re.findall(r'<span class="chip"[^>]*>([a-z ]+)</span>', page.content.partition("Runs that did not")[2])
    assert chip == "inconclusive"


def test_a_test_is_told_as_counted_beside_what_others_make_of_it() -> None:
    """Its own rate with its interval and its flips, and the shrunk rate, which is another one."""
    tables = season(runs=60)
    counted: Row = {"rate": 0.5, "wilson_low": 0.21, "wilson_high": 0.79, "flips": 3, "flip_rate": 0.375}
    reported = [{**row, **counted, "shrunk_rate": 0.31} for row in tables["flakiness"]]

    page, *_ = pages_of_tests(site_of(**{**tables, "flakiness": reported}))

    said = re.sub("<[^>]+>", " ", page.content.partition("By condition")[2])
    assert re.search(r"50%\s+21% to 79%\s+3 flips, 38% of the times", said)
    assert "31%" in said


def test_what_was_repaired_did_not_never_fail() -> None:
    """A test that conforms since it was repaired is listed as such, and not with those that never failed."""
    row: Row = {**season(runs=60)["flakiness"][0], "standing": "CONFORMS", "violating": 0}
    rows = [{**row, "test_id": "t::steady"}, {**row, "test_id": "t::mended", "violating": 27}]

    content = flakes(site_of(flakiness=rows)).content

    repaired, _, steady = content.partition("1 that never failed")
    assert "1 that failed and then no more" in repaired
    assert ("mended" in repaired, "steady" in repaired) == (True, False)
    assert ("mended" in steady, "steady" in steady) == (False, True)


def test_an_address_holds_any_name() -> None:
    """A plain name stays readable; two odd ones never share an address, and neither needs encoding."""
    assert address("requirement", "K866-DW-full-parity") == "requirement/K866-DW-full-parity"
    odd = {address("test", name) for name in ("a b", "a  b", 'x"><i>', "ü" * 300, "")}
    assert len(odd) == 5
    assert all(re.fullmatch(r"test/[0-9a-f]{12}", each) for each in odd)


def test_a_long_text_is_cut_where_it_is_told_and_whole_where_it_belongs() -> None:
    """A difference of whole tables takes two lines in overview and causes, and unfolds on the page of its test."""
    tables = season(runs=60)
    long = "quotas differ: " + "user=a,client-id=b " * 60 + "the end of it"
    for row in (*tables["attempts"], *tables["failure_clusters"], *tables["bugs"], *tables["consistency"]):
        row |= {name: long for name in ("summary", "representative", "example") if name in row}
    site = Site(summary_of(tables, ABOUT))

    assert "quotas differ" in overview(site).content
    assert "the end of it" not in overview(site).content
    assert "the end of it" not in causes(site).content.partition("Known defects and departures of Kafka")[0]
    pages = "".join(page.content for page in pages_of_tests(site))
    beginning, _, whole = pages.partition("all of it</summary><pre>")
    assert "the end of it" not in beginning.rpartition("quotas differ")[2]
    assert whole.startswith("quotas differ")
    assert "the end of it" in whole.partition("</pre>")[0]


def test_what_changed_is_told_before_what_only_one_version_has() -> None:
    """Rows that cannot be compared are folded away behind those that can, and in a comment only counted."""
    tables = season(runs=600)
    name = tables["requirements"][0]["requirement"]
    others = [row for row in tables["requirements"] if row["requirement"] != name]
    clean: Row = {"kafka": "3.10.0", "violating": 0, "safety_violations": 0}
    alone = [*others, {**tables["requirements"][0], **clean}]
    summary = summary_of({**tables, "requirements": alone}, ABOUT, ("3.6.0", "3.10.0"))
    found = summary["comparison"]
    assert found is not None
    assert [row["requirement"] for row in found["requirements"] if row["change"] == "ONLY_B"] == [name]

    content = comparing(Site(summary)).content.partition("<h2>Tests</h2>")[0]
    reported = report_markdown(summary).partition("### Tests")[0]

    changed, _, folded = content.partition("1 only in one of the two versions")
    assert escape(str(name)) in folded
    assert escape(str(name)) not in changed.partition("<details>")[0]
    assert " 1 only in 3.10.0." in reported
    assert "only in 3.6.0" not in reported
    assert f"`{name}`" not in reported


def test_medians_of_few_runs_are_compared_without_an_interval() -> None:
    """From least to largest of three would pass for 95 %; it is said why there is none."""
    tables = season(runs=600)
    few = [
        row
        for row in tables["trends"]
        if row["kafka"] == "3.10.0" and row["topology"] == tables["trends"][0]["topology"]
    ]
    few = [row for name in ("run", "step migrate") for row in [each for each in few if each["name"] == name][:3]]
    before = [row for row in tables["trends"] if row["kafka"] == "3.6.0"]

    content = comparing(Site(summary_of({**tables, "trends": [*before, *few]}, ABOUT, ("3.6.0", "3.10.0")))).content

    assert content.count("too few runs for an interval") == 2


def test_what_no_run_told_is_not_shown() -> None:
    """Results of another tool: no version, fault or digest of theirs is on the page, and no name twice."""
    tables = season(runs=600)
    untold = dict.fromkeys(("kafka", "topology", "profile", "fault", "phase", "role", "since_kafka"), "unknown")
    shop: Row = {"test_id": "suites.shop.test_7", "since_commit": None, "timeline": None, "provider": "allure"}
    foreign = {
        name: [row | {key: value for key, value in (untold | shop).items() if key in row} for row in tables[name]]
        for name in ("attempts", "tests", "flakiness", "change_points")
    }
    for change in foreign["change_points"]:
        change["since_run"] = "488bb1d7cb1733a70d9d-000004"
    assert foreign["change_points"]

    for attempt in foreign["attempts"]:
        attempt |= {"kind": "LIVENESS" if attempt["kind"] else None, "reproduce": None}

    flaky = next(test for test in foreign["tests"] if test["standing"] == "FLAKY")
    summary = summary_of({**foreign, "tests": [flaky]}, ABOUT)
    assert "worse since 20" in str(summary["attention"])

    for reported in (re.sub(r"<[^>]*>", "", page(summary)), report_markdown(summary)):
        assert "unknown" not in reported
        assert "488bb1d7" not in reported
    assert str(summary["headline"]).startswith("54 of 571 runs failed; 29 could not be decided")
    assert "<br>" not in Site(summary).test(flaky, "unknown")
    assert "<code></code>" not in environment(Site(summary)).content


def test_a_stage_that_has_not_ended_is_not_timed() -> None:
    """The page is made before it is known how long that took: no 0.0 s is claimed."""
    content = environment(Site(summary_of({}, {**ABOUT, "seconds": {"facts": 12.4, "page": 0.0}}))).content

    assert "facts 12.4 s" in content
    assert "page" not in content.partition("<dt>Took</dt>")[2].partition("</dd>")[0]


def test_a_test_tells_how_many_runs_it_had() -> None:
    """A rate says little without: ticks are of the latest runs only, which is said."""
    row = next(each for each in season(runs=60)["tests"] if each["inconclusive"])
    few, many = (
        list_of_tests(site_of(tests=[{**row, "runs": runs, "inconclusive": 1}])).content
        for runs in (MOST_DOTS, MOST_DOTS + 1)
    )

    assert f">{MOST_DOTS} runs · 1 inconclusive<" in few
    assert f">the last {MOST_DOTS} of {MOST_DOTS + 1} runs · 1 inconclusive<" in many


def test_a_compared_test_names_the_change_that_began_with_the_second_version() -> None:
    """Of all its faults together it may be chance; the one under which it broke is reported, and none of before."""
    tables = season(runs=600)
    row, change = tables["tests"][0], tables["change_points"][0]
    where = {name: row[name] for name in ("test_id", "profile", "provider", "topology")}

    def reported(kafka: str, *rates: float) -> str:
        moved = {"rate_before": rates[0], "rate_after": rates[1], "since_kafka": kafka}
        changes = [{**change, **where, **moved, "since_run": "run-9", "fault": "cut(zookeeper)"}]
        return comparing(Site(summary_of({**tables, "change_points": changes}, ABOUT, ("3.6.0", "3.10.0")))).content

    assert re.search(r">worse since run-9 \([^<]*\) under cut\(zookeeper\)<", reported("3.10.0", 0.0, 1.0))
    assert "worse since" not in reported("3.9.1", 0.0, 1.0) + reported("3.10.0", 1.0, 0.0)
