"""The summary: what needs a human comes first, and everything else worst first."""

from pytest_kmigrate.catalogue import requirements
from pytest_kmigrate.reports.analyze import _about
from pytest_kmigrate.reports.pages.markdown import report_markdown
from pytest_kmigrate.reports.pages.page import page
from pytest_kmigrate.reports.summary.rows import COUNTED_IN, Row, worst, worst_runs
from pytest_kmigrate.reports.summary.summary import Summary, summary_of
from tests.unit.reports.fabricated_tables import ABOUT, season
from tests.unit.reports.single_rows import attempted, listed

ALL = sum(not each.covered_by for each in requirements("kip-866"))


def _checked(attempt: Row, *classes: str) -> Row:
    """What a run's operations would have shown."""
    return {"folder": attempt["folder"], "classes": list(classes)}


def _summary(tests: list[Row], attempts: list[Row]) -> Summary:
    return summary_of({"tests": tests, "attempts": attempts}, ABOUT)


def test_flaky_tests_are_those_of_the_ranking() -> None:
    """A test that flakes under two faults is one, whatever else it does; the page of flakes has no other."""
    reported = summary_of(season(runs=240), ABOUT)

    flaky = {row["test_id"] for row in reported["flakiness"] if row["standing"] == "FLAKY"}
    assert reported["totals"]["flaky_tests"] == len(flaky) > 0


def test_how_to_make_the_report_again_is_a_command_for_a_shell() -> None:
    """Whatever is in the names of folders."""
    about = _about("my runs", "out", "spark://a:1", ("3.6.0", "3.9.1"), ["os=folder:a b-{}"], {})
    assert about["command"] == (
        "kmigrate analyze 'my runs' --out out --master spark://a:1 --compare 3.6.0 3.9.1 --label 'os=folder:a b-{}'"
    )
    assert f"`{about['command']}`" in report_markdown(summary_of(season(runs=20), about))


def test_tests_are_listed_worst_first() -> None:
    """A reader who stops after the first line has read the worst."""
    summary = _summary(
        [listed("b", "CONFORMS"), listed("a", "FLAKY"), listed("c", "SAFETY")],
        [attempted("c", "VIOLATES", "SAFETY"), attempted("a", "VIOLATES", "LIVENESS")],
    )

    assert [test["test_id"] for test in summary["tests"]] == ["c", "a", "b"]


def test_the_headline_says_the_worst() -> None:
    """Safety before violation before no answer before all is well; one run is not plural."""
    safety = _summary([listed("c", "SAFETY")], [attempted("c", "VIOLATES", "SAFETY")])
    fine = _summary([listed("c", "CONFORMS")], [attempted("c", "CONFORMS"), attempted("c", "CONFORMS", attempt=2)])

    assert ">1 of 1 run broke a safety requirement</h1>" in page(safety)
    assert f">All 2 runs conform; 0 of {ALL} requirements were asked</h1>" in page(fine)
    assert "Nothing. Every test that gave an answer conforms." in page(fine)


def test_of_what_could_not_be_read_nothing_is_claimed() -> None:
    """Five runs conform, of two more one file or more was set aside: the report does not say that everything conforms.

    A folder that is no run is no loss.
    """
    damaged: Row = {"path": "b/verdicts.jsonl", "line": 1, "reason": "torn", "is_run": True}
    aside: list[Row] = [damaged, {**damaged, "line": 2}, {**damaged, "path": "a/run.json"}]
    stranger: Row = {**damaged, "path": "notes", "is_run": False}

    def reported(*rows: Row, outcome: str = "CONFORMS") -> Summary:
        attempts = [attempted("t", outcome, attempt=number) for number in range(5)]
        return summary_of({"attempts": attempts, "set_aside": list(rows)}, ABOUT)

    assert reported(stranger)["headline"] == f"All 5 runs conform; 0 of {ALL} requirements were asked"
    assert reported(stranger)["attention"] == []
    assert reported(*aside)["headline"] == "No violation in 5 runs; 2 paths set aside may change that"
    assert reported(*aside, outcome="VIOLATES")["headline"] == "5 of 5 runs failed; 2 paths set aside may change that"
    (concern,) = reported(*aside, stranger)["attention"]
    assert (concern["level"], concern["title"]) == ("INCONCLUSIVE", "2 paths set aside")
    assert concern["example"] == "a/run.json: torn"


