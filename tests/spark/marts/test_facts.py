"""Facts: faults with their phase and witness, durations, merged outcomes."""

import functools
import json

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from pytest_kmigrate.analysis import facts, schemas
from tests.spark.frames import CELL, frame, table
from tests.spark.run_folders import Line, event, fault, migration


def _in_phases(spark: SparkSession, events: list[Line], folder: str = "r1") -> DataFrame:
    rows = [{**each, "seq": seq, "folder": folder, "data": json.dumps(each["data"])} for seq, each in enumerate(events)]
    return facts.phases(
        frame(spark, StructType([StructField("folder", StringType()), *schemas.EVENT_JSON.fields]), rows)
    )


def _run(spark: SparkSession, *requirements: str, is_complete: bool = True, folder: str = "r1") -> DataFrame:
    row = {**CELL, "folder": folder, "run_id": folder, "requirements": list(requirements), "is_complete": is_complete}
    return table(spark, "runs", [row])


def _verdict(outcome: str, kind: str | None = None, requirements: tuple[str, ...] = (), **more: object) -> Line:
    lists: Line = {"requirements": list(requirements), "known_bugs": [], "counts": True, "standing": False}
    return {"folder": "r1", "check": "c", "outcome": outcome, "kind": kind, "summary": outcome.lower(), **lists, **more}


def test_a_fault_knows_its_phase_and_its_witness(spark: SparkSession) -> None:
    """The phase is the one entered last before the fault began; a fault never seen to take effect is not witnessed."""
    seen, unseen = fault(11_000, "kill(a)"), fault(12_000, "cut(b)", witnessed=False, number=2)
    history = [*fault(500, "early", number=3), *migration(seen, unseen)]

    rows = facts.faults(_in_phases(spark, history)).selectExpr(
        "fault", "phase", "is_witnessed", "(healed_ns - began_ns) / 1000000 AS lasted_ms"
    )

    expected = [
        ("kill(a)", "HYBRID", True, 500.0),
        ("cut(b)", "HYBRID", False, 500.0),
        ("early", "unknown", True, 500.0),
    ]
    assertDataFrameEqual(rows, spark.createDataFrame(expected, rows.schema))


def test_conditions_name_faults_in_order_and_none_where_there_was_none(spark: SparkSession) -> None:
    """Runs are alike when their texts are: all faults in the order they began, each phase once."""
    runs = _run(spark).unionByName(_run(spark, folder="r2"))
    of_faults = facts.faults(_in_phases(spark, migration(fault(11_000, "z"), fault(12_000, "a", number=2))))

    rows = facts.conditions(runs, of_faults).select("folder", "fault", "phase")

    expected = [("r1", "z + a", "HYBRID"), ("r2", "none", "none")]
    assertDataFrameEqual(rows, spark.createDataFrame(expected, rows.schema))


def test_a_condition_names_the_roles_that_were_hit(spark: SparkSession) -> None:
    """Of all nodes of all faults, each role once and in order; where no node was hit as the fault says, if it does."""
    hit = {
        "any node": [("a", ["controller-3000", "broker-1"]), ("b", ["broker-0", "broker-2"])],
        "not applied": [("kill(random-broker)", None)],
        "other words": [("kill(active-controller)", ["broker-1"])],
        "both in one": [("kill(every-combined)", None), ("kill(x)", ["combined-1"])],
        "nobody": [("tamper(/migration)", [])],
        "spared": [],
    }
    runs = functools.reduce(DataFrame.unionByName, [_run(spark, folder=folder) for folder in hit])
    of_faults = [
        {"folder": folder, "fault": name, "phase": "HYBRID", "targets": targets, "seq": seq}
        for folder, faults_of_run in hit.items()
        for seq, (name, targets) in enumerate(faults_of_run)
    ]

    rows = facts.conditions(runs, table(spark, "faults", of_faults)).select("folder", "role").collect()

    roles = {
        "any node": "broker + controller",
        "not applied": "broker",
        "other words": "broker",
        "both in one": "combined",
    }
    assert {row.folder: row.role for row in rows} == {**roles, "nobody": "unknown", "spared": "none"}


