"""Staging: what is read from raw text, and what is set aside with which reason."""

import datetime as dt
import json

import pytest
from pyspark.sql import DataFrame, SparkSession

from pytest_kmigrate.analysis import schemas, staging
from tests.spark.frames import frame, table
from tests.spark.run_folders import HEADER, event, verdict


def _files(spark: SparkSession, file: str, text: str, folder: str = "r1") -> DataFrame:
    return frame(spark, schemas.FILES, [{"folder": folder, "file": file, "text": text}])


def _lines(spark: SparkSession, file: str, text: str) -> DataFrame:
    texts = [(number, each) for number, each in enumerate(text.split("\n"), 1) if each]
    rows = [{"folder": "r1", "file": file, "line": number, "text": each} for number, each in texts]
    return frame(spark, schemas.LINES, rows)


def _reasons(staged: DataFrame) -> list[tuple[str, int | None, str]]:
    return sorted((row.path, row.line, row.reason) for row in staging.set_aside(staged).collect())


def _folders(spark: SparkSession, *names: str) -> DataFrame:
    return frame(spark, schemas.FOLDERS, [{"folder": name, "is_complete": True} for name in names])


def test_a_header_becomes_one_typed_row(spark: SparkSession) -> None:
    """A pretty-printed run.json is read whole, its start becomes a moment, what is under `extra` is found."""
    header = {key: value for key, value in HEADER.items() if key != "reproduce"}
    text = json.dumps(
        {**header, "run_id": "a", "seed": 2**70, "extra": {"reproduce": "again", "commit": "1a2b"}}, indent=1
    )
    folder = {"folder": "r1", "is_complete": True, "timeline": "../r1/timeline.html", "digest": "00ff"}

    rows = staging.good(staging.staged_runs(frame(spark, schemas.FOLDERS, [folder]), _files(spark, "run.json", text)))

    reported = {**header, "run_id": "a", "seed": str(2**70), "reproduce": "again", "commit": "1a2b", **folder}
    reported |= {"watched": None, "software": None}
    reported["started_at"] = dt.datetime(2026, 3, 1, 10)  # noqa: DTZ001  # in the UTC of the session
    assert [row.asDict() for row in rows.collect()] == [{key: reported[key] for key in reported.keys() - {"schema"}}]


def test_what_a_header_need_not_tell_is_unknown(spark: SparkSession) -> None:
    """A run without profile, provider, requirements and the like is one all the same."""
    header = {"schema": 1, **dict.fromkeys(("run_id", "test_id", "kafka", "topology"), "x")}

    staged = staging.staged_runs(_folders(spark, "r1"), _files(spark, "run.json", json.dumps(header)))

    (row,) = staging.good(staged).collect()
    assert (row.profile, row.provider, row.requirements) == ("unknown", "unknown", [])
    assert (row.seed, row.commit, row.reproduce, row.started_at) == (None, None, None, None)


def test_a_mutant_is_another_kafka(spark: SparkSession) -> None:
    """Runs with Byteman rules loaded never share a condition with runs of the release as it is."""
    headers = {"plain": None, "mutant": "# why\nRULE lose acks\nCLASS Log\nENDRULE\n"}
    rows = [
        {"folder": k, "file": "run.json", "text": json.dumps({**HEADER, "run_id": k, "extra": {"byteman": v}})}
        for k, v in headers.items()
    ]

    staged = staging.staged_runs(_folders(spark, *headers), frame(spark, schemas.FILES, rows))

    reported = sorted((row.folder, row.kafka) for row in staging.good(staged).collect())
    assert reported == [("mutant", "3.9.1 + Byteman lose acks (1d17ee)"), ("plain", "3.9.1")]


