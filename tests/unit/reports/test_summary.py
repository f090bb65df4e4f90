"""The summary: what needs a human comes first, and everything else worst first."""

from pytest_kmigrate.reports.page import page
from pytest_kmigrate.reports.summary import About, Row, Summary, attention, summary_of

ABOUT: About = {
    "made_at": "2026-03-01T00:00:00+00:00",
    "runs_folder": "runs",
    "command": "kmigrate analyze runs --out out",
    "spark": "4",
    "python": "3.11",
    "platform": "Linux",
    "seconds": {"facts": 1.0},
}
CONDITION: Row = {"profile": "kip-866", "provider": "process", "kafka": "3.9.1", "topology": "small"}


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
        "is_flaky": standing == "FLAKY",
    }


def _attempt(test_id: str, outcome: str, kind: str | None = None, **more: object) -> Row:
    told: Row = {"check": "c", "summary": "s", "known_bugs": [], "timeline": None, "reproduce": "again", "attempt": 1}
    return {
        "test_id": test_id,
        **CONDITION,
        "outcome": outcome,
        "kind": kind,
        **told,
        "seed": "1",
        "started_at": None,
        **more,
    }


def _bug(name: str, kind: str = "LIVENESS") -> Row:
    return {"bug": name, "kafka": "3.6.0", "runs": 2, "kinds": [kind], "checks": ["c"], "example": "e"}


def _summary(tests: list[Row], attempts: list[Row]) -> Summary:
    names = (
        "requirements",
        "cells",
        "fault_effects",
        "bugs",
        "consistency",
        "consistency_facts",
        "duration_statistics",
    )
    tables: dict[str, list[Row]] = {
        **{name: [] for name in names},
        "set_aside": [],
        "tests": tests,
        "attempts": attempts,
    }
    return summary_of(tables, ABOUT)


def test_the_most_urgent_comes_first() -> None:
    """Safety, other violations, known bugs, flaky, depends on conditions, no answer; green tests are no concern."""
    standings = ["CONFORMS", "VARIES", "FLAKY", "VIOLATES", "SAFETY"]
    tests = [_test(standing, standing) for standing in standings]
    attempts = [_attempt(standing, "VIOLATES", "LIVENESS") for standing in standings[1:]]

    rows = attention(tests, [_bug("KAFKA-1")], [*attempts, _attempt("x", "INCONCLUSIVE", "INFRA")])

    assert [row["level"] for row in rows] == ["SAFETY", "VIOLATES", "BUG", "FLAKY", "VARIES", "INCONCLUSIVE"]


def test_a_violation_that_a_known_bug_explains_is_told_once() -> None:
    """All red runs of a test carry a bug: the bug is the concern. One that does not: the test is one as well."""
    explained = _attempt("t", "VIOLATES", "LIVENESS", known_bugs=["KAFKA-1"])
    puzzle = _attempt("t", "VIOLATES", "LIVENESS", summary="nobody knows")
    tests = [_test("t", "VIOLATES")]

    assert [row["title"] for row in attention(tests, [_bug("KAFKA-1")], [explained])] == ["KAFKA-1"]
    rows = attention(tests, [_bug("KAFKA-1")], [puzzle, explained])
    assert [(row["title"], row["example"]) for row in rows] == [("t", "nobody knows"), ("KAFKA-1", "e")]


def test_a_known_bug_that_breaks_safety_comes_first() -> None:
    """A lost record is most urgent even if its cause is known."""
    rows = attention([_test("t", "VIOLATES")], [_bug("KAFKA-1", "SAFETY")], [_attempt("t", "VIOLATES", "LIVENESS")])

    assert [row["title"] for row in rows] == ["KAFKA-1", "t"]


def test_runs_without_an_answer_are_grouped_by_reason() -> None:
    """Ten interrupted runs are one thing to repair; the most frequent reason comes first."""
    interrupted = [_attempt(f"t{n}", "INCONCLUSIVE", "HARNESS", check="run finished") for n in range(3)]
    vacuous = _attempt("t1", "INCONCLUSIVE", "VACUOUS")

    rows = attention([], [], [vacuous, *interrupted])

    assert [(row["title"], row["detail"]) for row in rows] == [
        ("3 runs without an answer", "in 3 tests"),
        ("1 run without an answer", "in 1 test"),
    ]


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

    assert "<h1>1 of 1 run broke a safety requirement</h1>" in page(safety)
    assert "<h1>Everything conforms in 2 runs</h1>" in page(fine)
    assert "Nothing. Every test that gave an answer conforms." in page(fine)