def test_durations_of_run_phases_and_steps(spark: SparkSession) -> None:
    """A phase lasts to the next one or the end, a step from its begin to its own end; an unended step has none."""
    unended = event(29_000, "step-began", step="finalize")
    history = [*migration(whole_run_ms=30_000), unended, event(29_500, "settled", label="copied", took_s=1.5)]

    rows = facts.durations(_in_phases(spark, history)).select("what", "name", "took_ms")

    expected = [
        ("run", "whole run", 30_000.0),
        ("phase", "ZOOKEEPER", 9_000.0),
        ("phase", "HYBRID", 10_000.0),
        ("phase", "FINALIZED", 10_000.0),
        ("step", "roll brokers into migration mode", 7_000.0),
        ("settling", "copied", 1_500.0),
    ]
    assertDataFrameEqual(rows, spark.createDataFrame(expected, rows.schema))


def test_without_its_end_a_run_took_no_known_time(spark: SparkSession) -> None:
    """Nor did the phase it was in; what had ended before is known."""
    rows = facts.durations(_in_phases(spark, migration()[:-1])).select("what", "name", "took_ms")

    expected = [
        ("phase", "ZOOKEEPER", 9_000.0),
        ("phase", "HYBRID", 10_000.0),
        ("step", "roll brokers into migration mode", 7_000.0),
    ]
    assertDataFrameEqual(rows, spark.createDataFrame(expected, rows.schema))


def test_a_clock_that_jumped_within_a_run_does_not_lengthen_it(spark: SparkSession) -> None:
    """The run ended when it says so; what would have ended before it began took no known time."""
    jumped = event(900_000, "state", of="phase", state="HYBRID", previous="ZOOKEEPER")
    history = [*migration()[:4], jumped, *migration()[5:]]

    rows = facts.durations(_in_phases(spark, history)).select("what", "name", "took_ms").where("what != 'step'")

    expected = [
        ("run", "whole run", 30_000.0),
        ("phase", "ZOOKEEPER", 899_000.0),
        ("phase", "FINALIZED", 10_000.0),
    ]
    assertDataFrameEqual(rows, spark.createDataFrame(expected, rows.schema))


def test_a_run_is_settled_only_where_that_is_told(spark: SparkSession) -> None:
    """Every workload that began has ended, or there was none by the end; what is unknown is not taken for granted."""
    # With a dash before it an event is set aside.
    began, ended, end, torn = "workload-began", "workload-ended", "run-ended", None
    histories: dict[str, list[str | None]] = {
        "missing": [],
        "cut": ["run-began"],
        "torn": [began, ended, torn],
        "at work": [began, began, ended, end],
        "set aside": [began, f"-{began}", ended, end],
        "ended": [began, ended],
        "without clients": ["run-began", end],
    }
    runs = functools.reduce(DataFrame.unionByName, [_run(spark, folder=folder) for folder in histories])
    rows = [
        {"folder": folder, "line": line, "kind": kind and kind.lstrip("-")}
        | {"reason": "bad" if kind is None or kind[0] == "-" else None}
        for folder, kinds in histories.items()
        for line, kind in enumerate(kinds, 1)
    ]
    staged = spark.createDataFrame(
        [tuple(row.values()) for row in rows], "folder string, line long, kind string, reason string"
    )

    reported = {row.folder: (row.has_ended, row.is_at_work) for row in facts.endings(runs, staged).collect()}

    assert reported == {
        "missing": (False, True),
        "cut": (False, True),
        "torn": (True, True),
        "at work": (True, True),
        "set aside": (True, True),
        "ended": (False, False),
        "without clients": (True, False),
    }


