"""Causes: which runs count for which failure, and what is ranked first."""

from collections.abc import Sequence

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.testing import assertSchemaEqual

from pytest_kmigrate.analysis.causes import causes, circumstances
from pytest_kmigrate.analysis.schemas.causes import CAUSES
from tests.spark.frames import ended, frame, table

RUNS = 40
CHECK = "no_acked_record_lost"


def _night(spark: SparkSession) -> dict[str, DataFrame]:
    """Forty runs: half with a killed controller, half with a paused broker; each in two phases, on two versions.

    Those with the kill fail in every second run, the others in one of twenty. One topology is everywhere.
    """
    attempts, faults, verdicts, members = [], [], [], []
    for number in range(RUNS):
        kills = number % 2 == 0
        fails = number % 4 == 0 or number == 1
        folder, outcome = f"r{number}", "VIOLATES" if fails else "CONFORMS"
        fault = "kill(active-controller)" if kills else "pause(random-broker)"
        role = "controller" if kills else "broker"
        kafka, phase = ("3.9.1", "3.6.0")[number // 2 % 5 % 2], ("HYBRID", "COPYING")[number // 4 % 2]
        ends = ended(outcome, "LIVENESS" if fails else None, folder=folder, check=CHECK, kafka=kafka)
        attempts.append(
            {**ends, "test_id": f"suite::test_takes_over[{fault}]", "fault": fault, "phase": phase, "role": role}
        )
        faults.append({"folder": folder, "fault": fault, "phase": phase})
        verdicts.append({"folder": folder, "check": CHECK, "outcome": outcome})
        if fails:
            members.append({"cluster": "c1", "folder": folder, "check": CHECK, "text": "lost"})
    return {
        "attempts": table(spark, "attempts", attempts),
        "faults": table(spark, "faults", faults),
        "verdicts": table(spark, "verdicts", verdicts),
        "members": frame(spark, CAUSES["failure_members"], members),
    }


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> list[Row]:
    """The causes of that night."""
    found = causes(**_night(spark))
    assertSchemaEqual(found.schema, CAUSES["causes"])
    return found.collect()


def _of(rows: Sequence[Row], what: str, factor: str) -> dict[str, Row]:
    return {row.level: row for row in rows if (row.what, row.factor) == (what, factor)}


@pytest.mark.parametrize(("what", "failure"), [("check", CHECK), ("cluster", "c1"), ("test", "suite::test_takes_over")])
def test_every_sort_of_failure_has_its_cause(rows: list[Row], what: str, failure: str) -> None:
    """Check, cluster and test, the last over its parameters: the kill is first, with counts, lift and doubt."""
    row = _of(rows, what, "fault")["kill(active-controller)"]
    counts = (row.with_failures, row.with_runs, row.without_failures, row.without_runs)
    assert (row.failure, row.rank, counts) == (failure, 1, (10, 20, 1, 20))
    assert 1 < row.lift_low < row.lift < row.lift_high
    assert row.p_value == pytest.approx(0.00334, rel=0.01)
    assert row.p_value <= row.q_value < 0.05


def test_what_was_always_together_is_named_together(rows: list[Row]) -> None:
    """The kill always hit a controller: which of the two it was is unknown, so both are first."""
    fault, role = _of(rows, "check", "fault")["kill(active-controller)"], _of(rows, "check", "role")["controller"]
    assert (fault.rank, role.rank) == (1, 1)
    assert (fault.inseparable, role.inseparable) == (["role controller"], ["fault kill(active-controller)"])
    assert _of(rows, "check", "phase")["HYBRID"].inseparable == []


def test_a_fault_that_bites_in_one_phase_only_is_found_with_it(spark: SparkSession) -> None:
    """Neither the kill alone nor the phase alone: the kill in that phase is first, and stands by itself."""
    night = _night(spark)
    bites = (F.col("fault") == "kill(active-controller)") & (F.col("phase") == "HYBRID")
    ends = F.when(bites, "VIOLATES").otherwise("CONFORMS")
    attempts = night["attempts"].withColumn("outcome", ends)
    bitten = attempts.select("folder", "outcome")
    verdicts = night["verdicts"].drop("outcome").join(bitten, "folder").select(*night["verdicts"].columns)

    rows = causes(**{**night, "attempts": attempts, "verdicts": verdicts}).collect()

    pair = _of(rows, "check", "fault in phase")["kill(active-controller) in HYBRID"]
    assert (pair.rank, pair.inseparable, pair.with_failures, pair.without_failures) == (1, [], 10, 0)
    assert _of(rows, "check", "fault")["kill(active-controller)"].rank > 1


def _suite(spark: SparkSession) -> dict[str, DataFrame]:
    """Ten tests of twelve runs, each with a fault of its own, on two versions in turn.

    The first fails in five of six runs on either version; of the other nine, six fail in half of their runs on 3.6.0.
    """
    attempts, faults, verdicts = [], [], []
    for number in range(120):
        test, run = divmod(number, 12)
        folder, fault, kafka = f"r{number}", f"kill(node-{test})", ("3.6.0", "3.9.1")[run % 2]
        fails = run % 6 < 5 if test == 0 else 1 <= test <= 6 and run % 4 == 0
        ends = ended("VIOLATES" if fails else "CONFORMS", folder=folder, check=CHECK, kafka=kafka)
        attempts.append({**ends, "test_id": f"t{test}[{run}]", "fault": fault, "phase": "HYBRID", "role": "broker"})
        faults.append({"folder": folder, "fault": fault, "phase": "HYBRID"})
        verdicts.append({"folder": folder, "check": CHECK, "outcome": ends["outcome"]})
    of_runs = {"attempts": attempts, "faults": faults, "verdicts": verdicts}
    tables = {name: table(spark, name, rows) for name, rows in of_runs.items()}
    return {**tables, "members": frame(spark, CAUSES["failure_members"], [])}


def test_a_cause_is_told_from_a_test_that_fails_by_itself(spark: SparkSession) -> None:
    """The version is first, by tests that had both; the fault of the bad test is seen in that test only, and unsure."""
    rows = causes(**_suite(spark)).where(f"failure = '{CHECK}'").collect()

    version = _of(rows, "check", "kafka")["3.6.0"]
    assert (version.rank, version.tests_compared, version.only_in) == (1, 7, None)
    counts = (version.with_failures, version.with_runs, version.without_failures, version.without_runs)
    assert counts == (6 * 3 + 6, 7 * 6, 4, 7 * 6)
    assert version.q_value < 0.01
    alone = _of(rows, "check", "fault")["kill(node-0)"]
    assert (alone.with_failures, alone.with_runs, alone.without_runs) == (10, 12, 108)
    assert (alone.tests_compared, alone.only_in) == (0, "t0")
    assert alone.p_value > 0.1
    assert alone.rank > 1


def test_what_all_runs_share_is_no_cause(rows: list[Row]) -> None:
    """The one topology of that night says nothing; what lowers the rate is ranked last."""
    assert _of(rows, "check", "topology") == {}
    last = max(row.rank for row in rows if row.what == "check")
    assert _of(rows, "check", "fault")["pause(random-broker)"].rank == last


def test_a_run_without_an_answer_says_nothing(spark: SparkSession) -> None:
    """INCONCLUSIVE runs count neither as failed nor as passed, but for clusters, which they may show too."""
    night = _night(spark)
    silent = [ended("INCONCLUSIVE", "HARNESS", folder=f"s{n}", kafka="9.9.9", check="any") for n in range(5)]
    harness = [{"cluster": "c2", "folder": "s0", "check": "any", "text": "boom"}]
    night["attempts"] = night["attempts"].unionByName(table(spark, "attempts", silent))
    night["members"] = night["members"].unionByName(frame(spark, CAUSES["failure_members"], harness))

    rows = causes(**night).where("level = '9.9.9'").collect()

    reported = [(row.what, row.failure, row.with_failures, row.with_runs, row.without_runs) for row in rows]
    assert sorted(reported) == [("cluster", "c1", 0, 5, RUNS), ("cluster", "c2", 1, 5, RUNS)]


def test_circumstances_are_each_told_once(spark: SparkSession) -> None:
    """Two faults give both, and so do two roles; none is a circumstance too."""
    attempts = [
        ended("CONFORMS", folder="two", fault="a + b", role="broker + controller"),
        ended("CONFORMS", folder="told", fault="kill(broker-1)", role="broker"),
        ended("CONFORMS", folder="spared", fault="none", phase="none", role="none"),
        ended("CONFORMS", folder="foreign", fault="unknown", phase="unknown", role="unknown", kafka="unknown"),
    ]
    faults = [
        {"folder": "two", "fault": "a", "phase": "HYBRID"},
        {"folder": "two", "fault": "b", "phase": "unknown"},
        {"folder": "told", "fault": "kill(broker-1)", "phase": "HYBRID"},
    ]

    reported = circumstances(table(spark, "attempts", attempts), table(spark, "faults", faults))

    assert sorted(
        (row.folder, f"{row.factor} {row.level}") for row in reported.where("factor <> 'topology'").collect()
    ) == [
        ("spared", "fault in phase none"),
        ("spared", "fault none"),
        ("spared", "kafka 3.9.1"),
        ("spared", "phase none"),
        ("spared", "role none"),
        ("told", "fault in phase kill(broker-1) in HYBRID"),
        ("told", "fault kill(broker-1)"),
        ("told", "kafka 3.9.1"),
        ("told", "phase HYBRID"),
        ("told", "role broker"),
        ("two", "fault a"),
        ("two", "fault b"),
        ("two", "fault in phase a in HYBRID"),
        ("two", "kafka 3.9.1"),
        ("two", "phase HYBRID"),
        ("two", "role broker"),
        ("two", "role controller"),
    ]


def test_no_run_has_no_cause(spark: SparkSession) -> None:
    """Of nothing comes an empty table."""
    tables = {name: table(spark, name, []) for name in ("attempts", "faults", "verdicts")}
    assert causes(**tables, members=frame(spark, CAUSES["failure_members"], [])).count() == 0
