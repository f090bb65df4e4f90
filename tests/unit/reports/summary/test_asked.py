"""How much of a profile was asked, on top of what was found; shares of one rule; the outcome as the terminal has it."""

import re
from collections.abc import Sequence

import pytest

from pytest_kmigrate.catalogue import requirements
from pytest_kmigrate.reports.pages.markdown import report_markdown
from pytest_kmigrate.reports.pages.page import page
from pytest_kmigrate.reports.site.overview import overview
from pytest_kmigrate.reports.site.requirements import requirements as matrix
from pytest_kmigrate.reports.site.views import Site
from pytest_kmigrate.reports.summary.rows import Row
from pytest_kmigrate.reports.summary.summary import Summary, summary_of
from tests.unit.reports.fabricated_tables import ABOUT
from tests.unit.reports.single_rows import attempted, listed

COUNTS = ("conforming", "violating", "inconclusive", "not_applicable")
CONFORMED, VIOLATED, OPEN = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)
MANY = (4, 1, 2, 0)
COUNTED = [each for each in requirements("kip-866") if each.covered_by is None]


def _requirement(name: str, counts: Sequence[int], judged_by: Sequence[str] = ("a_check",)) -> Row:
    row = {**listed("t", "CONFORMS"), "requirement": name, "judged_by": list(judged_by), "violated_by": []}
    return {**row, **dict(zip(COUNTS, counts, strict=True)), "runs": sum(counts), "safety_violations": 0}


def _outcomes(*rows: Row) -> list[Row]:
    """What a tally counts of these rows; a known defect explains what is violated."""
    return [
        {
            **{key: row[key] for key in ("requirement", "profile", "kafka")},
            "outcome": outcome if row["judged_by"] else None,
            "known_bugs": ["KAFKA-1"] if outcome == "VIOLATES" else [],
            "runs": row[column],
        }
        for row in rows
        for column, outcome in zip(COUNTS, ("CONFORMS", "VIOLATES", "INCONCLUSIVE", "NOT_APPLICABLE"), strict=True)
        if row[column]
    ]


def _summary(*rows: Row, outcome: str = "CONFORMS", aside: Sequence[Row] = ()) -> Summary:
    attempts = [attempted("t", outcome, "LIVENESS" if outcome == "VIOLATES" else None, attempt=n) for n in (1, 2, 3)]
    tables = {"attempts": attempts, "requirements": list(rows), "set_aside": list(aside)}
    return summary_of({**tables, "requirement_outcomes": _outcomes(*rows)}, ABOUT)


def test_all_is_well_of_how_much() -> None:
    """Four requirements in three runs are four of many, in the headline and on top of the overview."""
    summary = _summary(*[_requirement(each.id, CONFORMED) for each in COUNTED[:4]])

    reported = f"4 of {len(COUNTED)} requirements were asked"
    assert summary["headline"] == f"All 3 runs conform; {reported}"
    said = re.sub("<[^>]+>", "", overview(Site(summary)).content)
    assert f"{reported}: 4 conform, {len(COUNTED) - 4} not asked" in said.partition("Needs a human")[2]
    assert reported in report_markdown(summary)


def test_what_known_bugs_violate_is_said_though_every_run_conforms() -> None:
    """Runs about something else conform all the same."""
    summary = _summary(_requirement(COUNTED[0].id, CONFORMED), _requirement(COUNTED[1].id, VIOLATED))

    assert summary["headline"] == f"All 3 runs conform; 2 of {len(COUNTED)} requirements were asked"
    said = re.sub("<[^>]+>", "", overview(Site(summary)).content)
    assert f"asked: 1 with a known defect, 1 conform, {len(COUNTED) - 2} not asked" in said


def test_asked_is_what_a_check_could_have_found_violated() -> None:
    """Not what a test only claims, nor what another requirement covers, nor what no catalogue knows."""
    covered = next(each for each in requirements("kip-866") if each.covered_by)
    claimed = _requirement(COUNTED[0].id, OPEN, judged_by=())
    rows = [claimed, _requirement(covered.id, CONFORMED), _requirement("none", CONFORMED)]
    later = {**_requirement(COUNTED[1].id, VIOLATED), "kafka": "3.10.0"}

    (asked,) = _summary(*rows, _requirement(COUNTED[1].id, CONFORMED), later)["asked"]

    assert (asked["requirements"], asked["asked"], asked["defect"], asked["conforms"]) == (len(COUNTED), 1, 1, 0)


