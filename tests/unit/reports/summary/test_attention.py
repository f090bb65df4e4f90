"""What needs a human: the most urgent first, each thing once, with a run that shows it."""

from pytest_kmigrate.reports.summary.attention import attention
from pytest_kmigrate.reports.summary.rows import Row
from tests.unit.reports.single_rows import CONDITION, attempted, listed

_KILLED: Row = {"test_id": "t", "fault": "kill", "phase": "p", "role": "r", "since_run": "run-9"}


def _bug(name: str, kind: str = "LIVENESS") -> Row:
    return {"bug": name, "kafka": "3.6.0", "runs": 2, "kinds": [kind], "checks": ["c"], "example": "e"}


def _attention(tests: list[Row], bugs: list[Row], attempts: list[Row]) -> list[Row]:
    return attention({"bugs": bugs}, tests, attempts)


def test_the_most_urgent_comes_first() -> None:
    """Safety, other violations, known bugs, flaky, depends on conditions, no answer; green tests are no concern."""
    standings = ["CONFORMS", "VARIES", "FLAKY", "VIOLATES", "SAFETY"]
    tests = [listed(standing, standing) for standing in standings]
    kinds = {"SAFETY": "SAFETY"}
    attempts = [attempted(each, "VIOLATES", kinds.get(each, "LIVENESS")) for each in standings[1:]]

    rows = _attention(tests, [_bug("KAFKA-1")], [*attempts, attempted("x", "INCONCLUSIVE", "INFRA")])

    assert [row["level"] for row in rows] == ["SAFETY", "VIOLATES", "DEFECT", "FLAKY", "VARIES", "INCONCLUSIVE"]


def test_a_violation_that_a_known_bug_explains_is_told_once() -> None:
    """All red runs of a test carry a bug: the bug is the concern. One that does not: the test is one as well."""
    explained = attempted("t", "VIOLATES", "LIVENESS", known_bugs=["KAFKA-1"])
    puzzle = attempted("t", "VIOLATES", "LIVENESS", summary="nobody knows")
    tests = [listed("t", "VIOLATES")]

    assert [row["title"] for row in _attention(tests, [_bug("KAFKA-1")], [explained])] == ["KAFKA-1"]
    rows = _attention(tests, [_bug("KAFKA-1")], [puzzle, explained])
    assert [(row["title"], row["example"]) for row in rows] == [("t", "nobody knows"), ("KAFKA-1", "e")]


def test_what_flakes_by_a_known_bug_is_told_as_the_bug() -> None:
    """Under some conditions a bug bites only sometimes: still one concern. By chance once, it is two."""
    explained = attempted("t", "VIOLATES", "LIVENESS", known_bugs=["KAFKA-1"])
    tests = [listed("t", "FLAKY")]

    rows = _attention(tests, [_bug("KAFKA-1")], [explained])
    both = _attention(tests, [_bug("KAFKA-1")], [explained, attempted("t", "VIOLATES", "LIVENESS")])

    assert [row["level"] for row in rows] == ["DEFECT"]
    assert [row["level"] for row in both] == ["DEFECT", "FLAKY"]


def test_a_known_bug_leads_to_its_latest_run() -> None:
    """On the same version: the test it is in, its timeline, and how to see it again."""
    seen = [
        attempted(
            f"f::{name}", "VIOLATES", kafka=kafka, known_bugs=["KAFKA-1"], started_at=at, timeline=name, reproduce=name
        )
        for name, kafka, at in (("old", "3.6.0", "2026-01-01"), ("new", "3.6.0", "2026-01-02"), ("x", "3.9.1", "2027"))
    ]

    (row,) = _attention([], [_bug("KAFKA-1")], seen[::-1])

    assert (row["test_id"], row["timeline"], row["reproduce"]) == ("f::new", "new", "new")
    assert row["detail"] == "Seen in 2 runs by c, latest in new"


def test_a_known_bug_of_several_versions_is_one_concern() -> None:
    """With the runs, the checks and the worst of all of them; the example is of the version that was run last."""
    later = {**_bug("KAFKA-1", "SAFETY"), "kafka": "3.9.1", "runs": 3, "checks": ["b", "c"], "example": "later"}
    run = attempted("f::x", "VIOLATES", kafka="3.9.1", known_bugs=["KAFKA-1"], started_at="2027")

    (row,) = _attention([], [_bug("KAFKA-1"), later], [run])

    assert (row["condition"], row["example"]) == ("Kafka 3.6.0, 3.9.1", "later")
    assert row["detail"] == "Seen in 5 runs by b, c, latest in x"


