"""The summary: what needs a human comes first, and everything else worst first."""

from pytest_kmigrate.reports.attention import attention
from pytest_kmigrate.reports.page import page
from pytest_kmigrate.reports.rows import Row, worst
from pytest_kmigrate.reports.summary import Summary, summary_of
from tests.unit.reports.fabricated_tables import ABOUT, season

CONDITION: Row = {"profile": "kip-866", "provider": "process", "kafka": "3.9.1", "topology": "small"}
_KILLED: Row = {"test_id": "t", "fault": "kill", "phase": "p", "role": "r", "since_run": "run-9"}


def _test(test_id: str, standing: str) -> Row:
    counts = dict.fromkeys(
        ("runs", "conforming", "violating", "inconclusive", "not_applicable", "safety_violations"), 1
    )
    rates = dict.fromkeys(("pass_rate", "pass_rate_low", "pass_rate_high"), 0.5)
    times = {"duration_median_ms": None, "duration_p90_ms": None}
    return {
        "test_id": test_id,
        **CONDITION,
        **counts,
        **rates,
        **times,
        "standing": standing,
    }


def _attempt(test_id: str, outcome: str, kind: str | None = None, **more: object) -> Row:
    told: Row = {"check": "c", "summary": "s", "known_bugs": [], "timeline": None, "reproduce": "again", "attempt": 1}
    return {
        "test_id": test_id,
        **CONDITION,
        "is_aside": False,
        "outcome": outcome,
        "kind": kind,
        **told,
        "seed": "1",
        "started_at": None,
        "folder": f"{test_id} {more}",
        "run_id": "r",
        "fault": "none",
        "phase": "none",
        "role": "none",
        "duration_ms": 1.0,
        **more,
    }


def _bug(name: str, kind: str = "LIVENESS") -> Row:
    return {"bug": name, "kafka": "3.6.0", "runs": 2, "kinds": [kind], "checks": ["c"], "example": "e"}


def _summary(tests: list[Row], attempts: list[Row]) -> Summary:
    return summary_of({"tests": tests, "attempts": attempts}, ABOUT)


def _attention(tests: list[Row], bugs: list[Row], attempts: list[Row]) -> list[Row]:
    return attention({"bugs": bugs}, tests, attempts)


def test_the_most_urgent_comes_first() -> None:
    """Safety, other violations, known bugs, flaky, depends on conditions, no answer; green tests are no concern."""
    standings = ["CONFORMS", "VARIES", "FLAKY", "VIOLATES", "SAFETY"]
    tests = [_test(standing, standing) for standing in standings]
    attempts = [_attempt(standing, "VIOLATES", "LIVENESS") for standing in standings[1:]]

    rows = _attention(tests, [_bug("KAFKA-1")], [*attempts, _attempt("x", "INCONCLUSIVE", "INFRA")])

    assert [row["level"] for row in rows] == ["SAFETY", "VIOLATES", "BUG", "FLAKY", "VARIES", "INCONCLUSIVE"]


def test_a_violation_that_a_known_bug_explains_is_told_once() -> None:
    """All red runs of a test carry a bug: the bug is the concern. One that does not: the test is one as well."""
    explained = _attempt("t", "VIOLATES", "LIVENESS", known_bugs=["KAFKA-1"])
    puzzle = _attempt("t", "VIOLATES", "LIVENESS", summary="nobody knows")
    tests = [_test("t", "VIOLATES")]

    assert [row["title"] for row in _attention(tests, [_bug("KAFKA-1")], [explained])] == ["KAFKA-1"]
    rows = _attention(tests, [_bug("KAFKA-1")], [puzzle, explained])
    assert [(row["title"], row["example"]) for row in rows] == [("t", "nobody knows"), ("KAFKA-1", "e")]


def test_what_flakes_by_a_known_bug_is_told_as_the_bug() -> None:
    """Under some conditions a bug bites only sometimes: still one concern. By chance once, it is two."""
    explained = _attempt("t", "VIOLATES", "LIVENESS", known_bugs=["KAFKA-1"])
    tests = [_test("t", "FLAKY")]

    rows = _attention(tests, [_bug("KAFKA-1")], [explained])
    both = _attention(tests, [_bug("KAFKA-1")], [explained, _attempt("t", "VIOLATES", "LIVENESS")])

    assert [row["level"] for row in rows] == ["BUG"]
    assert [row["level"] for row in both] == ["BUG", "FLAKY"]