def test_results_of_other_tools_ask_nothing() -> None:
    """Without a profile of ours nothing is said of requirements."""
    summary = summary_of({"attempts": [attempted("shop", "CONFORMS", profile="unknown")]}, ABOUT)

    assert (summary["asked"], summary["headline"]) == ([], "The run conforms")


@pytest.mark.parametrize(
    ("outcome", "is_run", "shown"),
    [
        ("CONFORMS", True, "INCONCLUSIVE"),
        ("CONFORMS", False, "CONFORMS"),
        ("VIOLATES", True, "VIOLATES"),
        ("NOT_APPLICABLE", False, "NOT APPLICABLE"),
    ],
)
def test_the_page_shows_the_outcome_that_the_terminal_does(outcome: str, is_run: bool, shown: str) -> None:
    """A damaged folder makes it INCONCLUSIVE: by its word, and by its colour in the bar of all runs."""
    aside: Row = {"path": "r9/run.json", "line": None, "reason": "not a JSON object", "is_run": is_run}
    summary = _summary(outcome=outcome, aside=[aside])

    content = overview(Site(summary)).content
    assert summary["totals"]["outcome"] == shown.replace(" ", "_")
    assert re.findall(r'class="outcome"><span class="chip"[^>]*>([A-Z ]+)<', content) == [shown]
    assert ('title="1 set aside"' in content) is is_run


def test_a_share_is_one_of_runs_with_an_answer_wherever_it_stands() -> None:
    """Matrix, headline, concern and comment count alike; runs without an answer stand beside, in words."""
    attempts = [
        attempted("t", outcome, "LIVENESS" if outcome == "VIOLATES" else None, attempt=number)
        for number, outcome in enumerate(["CONFORMS"] * 4 + ["VIOLATES"] + ["INCONCLUSIVE"] * 2)
    ]
    test = {**listed("t", "VIOLATES"), **dict(zip(COUNTS, MANY, strict=True)), "runs": 7, "safety_violations": 0}
    tables = {"attempts": attempts, "tests": [test], "requirements": [_requirement(COUNTED[0].id, MANY)]}
    tables["requirement_outcomes"] = _outcomes(*tables["requirements"])
    summary = summary_of(tables, ABOUT)

    site = Site(summary)
    reported = re.sub("<[^>]+>", " ", matrix(site).content + overview(site).content + summary["headline"])
    assert reported.count("1 of 5 runs") == 3
    assert reported.count("2 inconclusive") >= 2
    assert "of 7" not in reported + report_markdown(summary)
    assert "in 1 of 5 runs; 2 inconclusive" in report_markdown(summary)


def test_an_interval_and_the_claim_beside_it_are_one_number() -> None:
    """Three clean runs leave 64 % possible, in the column of rates as in that of claims."""
    attempts = [attempted("t", "CONFORMS", attempt=number) for number in (1, 2, 3)]
    checked = [{"folder": each["folder"], "classes": ["lost write"]} for each in attempts]
    summary = summary_of({"attempts": attempts, "checked_classes": checked}, ABOUT)

    row = re.sub("<[^>]+>", " ", overview(Site(summary)).content.partition("Versions")[2])
    assert re.search(r"0% +0% to 64% .*so at most 64% at 95 %", row)
    assert "0% (0% to 64%)" in report_markdown(summary)


def test_the_title_of_the_page_says_how_much() -> None:
    """It is all that a browser's tab shows."""
    assert f"0 of {len(COUNTED)} requirements were asked" in page(_summary()).partition("</title>")[0]


def test_a_night_in_which_most_runs_gave_no_answer_says_so_first() -> None:
    """A machine that was lost is no clean night; what little was shown comes after it."""
    silent = [attempted(f"t{n}", "INCONCLUSIVE", "INFRA") for n in range(3)]
    summary = summary_of({"attempts": [*silent, attempted("t", "CONFORMS")]}, ABOUT)
    assert summary["headline"] == "3 of 4 runs gave no answer: no violation in the other 1"


def test_a_night_of_known_defects_only_is_no_red() -> None:
    """Headline, chip and tiles agree: nothing is new."""
    known = attempted("t", "VIOLATES", "LIVENESS", known_bugs=["kmigrate-7"])
    site = Site(summary_of({"attempts": [known, attempted("u", "CONFORMS")]}, ABOUT))
    content = overview(site).content
    assert ">NOTHING NEW</span>" in content
    assert ">VIOLATES</span>" not in content
    assert "<b>0</b><span>new violations</span>" in content