def test_what_is_new_comes_before_what_is_known() -> None:
    """A known defect has a name, a cause and a fix; what is not known yet may be anything."""
    rows = _attention([listed("t", "VIOLATES")], [_bug("KAFKA-1", "SAFETY")], [attempted("t", "VIOLATES", "LIVENESS")])

    assert [row["title"] for row in rows] == ["t", "KAFKA-1"]


def test_a_known_defect_says_what_it_costs_and_where_it_is_fixed() -> None:
    """Of those that the catalogue has; the gravest first."""
    rows = _attention([], [_bug("KAFKA-16539"), _bug("KAFKA-17146")], [])

    assert [str(row["title"]).partition(":")[0] for row in rows] == ["KAFKA-17146", "KAFKA-16539"]
    assert "Fixed in: 3.7.1, 3.8.0. Seen in 2 runs" in str(rows[1]["detail"])
    assert "Fixed in: no release. " in str(rows[0]["detail"])


def test_departures_are_one_row_at_the_end() -> None:
    """Kafka differs from the text in every run of it; it asks nothing of a reader."""
    bugs = [_bug("KAFKA-1"), *(_bug(name) for name in ("offset-written-after-its-batch", "former-controller-notifies"))]

    rows = _attention([], bugs, [attempted("x", "INCONCLUSIVE", "INFRA")])

    assert [row["level"] for row in rows] == ["DEFECT", "INCONCLUSIVE", "DEPARTURE"]
    assert rows[-1]["title"] == "2 departures of Kafka 3.6.0 from the text"
    assert len(rows[-1]["members"]) == 2  # type: ignore[arg-type]


def test_runs_without_an_answer_are_grouped_by_reason() -> None:
    """Ten interrupted runs are one thing to repair; the most frequent reason comes first."""
    interrupted = [attempted(f"t{n}", "INCONCLUSIVE", "HARNESS", check="run finished") for n in range(3)]
    vacuous = attempted("t1", "INCONCLUSIVE", "VACUOUS")

    rows = _attention([], [], [vacuous, *interrupted])

    assert [(row["title"], row["detail"]) for row in rows] == [
        ("3 runs without an answer", "in 3 tests"),
        ("1 run without an answer", "in 1 test"),
    ]
    assert [str(row["condition"]).partition(" · ")[0] for row in rows] == [
        "trouble of the harness",
        "no opportunity to violate",
    ]


def test_a_run_of_a_bad_night_is_no_reason_to_call_anybody() -> None:
    """Explained by a known bug but for one run that is set aside, a test needs no human; what counts does."""
    explained = attempted("t", "VIOLATES", "LIVENESS", known_bugs=["KAFKA-1"])

    def titles(*, is_aside: bool) -> list[object]:
        attempts = [explained, attempted("t", "VIOLATES", "LIVENESS", is_aside=is_aside)]
        return [row["title"] for row in _attention([listed("t", "VIOLATES")], [], attempts)]

    assert (titles(is_aside=True), titles(is_aside=False)) == ([], ["t"])


def test_a_lost_record_is_shown_by_the_newest_run_that_lost_one() -> None:
    """Not by a later run that was red for another reason; of a test that lost none the newest red run is shown."""
    kinds = ("SAFETY", "SAFETY", "LIVENESS")
    red = [attempted("t", "VIOLATES", kind, timeline=f"{place}.html") for place, kind in enumerate(kinds)]

    (lost,) = _attention([listed("t", "SAFETY")], [], red)
    (late,) = _attention([listed("t", "VIOLATES")], [], red[2:] * 2)

    assert (lost["timeline"], late["timeline"]) == ("1.html", "2.html")


def test_a_change_is_told_with_the_test_it_is_about() -> None:
    """Since when it is worse stands beside the counts; a change to the better needs no human."""
    change = {**CONDITION, **_KILLED, "since_kafka": "3.9.1"}
    rates = {"rate_before": 0.0, "rate_after": 0.5, "since_at": "2026-01-09"}
    tests, red = [listed("t", "FLAKY")], [attempted("t", "VIOLATES", "LIVENESS")]

    (worse,) = attention({"change_points": [{**change, **rates}]}, tests, red)
    (better,) = attention({"change_points": [{**change, **rates, "rate_before": 0.9}]}, tests, red)

    counts = "1 of 2 runs violate, 1 of them SAFETY; 1 inconclusive"
    assert worse["detail"] == f"{counts}; worse since run-9 (2026-01-09, Kafka 3.9.1) under kill"
    assert "since" not in str(better["detail"])