def test_a_test_of_a_suite_is_one_wherever_it_was_installed(spark: SparkSession) -> None:
    """Version 0.1 named it by the path of its file, which split one test into three; any other path is kept."""
    suite, name = "suites/kip_866/test_copy.py", "test_it[a]"
    ids = {
        "checkout": f"{suite}::{name}",
        "installed": f"../venv/lib/python3.12/site-packages/pytest_kmigrate/{suite}::{name}",
        "today": f"pytest_kmigrate.suites.kip_866.test_copy::{name}",
        "own": f"suites/mine/test_copy.py::{name}",
    }
    rows = [
        {"folder": k, "file": "run.json", "text": json.dumps({**HEADER, "run_id": k, "test_id": v})}
        for k, v in ids.items()
    ]

    staged = staging.staged_runs(_folders(spark, *ids), frame(spark, schemas.FILES, rows))

    found = {row.folder: row.test_id for row in staging.good(staged).collect()}
    assert found == {**dict.fromkeys(ids, ids["today"]), "own": ids["own"]}


def test_a_header_that_cannot_be_used_is_set_aside(spark: SparkSession) -> None:
    """Missing, cut off, of a newer schema, without a test or with a blank one: each is reported with its own reason."""
    blanks = {"kafka": " \t", "run_id": "", "test_id": "", "topology": " "}
    texts = {
        "cut": '{"schema": 1, "run_id": "x',
        "newer": json.dumps({**HEADER, "run_id": "n", "schema": 2}),
        "without-test": json.dumps({"schema": 1, "run_id": "y", "kafka": "3.9.1", "topology": "t"}),
        "a-list": "[1, 2]",
        **{f"no-{key}": json.dumps({**HEADER, "run_id": "b", key: blank}) for key, blank in blanks.items()},
    }
    files = frame(spark, schemas.FILES, [{"folder": k, "file": "run.json", "text": v} for k, v in texts.items()])

    staged = staging.staged_runs(_folders(spark, "empty", *texts), files)

    shape = "run.json is not a JSON object of the expected shape; it begins: "
    newer = "schema version 2 is newer than 1, the newest one known here: analyze it with a newer pytest-kmigrate"
    blank = 'run.json: expected {} to be a text that is not blank, got "{}"'
    assert staging.good(staged).count() == 0
    assert _reasons(staged) == [
        ("a-list/run.json", None, shape + "[1, 2]"),
        ("cut/run.json", None, shape + '{"schema": 1, "run_id": "x'),
        ("empty/run.json", None, "run.json is missing, empty or too large to be a header"),
        ("newer/run.json", None, newer),
        ("no-kafka/run.json", None, blank.format("kafka", " \ufffd")),
        ("no-run_id/run.json", None, blank.format("run_id", "")),
        ("no-test_id/run.json", None, blank.format("test_id", "")),
        ("no-topology/run.json", None, blank.format("topology", " ")),
        ("without-test/run.json", None, "run.json has no test_id"),
    ]


def test_a_header_of_an_older_version_is_read_as_if_written_today(spark: SparkSession) -> None:
    """What an older version named otherwise is found where it was; an unknown version is reported."""
    texts = {
        "older": json.dumps({**HEADER, "run_id": "o", "schema": 0, "test_id": None, "test": {"name": "t0"}}),
        "today": json.dumps({**HEADER, "run_id": "t", "test": {"name": "not looked at"}}),
        "never": json.dumps({**HEADER, "run_id": "n", "schema": -1}),
    }
    files = frame(spark, schemas.FILES, [{"folder": k, "file": "run.json", "text": v} for k, v in texts.items()])
    older = {0: {"test_id": "get_json_object(text, '$.test.name')"}}

    staged = staging.staged_runs(_folders(spark, *texts), files, older)

    assert {row.folder: row.test_id for row in staging.good(staged).collect()} == {
        "older": "t0",
        "today": HEADER["test_id"],
    }
    assert _reasons(staged) == [("never/run.json", None, "schema version -1 was never one of ours")]


def test_a_clock_that_was_not_set_costs_a_run_only_its_place_in_time(spark: SparkSession) -> None:
    """A start before Kafka was or after tomorrow is a notice: the run stays, without a start."""
    starts = {"then": "1970-01-01T00:00:01Z", "some-day": "2999-01-01T00:00:00Z", "real": HEADER["started_at"]}
    rows = [
        {"folder": k, "file": "run.json", "text": json.dumps({**HEADER, "run_id": k, "started_at": v})}
        for k, v in starts.items()
    ]

    staged = staging.staged_runs(_folders(spark, *starts), frame(spark, schemas.FILES, rows))

    assert {row.folder: row.started_at is None for row in staging.good(staged).collect()} == {
        "then": True,
        "some-day": True,
        "real": False,
    }
    reported = [(row.path, row.is_run) for row in staging.set_aside(staged).orderBy("path").collect()]
    assert reported == [("some-day/run.json", False), ("then/run.json", False)]


