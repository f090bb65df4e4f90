"""Nights of schedules: from headers and histories to cells, pairs, nights and shrinks."""

import json
from collections.abc import Sequence

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from pytest_kmigrate.analysis import chaos, facts, schemas
from tests.spark.frames import CELL, frame, table
from tests.spark.run_folders import Line, fault, migration

KILL = {"id": 1, "fault": {"kind": "kill", "target": "active-controller"}, "begin": {"state": "HYBRID"}}
CUT = {
    "id": 2,
    "fault": {"kind": "cut", "source": "a", "destination": "b", "stream": "back"},
    "begin": {"state": "HYBRID", "of": 1},
}
CUT_SHORT = ("INCONCLUSIVE", ())
PART = {"id": 3, "fault": {"kind": "partition", "groups": ["a", "b"]}, "begin": {"state": "FINALIZED"}}


def _header(
    folder: str, happenings: Sequence[object] | None, walk: Sequence[str] = ("HYBRID",), **night: object
) -> Line:
    line = {"document": "kip-866", "walk": walk, "seed": 5, "happenings": happenings}
    extra = {"schedule": line if happenings is not None else None, "night": night or None}
    return {"folder": folder, "file": "run.json", "text": json.dumps({"extra": extra})}


def _schedules(spark: SparkSession, *headers: Line, **ends: Line) -> DataFrame:
    """``ends``: by folder, the data of its run-ended."""
    runs = table(spark, "runs", [{"folder": each["folder"]} for each in headers])
    events = {folder: [{"kind": "run-ended", "at_ns": 9, "node": None, "data": data}] for folder, data in ends.items()}
    return chaos.schedules(frame(spark, schemas.FILES, headers), runs, _in_phases(spark, **events))


def _in_phases(spark: SparkSession, **events: list[Line]) -> DataFrame:
    rows = [
        {**each, "seq": seq, "folder": folder, "data": json.dumps(each["data"])}
        for folder, of_run in events.items()
        for seq, each in enumerate(of_run)
    ]
    schema = StructType([StructField("folder", StringType()), *schemas.EVENT_JSON.fields])
    return facts.phases(frame(spark, schema, rows))


def _attempts(spark: SparkSession, **outcomes: tuple[str, tuple[str, ...]]) -> DataFrame:
    rows = [
        {**CELL, "folder": folder, "outcome": outcome, "known_bugs": list(bugs), "duration_ms": 60_000.0}
        for folder, (outcome, bugs) in outcomes.items()
    ]
    return table(spark, "attempts", rows)


def test_a_run_knows_its_line_and_each_of_its_faults_is_a_cell(spark: SparkSession) -> None:
    """In the state where it began; one that never began is placed where the line has it, and is not witnessed."""
    drawn = _schedules(
        spark,
        _header("r1", [KILL, CUT, PART], digest="d", line=2, lines=3, shard=1, shards=2),
        _header("r2", None),
        _header("r3", [KILL]),
    )
    reported = drawn.select("folder", "night", "line", "lines", "shard", "happenings").orderBy("folder").collect()
    assert [tuple(each) for each in reported] == [("r1", "d", 2, 3, 1, 3), ("r3", None, None, None, None, 1)]
    never = {"kind": "fault-not-witnessed", "at_ns": 1, "node": None, "data": {"fault_id": "fault-12", "witness": "no"}}
    seen, unseen = fault(11_000, "cut(b)", number=11), fault(10_500, "kill(a)", number=10, witnessed=False)
    history = migration(seen, unseen)

    made = chaos.happenings(drawn, _in_phases(spark, r1=[*history, never], r3=migration())).orderBy("folder", "number")

    rows = made.select("folder", "effect", "state", "aim", "is_begun", "is_witnessed").collect()
    assert [tuple(each) for each in rows] == [
        ("r1", "kill", "HYBRID", "active-controller", True, False),
        ("r1", "cut", "HYBRID", "a->b", True, True),
        ("r1", "partition", "FINALIZED", "a | b", False, False),
        ("r3", "kill", "HYBRID", "active-controller", False, False),
    ]


def test_a_happening_is_of_the_state_of_its_line(spark: SparkSession) -> None:
    """What begins as the copy does is recorded before the copy is, which is over in no time."""
    at_the_copy = {**KILL, "begin": {"state": "COPYING"}}
    drawn = _schedules(spark, _header("r1", [at_the_copy]))
    early = migration(fault(9_900, "kill(a)", number=1))
    history = sorted(early, key=lambda each: int(str(each["at_ns"])))
    (row,) = chaos.happenings(drawn, _in_phases(spark, r1=history)).collect()
    assert (row["state"], row["is_begun"]) == ("COPYING", True)