@pytest.mark.parametrize(
    ("staged", "is_complete", "is_damaged", "outcome", "kind"),
    [
        ([_verdict("CONFORMS")], True, False, "CONFORMS", None),
        ([_verdict("CONFORMS"), _verdict("NOT_APPLICABLE")], True, False, "CONFORMS", None),
        ([_verdict("CONFORMS"), _verdict("INCONCLUSIVE", "VACUOUS")], True, False, "INCONCLUSIVE", "VACUOUS"),
        ([_verdict("VIOLATES", "LIVENESS"), _verdict("VIOLATES", "SAFETY")], True, False, "VIOLATES", "SAFETY"),
        ([], True, False, "INCONCLUSIVE", "VACUOUS"),
        ([_verdict("CONFORMS")], False, False, "INCONCLUSIVE", "HARNESS"),
        ([_verdict("CONFORMS")], True, True, "INCONCLUSIVE", "HARNESS"),
        ([_verdict("VIOLATES", "SAFETY")], False, True, "VIOLATES", "SAFETY"),
    ],
)
def test_a_run_ends_as_its_worst_verdict(  # one line of the table above
    spark: SparkSession, staged: list[Line], is_complete: bool, is_damaged: bool, outcome: str, kind: str | None
) -> None:
    """An interrupted, silent or damaged run is INCONCLUSIVE at best, and a violation once seen stays."""
    runs = _run(spark, is_complete=is_complete)
    damaged = spark.createDataFrame([("r1",)] * is_damaged, "folder string")
    verdicts = facts.verdicts(runs, table(spark, "verdicts", staged), damaged)
    conditions = facts.conditions(runs, table(spark, "faults", []))

    rows = facts.attempts(conditions, verdicts, table(spark, "durations", []))

    assertSchemaEqual(rows.to(schemas.ATTEMPTS).schema, schemas.ATTEMPTS)
    assert [(row.outcome, row.kind, row.attempt) for row in rows.collect()] == [(outcome, kind, 1)]


def test_only_a_violation_names_bugs(spark: SparkSession) -> None:
    """A check carries the bugs that would explain its red; while it is green they are no finding."""
    staged = [
        _verdict("CONFORMS", known_bugs=["KAFKA-1"]),
        _verdict("VIOLATES", "LIVENESS", known_bugs=["KAFKA-3", "KAFKA-2"]),
    ]
    runs = _run(spark)
    conditions = facts.conditions(runs, table(spark, "faults", []))

    rows = facts.attempts(conditions, table(spark, "verdicts", staged), table(spark, "durations", []))

    assert [row.known_bugs for row in rows.collect()] == [["KAFKA-2", "KAFKA-3"]]


def test_a_bug_that_explains_one_violation_does_not_excuse_another(spark: SparkSession) -> None:
    """A record that was lost in a run with a known bug needs a human as ever."""
    staged = [_verdict("VIOLATES", "LIVENESS", known_bugs=["KAFKA-1"]), _verdict("VIOLATES", "SAFETY")]
    conditions = facts.conditions(_run(spark), table(spark, "faults", []))

    rows = facts.attempts(conditions, table(spark, "verdicts", staged), table(spark, "durations", []))

    assert [row.known_bugs for row in rows.collect()] == [[]]


def test_a_bug_explains_the_requirements_it_broke(spark: SparkSession) -> None:
    """Of a run in which a known bug broke one requirement, and who knows what another, only the first names the bug."""
    staged = [
        _verdict("VIOLATES", "LIVENESS", requirements=("A",), known_bugs=["KAFKA-1"]),
        _verdict("VIOLATES", "LIVENESS", requirements=("B",)),
    ]
    of_attempts = table(spark, "attempts", [{**CELL, "folder": "r1", "known_bugs": ["KAFKA-1"]}])

    rows = facts.requirement_attempts(of_attempts, _run(spark, "A", "B", "C"), table(spark, "verdicts", staged))

    assert {row.requirement: row.known_bugs for row in rows.collect()} == {"A": ["KAFKA-1"], "B": [], "C": []}