def _runs(spark: SparkSession, *rows: tuple[str, str, str, bool, int]) -> DataFrame:
    """Folder, run id, content, whether it is complete, and the hour it began in."""
    shown = [
        {"folder": folder, "run_id": run_id, "digest": digest, "is_complete": is_complete, "timeline": f"{folder}.html"}
        | {"test_id": "t", "started_at": dt.datetime(2026, 3, 1, hour)}  # noqa: DTZ001  # in the UTC of the session
        for folder, run_id, digest, is_complete, hour in rows
    ]
    return table(spark, "runs", shown)


def test_a_copied_run_counts_once(spark: SparkSession) -> None:
    """A complete one counts, else the first folder; the other says where that is, and nothing is missing for it.

    Of folders without a manifest, as while one is being copied, the content is unknown: their headers identify them.
    """
    rows = [
        ("a", "one", "1", True, 10),
        ("b", "one", "1", True, 10),
        ("c", "two", "2", False, 10),
        ("d", "two", "3", True, 10),
        ("e", "three", "4", False, 10),
        ("f", "three", "5", False, 10),
    ]

    once = staging.counted_once(_runs(spark, *rows))

    assert sorted(row.folder for row in staging.good(once).collect()) == ["a", "d", "e"]
    assert _reasons(once) == [
        ("b/run.json", None, "a copy of run one, which is counted from a"),
        ("c/run.json", None, "a copy of run two, which is counted from d"),
        ("f/run.json", None, "a copy of run three, which is counted from e"),
    ]
    assert {row.is_copy for row in once.where("reason IS NOT NULL").collect()} == {True}


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_runs_with_one_id_the_same_one_always_counts(spark: SparkSession, order: int) -> None:
    """The complete one, then the one that began first, then the first folder, in whatever order they were read."""
    rows = [
        ("a", "complete", "1", False, 9),
        ("b", "complete", "2", True, 10),
        ("c", "earlier", "3", True, 11),
        ("d", "earlier", "4", True, 10),
        ("e", "judged again", "5", True, 10),
        ("f", "judged again", "6", True, 10),
    ]

    once = staging.counted_once(_runs(spark, *rows[::order]))

    reported = "not counted: its run id, {}, is also that of another run, in {}, which is counted"
    assert sorted(row.folder for row in staging.good(once).collect()) == ["b", "d", "e"]
    assert [(path, reason.partition(" (of such")[0]) for path, _, reason in _reasons(once)] == [
        ("a/run.json", reported.format("complete", "b")),
        ("c/run.json", reported.format("earlier", "d")),
        ("f/run.json", reported.format("judged again", "e")),
    ]
    assert {row.is_copy for row in once.where("reason IS NOT NULL").collect()} == {False}


def test_an_event_before_the_one_told_before_it_is_set_aside(spark: SparkSession) -> None:
    """Each jump of the clock costs one event, be it backwards or forwards and back."""
    texts = [json.dumps({"seq": seq, **event(at_ms, "state")}) for seq, at_ms in enumerate([1, 5, 2, 3, 900, 4, 6])]

    staged = staging.staged_events(_lines(spark, "history.jsonl", "\n".join(texts)))

    assert [row.seq for row in staging.good(staged).orderBy("seq").collect()] == [0, 1, 3, 4, 6]
    jump = "the clock ran backwards: at_ns is {}000000, and that of the line before it {}000000"
    assert [reason for _, _, reason in _reasons(staged)] == [jump.format(2, 5), jump.format(4, 900)]