def test_a_line_without_a_walk_has_cells_without_a_state(spark: SparkSession) -> None:
    """As those that its document declares, though its run has phases: they would be cells that nothing visits."""
    begun = {**KILL, "begin": {}}
    drawn = _schedules(spark, _header("r1", [begun], walk=()), _header("r2", [begun]))
    history = migration(fault(11_000, "kill(a)", number=1))

    made = chaos.happenings(drawn, _in_phases(spark, r1=history, r2=history)).orderBy("folder").collect()

    assert [(each["state"], each["is_begun"]) for each in made] == [("", True), ("HYBRID", True)]


def _happening(folder: str, effect: str, began_s: int, healed_s: int, number: int = 1, **more: object) -> Line:
    times = {"began_ns": began_s * 10**9, "healed_ns": healed_s * 10**9}
    whole = {"state": "HYBRID", "aim": "x", "is_begun": True, "is_witnessed": True, "witness": "w"}
    return {"folder": folder, "effect": effect, "number": number, **times, **whole, **more}


def test_a_cell_counts_what_was_witnessed_and_how_those_runs_ended(spark: SparkSession) -> None:
    """A fault that did not bite is no answer; runs that shrink a red repeat what is known."""
    happenings = table(
        spark,
        "happenings",
        [
            *(_happening(folder, "kill", 1, 2) for folder in ("r1", "r2", "r3", "s1")),
            _happening("r4", "kill", 1, 2, is_witnessed=False, witness="no trace"),
        ],
    )
    drawn = table(
        spark, "schedules", [{"folder": each} for each in ("r1", "r2", "r3", "r4")] + [{"folder": "s1", "shrinks": "x"}]
    )
    attempts = _attempts(
        spark,
        r1=("CONFORMS", ()),
        r2=("VIOLATES", ("BUG-1",)),
        r3=("VIOLATES", ()),
        r4=("VIOLATES", ()),
        s1=("VIOLATES", ()),
    )
    (row,) = chaos.chaos_cells(happenings, drawn, attempts).collect()
    counts = ("runs", "begun", "witnessed", "answered", "conforming", "violating", "new_violating")
    assert [row[each] for each in counts] == [4, 4, 3, 3, 1, 2, 1]
    assert (row["known_bugs"], row["why_unseen"], row["example"], row["median_s"]) == (
        ["BUG-1"],
        "no trace",
        "r3",
        60.0,
    )
    assert 0 < row["low"] < 2 / 3 < row["high"] < 1


def test_pairs_are_what_really_overlapped(spark: SparkSession) -> None:
    """By when each began and was healed, whatever the line had asked for."""
    happenings = table(
        spark,
        "happenings",
        [
            *(_happening("r1", "kill", 1, 10), _happening("r1", "cut", 2, 5, 2), _happening("r1", "slow", 12, 13, 3)),
            *(_happening("r2", "kill", 1, 10), _happening("r2", "cut", 2, 15, 2, is_witnessed=False)),
            _happening("r3", "kill", 1, 10, is_begun=False),
        ],
    )
    drawn = table(spark, "schedules", [{"folder": each} for each in ("r1", "r2", "r3")])
    attempts = _attempts(spark, r1=("VIOLATES", ()), r2=("CONFORMS", ()), r3=("CONFORMS", ()))
    rows = chaos.chaos_pairs(happenings, drawn, attempts).collect()
    found = {(each["first"], each["second"], each["relation"]): (each["witnessed"], each["violating"]) for each in rows}
    assert found == {
        ("kill", "cut", "inside"): (1, 1),
        ("kill", "slow", "follows"): (1, 1),
        ("cut", "slow", "follows"): (1, 1),
        ("kill", "cut", "overlaps"): (0, 0),
    }