def test_a_known_bug_leads_to_its_latest_run() -> None:
    """On the same version: the test it is in, its timeline, and how to see it again."""
    seen = [
        _attempt(
            f"f::{name}", "VIOLATES", kafka=kafka, known_bugs=["KAFKA-1"], started_at=at, timeline=name, reproduce=name
        )
        for name, kafka, at in (("old", "3.6.0", "2026-01-01"), ("new", "3.6.0", "2026-01-02"), ("x", "3.9.1", "2027"))
    ]

    (row,) = _attention([], [_bug("KAFKA-1")], seen[::-1])

    assert (row["test_id"], row["timeline"], row["reproduce"]) == ("f::new", "new", "new")
    assert row["detail"] == "seen in 2 runs by c, latest in new"


def test_a_known_bug_that_breaks_safety_comes_first() -> None:
    """A lost record is most urgent even if its cause is known."""
    rows = _attention([_test("t", "VIOLATES")], [_bug("KAFKA-1", "SAFETY")], [_attempt("t", "VIOLATES", "LIVENESS")])

    assert [row["title"] for row in rows] == ["KAFKA-1", "t"]


def test_runs_without_an_answer_are_grouped_by_reason() -> None:
    """Ten interrupted runs are one thing to repair; the most frequent reason comes first."""
    interrupted = [_attempt(f"t{n}", "INCONCLUSIVE", "HARNESS", check="run finished") for n in range(3)]
    vacuous = _attempt("t1", "INCONCLUSIVE", "VACUOUS")

    rows = _attention([], [], [vacuous, *interrupted])

    assert [(row["title"], row["detail"]) for row in rows] == [
        ("3 runs without an answer", "in 3 tests"),
        ("1 run without an answer", "in 1 test"),
    ]


def test_a_run_of_a_bad_night_is_no_reason_to_call_anybody() -> None:
    """Explained by a known bug but for one run that is set aside, a test needs nobody; what counts needs somebody."""
    explained = _attempt("t", "VIOLATES", "LIVENESS", known_bugs=["KAFKA-1"])

    def titles(*, is_aside: bool) -> list[object]:
        attempts = [explained, _attempt("t", "VIOLATES", "LIVENESS", is_aside=is_aside)]
        return [row["title"] for row in _attention([_test("t", "VIOLATES")], [], attempts)]

    assert (titles(is_aside=True), titles(is_aside=False)) == ([], ["t"])


def test_flaky_tests_are_those_of_the_ranking() -> None:
    """A test that flakes under two faults is one, whatever else it does; the page of flakes has no other."""
    told = summary_of(season(runs=240), ABOUT)

    flaky = {row["test_id"] for row in told["flakiness"] if row["standing"] == "FLAKY"}
    assert told["totals"]["flaky_tests"] == len(flaky) > 0


def test_tests_are_listed_worst_first() -> None:
    """A reader who stops after the first line has read the worst."""
    summary = _summary(
        [_test("b", "CONFORMS"), _test("a", "FLAKY"), _test("c", "SAFETY")],
        [_attempt("c", "VIOLATES", "SAFETY"), _attempt("a", "VIOLATES", "LIVENESS")],
    )

    assert [test["test_id"] for test in summary["tests"]] == ["c", "a", "b"]


def test_the_headline_says_the_worst() -> None:
    """Safety before violation before no answer before all is well; one run is not plural."""
    safety = _summary([_test("c", "SAFETY")], [_attempt("c", "VIOLATES", "SAFETY")])
    fine = _summary([_test("c", "CONFORMS")], [_attempt("c", "CONFORMS"), _attempt("c", "CONFORMS", attempt=2)])

    assert ">1 of 1 run broke a safety requirement</h1>" in page(safety)
    assert ">Everything conforms in 2 runs</h1>" in page(fine)
    assert "Nothing. Every test that gave an answer conforms." in page(fine)


def test_a_change_is_told_with_the_test_it_is_about() -> None:
    """Since when it is worse stands beside the counts; a change to the better needs nobody."""
    change = {**CONDITION, **_KILLED, "since_kafka": "3.9.1"}
    rates = {"rate_before": 0.0, "rate_after": 0.5, "since_at": "2026-01-09"}
    tests, red = [_test("t", "FLAKY")], [_attempt("t", "VIOLATES", "LIVENESS")]

    (worse,) = attention({"change_points": [{**change, **rates}]}, tests, red)
    (better,) = attention({"change_points": [{**change, **rates, "rate_before": 0.9}]}, tests, red)

    counts = "1 of 1 runs violate, 1 of them SAFETY; 1 inconclusive"
    assert worse["detail"] == f"{counts}; worse since run-9 (2026-01-09, Kafka 3.9.1) under kill"
    assert "since" not in str(better["detail"])