def test_requirements_get_the_worst_verdict_on_them(spark: SparkSession) -> None:
    """A verdict that names none speaks for all the run claims; a claimed one that nothing judged is INCONCLUSIVE."""
    staged = [_verdict("CONFORMS", requirements=("A",)), _verdict("VIOLATES", "SAFETY", requirements=("A", "B"))]
    of_attempts = table(spark, "attempts", [{**CELL, "folder": "r1"}])

    named = facts.requirement_attempts(of_attempts, _run(spark, "A", "C"), table(spark, "verdicts", staged))
    unnamed = facts.requirement_attempts(
        of_attempts, _run(spark, "A", "C"), table(spark, "verdicts", [_verdict("CONFORMS")])
    )
    without = facts.requirement_attempts(of_attempts, _run(spark), table(spark, "verdicts", [_verdict("CONFORMS")]))

    def reported(rows: DataFrame) -> list[tuple[str, str, str | None]]:
        return sorted((row.requirement, row.outcome, row.kind) for row in rows.collect())

    assert reported(named) == [
        ("A", "VIOLATES", "SAFETY"),
        ("B", "VIOLATES", "SAFETY"),
        ("C", "INCONCLUSIVE", "VACUOUS"),
    ]
    assert reported(unnamed) == [("A", "CONFORMS", None), ("C", "CONFORMS", None)]
    assert reported(without) == [("none", "CONFORMS", None)]


def test_each_requirement_has_its_own_outcome(spark: SparkSession) -> None:
    """A red check leaves its other requirements as they are; what nothing could violate is no row."""
    about = [
        {"requirement": "A", "outcome": "VIOLATES", "kind": "LIVENESS", "seen": 3},
        {"requirement": "B", "outcome": "CONFORMS", "kind": None, "seen": 1},
        {"requirement": "C", "outcome": "INCONCLUSIVE", "kind": "VACUOUS", "seen": 0},
    ]
    asked = _verdict("VIOLATES", "LIVENESS", check="mine", about=about)
    unasked = _verdict("CONFORMS", check="unasked", standing=True, about=[{**about[1], "requirement": "D"}])
    of_attempts = table(spark, "attempts", [{**CELL, "folder": "r1"}])

    rows = facts.requirement_attempts(of_attempts, _run(spark, "A"), table(spark, "verdicts", [asked, unasked]))

    reported = {row.requirement: (row.test_id, row.outcome, row.judged_by, row.violated_by) for row in rows.collect()}
    assert reported == {
        "A": ("t", "VIOLATES", ["mine"], ["mine"]),
        "B": ("t", "CONFORMS", ["mine"], []),
        "D": (facts.EVERY_RUN, "CONFORMS", ["unasked"], []),
    }


def test_what_does_not_count_is_no_outcome_of_the_run(spark: SparkSession) -> None:
    """A known deviation that every run shows, or a check that found nothing to look at, is of its requirement only."""
    staged = [_verdict("CONFORMS"), _verdict("VIOLATES", "LIVENESS", standing=True, counts=False, known_bugs=["K-1"])]
    conditions = facts.conditions(_run(spark), table(spark, "faults", []))

    rows = facts.attempts(conditions, table(spark, "verdicts", staged), table(spark, "durations", []))

    assert [(row.outcome, row.known_bugs) for row in rows.collect()] == [("CONFORMS", [])]


def test_a_violated_requirement_names_the_checks_that_were_red(spark: SparkSession) -> None:
    """A check names all that its test claims, so the worst ones are listed: the SAFETY one, not the late step."""
    late = _verdict("VIOLATES", "LIVENESS", requirements=("A", "B"), check="steps_completed")
    lost = _verdict("VIOLATES", "SAFETY", requirements=("A",), check="no_acked_record_lost")
    fine = _verdict("CONFORMS", requirements=("A", "B", "C"), check="phase_reached")
    of_attempts = table(spark, "attempts", [{**CELL, "folder": "r1"}])

    rows = facts.requirement_attempts(of_attempts, _run(spark), table(spark, "verdicts", [late, lost, fine]))

    reported = {row.requirement: row.violated_by for row in rows.collect()}
    assert reported == {"A": ["no_acked_record_lost"], "B": ["steps_completed"], "C": []}