def test_a_night_that_misses_lines_is_not_called_whole(spark: SparkSession) -> None:
    """A line whose run has no end, or that Ctrl-C cut, is missing, however late; a second run of a line counts once."""
    drawn = _schedules(
        spark,
        *(
            _header(f"r{n}", [KILL], digest="d", line=line, lines=5, shard=1, shards=2)
            for n, line in enumerate((1, 1, 3))
        ),
        _header("r8", [KILL], digest="d", line=5, lines=5, shard=2, shards=2),
        _header("r9", [KILL], digest="d", line=4, lines=5, shard=2, shards=2),
        _header("w1", [KILL], digest="e", line=1, lines=1, shard=1, shards=1),
        _header("x1", [KILL], digest="d", line=2, lines=5, shard=1, shards=1, shrinks="r0", signature="s"),
        **{folder: {"test": "passed"} for folder in ("r0", "w1", "x1")},
        r1={"test": "failed"},
        r2={"test": "known-bug", "known_bug": "BUG-1"},
        r8={"seals": {}},
    )
    attempts = _attempts(spark, **dict.fromkeys(("r0", "r1", "r2", "r8", "r9", "w1", "x1"), ("CONFORMS", ())))
    rows = {each["night"]: each for each in chaos.chaos_nights(drawn, attempts).collect()}
    found = rows["d"]
    assert (found["lines"], found["carried_out"], found["missing"], found["is_whole"]) == (5, 2, ["2", "4", "5"], False)
    assert (found["shards"], found["shards_seen"]) == (2, 2)
    assert rows["e"]["is_whole"]


def test_a_night_of_eight_machines_is_whole_when_the_one_that_died_went_on(spark: SparkSession) -> None:
    """Its folder has a run that was interrupted and no others; the same command later carries out what is missing."""
    lines, machines, died = 24, 8, 5

    def night(*, again: bool) -> Row:
        headers, ends, cut = [], dict[str, Line](), f"shard-{died}/cut"
        for line in range(1, lines + 1):
            shard = (line - 1) % machines + 1
            of = {"digest": "d", "line": line, "lines": lines, "shard": shard, "shards": machines}
            if shard != died or again:
                headers.append(_header(f"shard-{shard}/r{line}", [KILL], **of))
                ends[f"shard-{shard}/r{line}"] = {"test": "passed"}
            if line == died:
                headers.append(_header(cut, [KILL], **of))
        attempts = _attempts(spark, **dict.fromkeys(ends, ("CONFORMS", ())), **{cut: CUT_SHORT})
        (row,) = chaos.chaos_nights(_schedules(spark, *headers, **ends), attempts).collect()
        return row

    before, after = night(again=False), night(again=True)
    assert (before["is_whole"], before["missing"], before["carried_out"]) == (False, ["5", "13", "21"], 21)
    assert (after["is_whole"], after["missing"], after["carried_out"]) == (True, [], lines)
    assert (before["shards"], before["shards_seen"], after["shards_seen"]) == (machines, machines, machines)


def test_a_shrink_is_known_by_its_runs(spark: SparkSession) -> None:
    """The first three are replays; what is left is the smallest line that shows the red."""
    lines = {"s1": 3, "s2": 3, "s3": 3, "s4": 2, "s5": 1}
    drawn = table(
        spark,
        "schedules",
        [
            {
                "folder": each,
                "shrinks": "run",
                "signature": "BUG-1",
                "happenings": size,
                "walk": ["A"],
                "schedule": f"{size}",
            }
            for each, size in lines.items()
        ],
    )
    red = ("s1", "s3", "s4")
    attempts = _attempts(spark, **{each: ("VIOLATES" if each in red else "CONFORMS", ()) for each in lines})
    verdicts = table(
        spark,
        "verdicts",
        [
            {"folder": each, "outcome": "VIOLATES", "check": "c", "known_bugs": ["BUG-1"], "counts": True}
            for each in red
        ],
    )
    (row,) = chaos.shrinks(drawn, attempts, verdicts).collect()
    assert (row["runs"], row["replays"], row["shown"], row["happenings"], row["left"]) == (5, 3, 2, 3, 2)
    assert (row["schedule"], row["folder"], row["run_id"], row["seconds"]) == ("2", "s4", "run", 300.0)
    assert 0 < row["p_low"] < 2 / 3 < row["p_high"] < 1


def test_schedules_are_one_test_to_requirements_and_none_to_flakiness(spark: SparkSession) -> None:
    """500 drawn lines are no 500 tests that were run once."""
    rows = [
        {**CELL, "folder": each, "test_id": f"a::test_schedule[{each}]", "fault": f"kill({each})"}
        for each in ("r1", "r2")
    ]
    attempts = table(spark, "attempts", [*rows, {**CELL, "folder": "o", "test_id": "a::test_other[x]"}])
    drawn = table(spark, "schedules", [{"folder": "r1"}, {"folder": "r2"}])
    assert [each["folder"] for each in chaos.besides_schedules(attempts, drawn).collect()] == ["o"]
    together = chaos.with_schedules_as_one(attempts, drawn).select("test_id", "fault", "phase", "role").distinct()
    assert sorted(map(tuple, together.collect())) == [
        ("a::test_other[x]", "kill(active-controller)", "HYBRID", "controller"),
        ("a::test_schedule", chaos.A_SCHEDULE, "none", "none"),
    ]