def test_a_change_of_another_version_is_not_told() -> None:
    """A series runs over versions: what began with 3.10 is no news about 3.9.1."""
    change = {**CONDITION, **_KILLED, "kafka": "3.10.0"}
    later = {"since_kafka": "3.10.0", "rate_before": 0.0, "rate_after": 0.5, "since_at": "2026-01-09"}

    (concern,) = attention(
        {"change_points": [change | later]}, [_test("t", "FLAKY")], [_attempt("t", "VIOLATES", "LIVENESS")]
    )

    assert "since" not in str(concern["detail"])


def test_a_measure_that_got_worse_is_a_concern_after_the_flakes() -> None:
    """From what to what, in its unit; what got better is not one."""
    change: Row = {
        "measure": "duration_ms",
        "name": "step",
        "topology": "small",
        "since_run": "r",
        "since_at": "2026-01-09",
        "since_kafka": "3.9.1",
        "median_before": 9_000.0,
        "median_after": 13_500.0,
        "direction": "WORSE",
    }

    rows = attention(
        {"trend_changes": [change, {**change, "direction": "BETTER"}]},
        [_test("t", "FLAKY")],
        [_attempt("t", "VIOLATES", "LIVENESS")],
    )

    assert [(row["level"], row["detail"]) for row in rows[1:]] == [
        ("SLOWER", "median 9.0 s before, 13.5 s since 2026-01-09")
    ]


def test_the_worst_outcome_is_that_of_merged_verdicts() -> None:
    """Safety, violates, inconclusive, conforms, nothing: whatever there is more of."""
    columns = ("safety_violations", "violating", "inconclusive", "conforming")
    counts = dict.fromkeys(columns, 0)
    told = [worst({**counts, **dict.fromkeys(columns[first:], 1)}) for first in range(5)]
    assert told == ["SAFETY", "VIOLATES", "INCONCLUSIVE", "CONFORMS", "NOT_APPLICABLE"]


def test_a_version_is_told_with_what_its_runs_prove() -> None:
    """Newest first; 299 clean runs exclude 1 %; one broken safety requirement leaves no such claim."""
    clean = [_attempt("t", "CONFORMS", kafka="3.10.0", attempt=n) for n in range(299)]
    broken = [_attempt("t", "VIOLATES", "SAFETY", kafka="3.9.1")]

    operations: Row = {"topic": "orders", "partition": 0, "kind": "send", "outcome": "ok", "operations": 20_000}
    counted = [{**operations, "folder": each["folder"]} for each in clean]
    tables = {"attempts": [*broken, *clean], "operation_counts": counted}

    newest, older = summary_of(tables, ABOUT)["versions"]

    assert (newest["kafka"], newest["runs"], newest["rate"]) == ("3.10.0", 299, 0.0)
    assert 0.0099 < float(str(newest["safety_bound"])) < 0.01
    assert (older["safety_bound"], older["safety_violations"], older["rate"]) == (None, 1, 1.0)


def test_safety_is_claimed_only_of_runs_whose_operations_were_checked() -> None:
    """A web shop's runs, runs of no client and runs without an answer say nothing of lost records: nor is it said."""
    ends = ("CONFORMS", "CONFORMS", "INCONCLUSIVE", "CONFORMS")
    ours = [_attempt("t", end, attempt=number) for number, end in enumerate(ends)]
    shop = [_attempt("shop", "CONFORMS", kafka="unknown", attempt=number) for number in range(9)]
    counted = [{"folder": each["folder"], "operations": at} for each, at in zip(ours, (7, 7, 7, 0), strict=True)]
    tests = [_test("t", "CONFORMS")]

    summary = summary_of({"tests": tests, "attempts": [*ours, *shop], "operation_counts": counted}, ABOUT)

    checked, foreign = summary["versions"]
    assert (checked["safety_runs"], checked["checked_runs"]) == (2, 3)
    assert (foreign["safety_runs"], foreign["safety_bound"]) == (0, None)
    told = page(summary)
    assert "none broken in 2 runs" in told
    assert "none broken in 9" not in told
    assert "not checked" in told


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