def test_a_test_that_is_red_for_good_names_the_run_it_began_with() -> None:
    """Also where too few runs are there for a change of its rate; a test that was never green began with nothing."""
    runs = [
        attempted("t", outcome, "LIVENESS", run_id=f"run-{day}", started_at=f"2026-01-0{day}", attempt=day)
        for day, outcome in enumerate(["VIOLATES", "CONFORMS", "VIOLATES", "INCONCLUSIVE", "VIOLATES"], 1)
    ]

    def detail(standing: str, attempts: list[Row]) -> str:
        rows = attention({}, [listed("t", standing)], attempts)
        return next(str(row["detail"]) for row in rows if row["test_id"] == "t")

    assert "; red in each of its last 2 runs, since run-3 (2026-01-03, Kafka 3.9.1)" in detail("VIOLATES", runs)
    assert "since" not in detail("VIOLATES", runs[2:])
    assert "since" not in detail("FLAKY", runs)


def test_a_change_of_another_version_is_not_told() -> None:
    """A series runs over versions: what began with 3.10 is no news about 3.9.1."""
    change = {**CONDITION, **_KILLED, "kafka": "3.10.0"}
    later = {"since_kafka": "3.10.0", "rate_before": 0.0, "rate_after": 0.5, "since_at": "2026-01-09"}

    (concern,) = attention(
        {"change_points": [change | later]}, [listed("t", "FLAKY")], [attempted("t", "VIOLATES", "LIVENESS")]
    )

    assert "since" not in str(concern["detail"])


def test_a_measure_that_got_worse_is_a_concern_after_the_flakes() -> None:
    """From what to what, in its unit; what got better is not one."""
    change: Row = {
        "measure": "duration_ms",
        "name": "step",
        "profile": "kip-866",
        "provider": "process",
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
        [listed("t", "FLAKY")],
        [attempted("t", "VIOLATES", "LIVENESS")],
    )

    assert [(row["level"], row["detail"]) for row in rows[1:]] == [
        ("SLOWER", "median 9.0 s before, 13.5 s since 2026-01-09")
    ]


def test_what_several_tests_fail_by_is_one_concern_with_its_cause() -> None:
    """Sixteen reds of one cluster are one thing to repair; what a test fails by alone stays its own."""
    names = [f"f::t{number}" for number in range(3)]
    red = [attempted(each, "VIOLATES", "SAFETY" if each == names[2] else "LIVENESS", folder=each) for each in names]
    own = attempted(names[0], "VIOLATES", "LIVENESS", folder="own", check="other", summary="something else")
    members = [{"cluster": "k", "folder": each, "check": "c", "text": "s"} for each in names]
    cluster = {"cluster": "k", "representative": "no leader for <n> s", "failures": 3, "checks": ["c"]}
    counts = {"with_failures": 16, "with_runs": 26, "without_failures": 0, "without_runs": 78, "tests_compared": 2}
    sure: Row = {
        "failure": "k",
        "factor": "fault",
        "level": "kill HYBRID",
        "lift": 9.0,
        "q_value": 0.001,
        "only_in": None,
    }
    tables = {"failure_clusters": [cluster], "failure_members": members, "causes": [{**sure, **counts}]}

    rows = attention(tables, [listed(each, "VIOLATES") for each in names], [*red, own])

    assert [(row["level"], row["title"]) for row in rows] == [
        ("SAFETY", "3 runs of 3 tests failed alike"),
        ("VIOLATES", "f::t0"),
    ]
    cause = "goes together with fault kill HYBRID (16 of 26 runs with it, 0 of 78 without)"
    assert rows[0]["detail"] == f"3 runs violate, 1 of them SAFETY; {cause}"
    assert (rows[0]["example"], rows[0]["cluster"], rows[0]["tests"]) == (
        "no leader for <n> s",
        "k",
        ["t0", "t1", "t2"],
    )
    assert rows[1]["example"] == "something else"


def test_a_failure_of_one_test_keeps_its_card_and_gets_its_cause() -> None:
    """What is not sure, or cannot be distinguished from the test itself, is no cause."""
    members = [{"cluster": "k", "folder": "a", "check": "c", "text": "s"}]
    counts = {"with_failures": 4, "with_runs": 4, "without_failures": 0, "without_runs": 9}
    cause: Row = {"failure": "k", "factor": "fault", "level": "kill", "lift": 9.0, "q_value": 0.001, "only_in": None}

    def detail(**more: object) -> str:
        tables = {"failure_members": members, "causes": [{**cause, **counts, **more}]}
        (row,) = attention(tables, [listed("t", "VIOLATES")], [attempted("t", "VIOLATES", "LIVENESS", folder="a")])
        return str(row["detail"])

    assert detail().endswith("; goes together with fault kill (4 of 4 runs with it, 0 of 9 without)")
    assert "goes together" not in detail(q_value=0.2)
    assert "goes together" not in detail(only_in="t")
