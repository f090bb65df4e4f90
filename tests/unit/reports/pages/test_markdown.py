"""Markdown: short enough for a comment, in order of urgency, and nothing in it that a run said works as markup."""

import re

import pytest

from pytest_kmigrate.reports.pages.markdown import MOST_BYTES, report_markdown
from pytest_kmigrate.reports.summary.rows import Row
from pytest_kmigrate.reports.summary.summary import TABLES, Summary, summary_of
from tests.unit.reports.fabricated_tables import ABOUT, season


@pytest.fixture(scope="module")
def summary() -> Summary:
    """A season in which everything happened, with two versions compared."""
    return summary_of(season(runs=600), ABOUT, ("3.9.1", "3.10.0"))


def test_the_most_urgent_comes_first(summary: Summary) -> None:
    """Headline, the comparison that was asked for, what needs a human, then of all else the worst."""
    reported = report_markdown(summary)
    heads = re.findall(r"^#+ (.*)$", reported, re.MULTILINE)
    assert heads[0] == summary["headline"]
    assert heads[1].startswith("Kafka 3.9.1 to 3.10.0")
    assert heads[2:6] == ["Requirements", "Tests", "Durations", "Failures"]
    evidence = ["Versions", "Requirements violated", "Anomalies of client operations"]
    assert heads[6:] == ["Needs a human", *evidence, "Flakes", "Got worse", "Causes"]


def test_what_the_site_has_is_told_in_a_few_lines(summary: Summary) -> None:
    """Versions with what they prove, requirements, anomalies with a counterexample, causes; at most five of a kind."""
    reported = report_markdown(summary)
    assert re.search(
        r"^\| 3\.10\.0 \| 200 \| .* none broken in \d+ runs, so at most 2% at 95 % ", reported, re.MULTILINE
    )
    assert re.search(
        r"^- `K866-\S+` \*\*safety violation\*\* in \d+ of \d+ runs, \d+ violate(; \d+ inconclusive)? \(Kafka 3\.9\.1",
        reported,
        re.MULTILINE,
    )
    assert re.search(
        r"^- lost write, SAFETY: \d+ in \d+ runs \(Kafka 3\.9\.1\)\n  `acknowledged: ", reported, re.MULTILINE
    )
    assert "goes along with `kill(active-controller) HYBRID`: 40 of 80 runs with it, 4 of 160 without (q " in reported
    named = reported.partition("## Requirements violated")[2].partition("##")[0]
    assert named.count("\n- ") == 5
    assert "more in the report" in named


def test_a_violated_requirement_is_told_with_the_checks_that_were_red(summary: Summary) -> None:
    """A check that is red counts for all its test claims: the comment does not say more than that."""
    reported = report_markdown(summary)
    assert re.search(r"^- `K866-\S+` .*, by `no_acked_record_lost`$", reported, re.MULTILINE)


def test_a_requirement_is_not_said_to_have_broken_safety_more_often_than_it_did(summary: Summary) -> None:
    """Of nine runs that violate it one broke SAFETY; the site says 1 of 12, too."""
    row = {**summary["requirements"][0], "runs": 12, "violating": 9, "conforming": 3, "inconclusive": 0}
    safety, other = (
        report_markdown({**summary, "requirements": [{**row, "safety_violations": broken}]}) for broken in (1, 0)
    )

    assert "**safety violation** in 1 of 12 runs, 9 violate (" in safety
    assert "**violates** in 9 of 12 runs (" in other


def test_better_is_not_mixed_with_worse(summary: Summary) -> None:
    """Each under its own head, and each with how likely it is by chance."""
    point, moved = summary["change_points"][0], summary["trend_changes"][0]
    better = {**point, "test_id": "t::mended", "rate_before": 0.9, "rate_after": 0.1}
    quicker = {**moved, "name": "quicker", "direction": "BETTER"}
    reported = report_markdown({**summary, "change_points": [point, better], "trend_changes": [moved, quicker]})
    worse, _, rest = reported.partition("## Got worse")[2].partition("## Got better")
    assert worse.count("\n- ") == 2
    assert re.findall(r"\n- `(\w+) \(", rest.partition("##")[0]) == ["mended", "quicker"]
    assert worse.count("(p ") == rest.partition("##")[0].count("(p ") == 2


def test_what_lowers_a_failure_is_no_cause(summary: Summary) -> None:
    """The likeliest circumstance may be one that prevents it: then the next that raises it is reported."""
    first = next(row for row in summary["causes"] if "HYBRID" in row["level"] and row["rank"] == 1)
    preventing = {**first, "level": "kafka 4", "lift": 0.0}
    reported = report_markdown({**summary, "causes": [preventing, {**first, "rank": 2}]})
    causes = reported.partition("## Causes")[2].partition("##")[0]
    assert re.findall(r"goes along with `([^`]*)`", causes) == ["kill(active-controller) HYBRID"]


def test_every_table_has_its_columns(summary: Summary) -> None:
    """A bar in a message does not begin a new cell: each row of a table has as many cells as its head."""
    reported = report_markdown(summary)
    tables = re.findall(r"(?:^\|.*\|\n)+", reported, re.MULTILINE)
    assert any(r"\|" in table for table in tables)
    for table in tables:
        lines = table.splitlines()
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {lines[0].count("|")}


def test_a_comment_always_fits() -> None:
    """A thousand concerns with endless messages in a script of four bytes per letter stay under the limit."""
    flake: Row = season(runs=60)["flakiness"][0] | {"standing": "FLAKY", "test_id": "t::" + "\U00010348" * 5_000}
    summary = summary_of({name: [] for name in TABLES}, ABOUT)
    concern: Row = {"level": "FLAKY", "title": "\U00010348" * 999, "condition": "c" * 999, "detail": "\U00010348" * 999}
    full: Summary = {
        **summary,
        "attention": [concern | {"example": "\U00010348" * 999}] * 1_000,
        "flakiness": [flake] * 1_000,
    }
    reported = report_markdown(full)
    assert len(reported.encode()) < MOST_BYTES
    assert "985 more in the report." in reported


def test_what_does_not_fit_is_left_out_whole(summary: Summary, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least urgent parts go first, none is cut in the middle, and a line says so."""
    monkeypatch.setattr("pytest_kmigrate.reports.pages.markdown.MOST_BYTES", 4_000)
    reported = report_markdown(summary)
    assert len(reported.encode()) < 4_000
    assert reported.rstrip().endswith("More than fits here is in the report itself.")
    assert "## Causes" not in reported


def test_nothing_a_run_said_works_as_markup(summary: Summary) -> None:
    """Mentions, references, tags and backticks of a message stand in code, where they mean nothing."""
    concern: Row = {"level": "VIOLATES", "title": "t::`x`", "condition": "@all #1 <b>", "detail": "*d*"}
    reported = report_markdown({**summary, "attention": [concern | {"example": "see `a` @all <img> \n# b"}]})
    assert "`` see `a` @all <img> # b ``" not in reported
    assert "``see `a` @all <img> # b``" in reported
    assert "`` `x` ``" in reported
    assert "@\u200ball \\#1 \\<b\\>" in reported
    assert r"\*d\*" in reported


def test_a_good_night_is_short() -> None:
    """Nothing to report: no empty tables."""
    reported = report_markdown(summary_of({name: [] for name in TABLES}, ABOUT))
    assert "Nothing. Every test that gave an answer conforms." in reported
    assert re.findall(r"^## (.*)$", reported, re.MULTILINE) == ["Needs a human"]