def test_infra_nights_count_against_nobody() -> None:
    """What violated in one is without an answer in headline, totals, exit status and versions; a lost record is not."""
    bad = attempted("t", "VIOLATES", "LIVENESS", attempt=2, is_aside=True)
    summary = _summary([listed("t", "CONFORMS")], [attempted("t", "CONFORMS"), bad])
    lost = _summary([listed("t", "SAFETY")], [attempted("t", "VIOLATES", "SAFETY"), bad])

    assert summary["headline"] == "No violation in 2 runs; 1 could not be decided"
    assert (summary["totals"]["outcomes"]["VIOLATES"], summary["totals"]["outcomes"]["INCONCLUSIVE"]) == (0, 1)
    assert [(row["violating"], row["inconclusive"], row["rate"]) for row in summary["versions"]] == [(0, 1, 0.0)]
    assert [each["totals"]["outcome"] for each in (summary, lost)] == ["INCONCLUSIVE", "VIOLATES"]
    assert lost["headline"] == "1 of 1 run broke a safety requirement; 1 could not be decided"


def test_the_worst_outcome_is_that_of_merged_verdicts() -> None:
    """Safety, violates, inconclusive, conforms, nothing: whatever there is more of."""
    columns = list(COUNTED_IN.values())
    counts = dict.fromkeys(columns, 0)
    rows: list[Row] = [
        {**counts, **dict.fromkeys(columns[first:], 9), column: 1} for first, column in enumerate(columns)
    ]
    assert [worst(row) for row in rows] == ["SAFETY", "VIOLATES", "INCONCLUSIVE", "CONFORMS", "NOT_APPLICABLE"]
    assert [worst_runs(row) for row in rows] == [1] * 5


def test_a_version_is_told_with_what_its_runs_prove() -> None:
    """Newest first; 299 clean runs exclude 1 %; one broken safety requirement leaves no such claim."""
    clean = [attempted("t", "CONFORMS", kafka="3.10.0", attempt=n) for n in range(299)]
    broken = [attempted("t", "VIOLATES", "SAFETY", kafka="3.9.1")]

    tables = {"attempts": [*broken, *clean], "checked_classes": [_checked(each, "lost write") for each in clean]}

    newest, older = summary_of(tables, ABOUT)["versions"]

    assert (newest["kafka"], newest["runs"], newest["rate"]) == ("3.10.0", 299, 0.0)
    assert 0.0099 < float(str(newest["safety_bound"])) < 0.01
    assert (older["safety_bound"], older["safety_violations"], older["rate"]) == (None, 1, 1.0)


def test_safety_is_claimed_only_of_runs_whose_operations_were_checked() -> None:
    """A web shop's runs, runs of no client and runs without an answer say nothing of lost records: nor is it said.

    Nor do runs whose clients had nothing acknowledged, or were never read back.
    """
    ends = ("CONFORMS", "CONFORMS", "INCONCLUSIVE", "CONFORMS", "CONFORMS")
    ours = [attempted("t", end, attempt=number) for number, end in enumerate(ends)]
    shop = [attempted("shop", "CONFORMS", kafka="unknown", attempt=number) for number in range(9)]
    counted = [{"folder": each["folder"], "operations": 7} for each in ours]
    classes = [_checked(each, "lost write", "phantom") for each in ours[:3]] + [_checked(ours[3], "phantom")]
    tests = [listed("t", "CONFORMS")]

    tables = {"tests": tests, "attempts": [*ours, *shop], "operation_counts": counted, "checked_classes": classes}
    summary = summary_of(tables, ABOUT)

    checked, foreign = summary["versions"]
    assert (checked["safety_runs"], checked["checked"]) == (2, {"lost write": 3, "phantom": 4})
    assert (foreign["safety_runs"], foreign["safety_bound"]) == (0, None)
    reported = page(summary)
    assert "none broken in 2 runs" in reported
    assert "none broken in 9" not in reported
    assert "not checked" in reported


def test_anomalies_are_summed_by_class_and_version() -> None:
    """How many in how many runs, with the shortest counterexamples; one whose run was set aside has no version."""
    tables = season(runs=240)
    lost = {**tables["anomalies"][0], "counterexample": "short"}
    stray = {**lost, "folder": "set aside"}

    (row,) = summary_of({**tables, "anomalies": [*tables["anomalies"], lost, stray]}, ABOUT)["anomaly_classes"]

    runs = len({each["folder"] for each in tables["anomalies"]})
    assert (row["class"], row["kafka"], row["runs"]) == ("lost write", "3.9.1", runs)
    assert row["anomalies"] == 2 * len(tables["anomalies"]) + 2
    examples = row["examples"]
    assert isinstance(examples, list)
    assert examples[0]["counterexample"] == "short"