def test_verdict_lines_are_read_one_by_one(spark: SparkSession) -> None:
    """Bad lines are set aside by number; blank ones are nothing; good ones around them are read."""
    seen = {"expected": "e", "observed": "o", "at_ns": 7, "evidence": ["event 3"]}
    line = verdict(outcome="VIOLATES", kind="SAFETY", requirements=["R1"], violations=[seen], known_bugs=["KAFKA-1"])
    good = json.dumps({**line, "facts": {"acknowledged": 5, "nested": {"a": [{"b": "} {"}, {"b": float("nan")}]}}})
    lines = [good, "", '{"check": "cut', '{"check": "c"}', json.dumps(verdict(outcome="MAYBE")), good + " trailing"]
    lines += [good + good, f"{good} {good}"]

    staged = staging.staged_verdicts(_lines(spark, "verdicts.jsonl", "\n".join(lines)))

    (row,) = [each.asDict(recursive=True) for each in staging.good(staged).collect()]
    assert json.loads(row.pop("facts")) == {"acknowledged": 5, "nested": {"a": [{"b": "} {"}, {"b": "NaN"}]}}
    added = {"anomaly": None, "about": None, "standing": False, "counts": True}  # as version 0.1 wrote them
    assert row == {"folder": "r1", **{key: value for key, value in line.items() if key != "facts"}, **added}
    expected = "unknown outcome: expected one of NOT_APPLICABLE, CONFORMS, INCONCLUSIVE, VIOLATES; got MAYBE"
    begins = "the line is not a JSON object of the expected shape; it begins: "
    assert _reasons(staged) == [
        ("r1/verdicts.jsonl", 3, begins + '{"check": "cut'),
        ("r1/verdicts.jsonl", 4, "the line has no outcome"),
        ("r1/verdicts.jsonl", 5, expected),
        *(("r1/verdicts.jsonl", line, begins + good[:80]) for line in (6, 7, 8)),
    ]


def test_a_verdict_that_was_not_asked_for_counts_where_it_says_something_new(spark: SparkSession) -> None:
    """As ``Verdict.counts`` has it: neither nothing, nor a known bug."""
    red = {"outcome": "VIOLATES", "kind": "SAFETY"}
    lines = [
        verdict(**red, standing=True),
        verdict(**red, standing=True, known_bugs=["KAFKA-1"]),
        verdict(outcome="INCONCLUSIVE", kind="VACUOUS", standing=True),
        verdict(outcome="INCONCLUSIVE", kind="HARNESS", standing=True),
        verdict(outcome="NOT_APPLICABLE", standing=True),
        verdict(outcome="INCONCLUSIVE", kind="VACUOUS"),
    ]
    staged = staging.staged_verdicts(_lines(spark, "verdicts.jsonl", "\n".join(map(json.dumps, lines))))
    assert [row.counts for row in staged.orderBy("line").collect()] == [True, False, False, True, False, True]


def test_a_history_cut_off_by_a_kill_keeps_what_came_before(spark: SparkSession) -> None:
    """The torn last line of a killed run is set aside; the events before it stay, of known kinds or not."""
    kinds = ["run-began", "of-1999"]
    events = [{"seq": n + 3, **event(n, kind, any="thing"), "node": "n"} for n, kind in enumerate(kinds)]
    whole = [json.dumps(each) for each in events]

    staged = staging.staged_events(_lines(spark, "history.jsonl", "\n".join([*whole, '{"seq": 2, "at_'])))

    rows = [row.asDict() for row in staging.good(staged).orderBy("seq").collect()]
    assert rows == [{"folder": "r1", **each, "data": '{"any":"thing"}'} for each in events]
    assert [line for _, line, _ in _reasons(staged)] == [3]


def test_states_of_older_folders_are_read_as_those_of_today(spark: SparkSession) -> None:
    """Version 0.1 had a kind for each of its two states."""
    events = [
        event(1, "phase", phase="HYBRID", previous="COPYING"),
        event(2, "migration-state", state="MIGRATION", previous=None),
        event(3, "state", of="phase", state="ALL_KRAFT", previous="HYBRID"),
    ]
    lines = "\n".join(json.dumps({"seq": seq, **each}) for seq, each in enumerate(events))

    rows = staging.good(staging.staged_events(_lines(spark, "history.jsonl", lines))).orderBy("seq").collect()

    assert {row.kind for row in rows} == {"state"}
    reported = [json.loads(row.data) for row in rows]
    assert [(each["of"], each["state"]) for each in reported] == [
        ("phase", "HYBRID"),
        ("migration_state", "MIGRATION"),
        ("phase", "ALL_KRAFT"),
    ]
