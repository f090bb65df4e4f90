"""Tables of an invented season of runs, as an analysis would have written them: many tests, versions and accidents."""

import datetime as dt
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise

from pytest_kmigrate.reports.summary.estimates import interval
from pytest_kmigrate.reports.summary.rows import CELL, CONDITION, Row
from pytest_kmigrate.reports.summary.summary import About
from tests.unit.reports.fabricated_marts import FAULTS, KAFKA, TOPOLOGIES, Tables, evidence, failures, logged, times

ABOUT: About = {
    "made_at": "2026-03-01T00:00:00+00:00",
    "runs_folder": "runs",
    "command": "kmigrate analyze runs --out out",
    "spark": "4",
    "python": "3.11",
    "platform": "Linux",
    "seconds": {"spark_start": 3.6, "facts": 12.4},
}
REQUIREMENTS = (
    "K866-DW-full-parity",
    "K866-TEST-controller-failures",
    "K866-PHASE-no-metadata-loss",
    "K866-CTRL-epoch-monotonic",
    "K866-<odd> & named",
)
TESTS = (
    "survives_a_crash",
    "no_record_is_lost",
    "epochs_only_rise",
    "topics_stay_the_same",
    "rolls_back_<to>_zookeeper",
)
BEGIN = dt.datetime(2026, 1, 1, 22, tzinfo=dt.UTC)
MESSAGES = (
    "31 s without a controller, expected at most 20 s; no controller took over epoch <n>",
    "record <hex> acknowledged at offset <n>, absent from the end read of partition <n>",
    "TimeoutError: broker <n> did not leave recovery | within <n> s",
)


def season(runs: int = 240, seed: int = 7, tests: int = 5) -> Tables:
    """Every table that a report shows, with flaky tests, a change point, a bad night and anomalies in it."""
    chance = random.Random(seed)
    attempts = [_attempt(number, runs, tests, chance) for number in range(runs)]
    _number(attempts)
    pairs = [(attempt, name) for attempt in attempts for name in _requirements(str(attempt["test_id"]))]
    cell = ("requirement", *CELL)
    failed = failures(attempts)
    tables: Tables = {
        "attempts": attempts,
        "tests": _statistics(((each, {}) for each in attempts), ("test_id", *CONDITION)),
        "requirements": [
            {**row, "judged_by": ["no_acked_record_lost"], "violated_by": _red_checks(row)}
            for row in _statistics(((a, {"requirement": r}) for a, r in pairs), ("requirement", "profile", "kafka"))
        ],
        "cells": _statistics(((a, {"requirement": r}) for a, r in pairs), cell),
        **_flakes(((each, {}) for each in attempts), CELL),
        **_of_requirements(_flakes(((a, {"requirement": r}) for a, r in pairs), cell)),
        **failed,
        **logged(attempts, failed["failure_clusters"]),
        **evidence(attempts, chance),
        **times(attempts, chance),
    }
    night = {"night": BEGIN.date() + dt.timedelta(days=20), "runs": 6, "inconclusive": 5, "tests_touched": 4}
    night |= {"violating": 1, "wrong": "inconclusive", "wrong_runs": 5, "judged_runs": 6}
    tables["infra_nights"] = [{**night, "usual_rate": 0.02, "p_value": 1e-7, "reason": "broker did not leave recovery"}]
    tables["set_aside"] = [
        {"path": "night-3/r7/history.jsonl", "line": 91, "reason": "not JSON: it ends in <mid-line>", "is_run": True},
        {"path": "notes", "line": None, "reason": "not a run folder", "is_run": False},
    ]
    return tables


def _attempt(number: int, runs: int, tests: int, chance: random.Random) -> Row:
    test = number % tests
    name = TESTS[test % len(TESTS)] + (f"_{test}" if test >= len(TESTS) else "")
    kafka = KAFKA[min(3 * number // runs, 2)]
    fault, phase, role = FAULTS[number // tests % 3]
    outcome, kind = _ended(test % len(TESTS), number / runs, kafka, fault, chance)
    folder = f"night-{1 + number * 40 // runs}/run {number}"
    red = MESSAGES[1] if kind == "SAFETY" else MESSAGES[0] if kind == "LIVENESS" else MESSAGES[2]
    return {
        "folder": folder,
        "run_id": f"run-{number}",
        "test_id": f"suites/kip_866/test_migration.py::test_{name}",
        "attempt": 0,
        "profile": "kip-866",
        "provider": "process",
        "kafka": kafka,
        "topology": TOPOLOGIES[number // (3 * tests) % 2],
        "fault": fault,
        "phase": phase,
        "role": role,
        "outcome": outcome,
        "kind": kind,
        "check": "no_acked_record_lost" if kind == "SAFETY" else "controller_moves",
        "summary": "all is well" if kind is None else red,
        "known_bugs": ["KAFKA-16121"] if kind == "LIVENESS" and kafka == "3.6.0" else [],
        "duration_ms": chance.gauss(60_000, 4_000) * (1.4 if kafka == "3.10.0" else 1),
        "started_at": BEGIN + dt.timedelta(days=number * 40 // runs, minutes=7 * (number % 60)),
        "seed": str(number),
        "reproduce": f"pytest 'suites/kip_866/test_migration.py::test_{name}' --kmigrate-seed {number}",
        "timeline": f"../runs/{folder}/timeline.html" if number % 9 else None,
        "is_aside": False,
    }


def _ended(test: int, share: float, kafka: str, fault: str, chance: random.Random) -> tuple[str, str | None]:
    """Test 0 is flaky since the middle, 1 loses records rarely, 4 fails always on the last version."""
    if 0.5 < share < 0.53 or chance.random() < 0.02:
        return "INCONCLUSIVE", "INFRA"
    rate = {0: 0.35 if share > 0.5 and fault.startswith("kill") else 0.02, 4: 0.97 if kafka == "3.10.0" else 0.0}
    if chance.random() < rate.get(test, 0.0):
        return "VIOLATES", "LIVENESS"
    if test == 1 and kafka == "3.9.1" and fault.startswith("cut") and chance.random() < 0.2:
        return "VIOLATES", "SAFETY"
    return "CONFORMS", None


def _number(attempts: list[Row]) -> None:
    seen: Counter[tuple[object, ...]] = Counter()
    for each in attempts:
        key = tuple(each[name] for name in ("test_id", *CONDITION))
        seen[key] += 1
        each["attempt"] = seen[key]


def _requirements(test_id: str) -> list[str]:
    start = sum(test_id.encode()) % len(REQUIREMENTS)
    return [REQUIREMENTS[start], REQUIREMENTS[(start + 1) % len(REQUIREMENTS)]]


def _grouped(rows: Iterable[tuple[Row, Row]], keys: tuple[str, ...]) -> dict[tuple[object, ...], list[Row]]:
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for attempt, more in rows:
        groups[tuple({**attempt, **more}[key] for key in keys)].append(attempt)
    return groups


def _counts(mine: list[Row]) -> Row:
    ends = Counter(str(each["outcome"]) for each in mine)
    safety = sum(1 for each in mine if each["kind"] == "SAFETY")
    good, bad = ends["CONFORMS"], ends["VIOLATES"]
    standing = (
        "SAFETY"
        if safety
        else "FLAKY"
        if good and bad
        else "VIOLATES"
        if bad
        else "CONFORMS"
        if good
        else "INCONCLUSIVE"
    )
    return {
        "runs": len(mine),
        "conforming": good,
        "violating": bad,
        "inconclusive": ends["INCONCLUSIVE"],
        "safety_violations": safety,
        "standing": standing,
    }


def _statistics(rows: Iterable[tuple[Row, Row]], keys: tuple[str, ...]) -> list[Row]:
    made = []
    for key, mine in _grouped(rows, keys).items():
        counts = _counts(mine)
        good, bad = int(str(counts["conforming"])), int(str(counts["violating"]))
        low, high = interval(good, good + bad) if good + bad else (None, None)
        took = sorted(float(str(each["duration_ms"])) for each in mine)
        rates = {"pass_rate": good / (good + bad) if good + bad else None, "pass_rate_low": low, "pass_rate_high": high}
        times = {"duration_median_ms": took[len(took) // 2], "duration_p90_ms": took[len(took) * 9 // 10]}
        made.append({**dict(zip(keys, key, strict=True)), **counts, **rates, **times, "not_applicable": 0})
    return made


def _red_checks(row: Row) -> list[str]:
    return ["no_acked_record_lost"] if row["safety_violations"] else ["controller_moves"] if row["violating"] else []


def _of_requirements(tables: Tables) -> Tables:
    return {"requirement_flakiness": tables["flakiness"], "requirement_changes": tables["change_points"]}


def _flakes(rows: Iterable[tuple[Row, Row]], keys: tuple[str, ...]) -> Tables:
    flakiness, changes = [], []
    for key, mine in _grouped(rows, keys).items():
        cell = dict(zip(keys, key, strict=True))
        counts = _counts(mine)
        bad, answers = int(str(counts["violating"])), int(str(counts["conforming"])) + int(str(counts["violating"]))
        low, high = interval(bad, answers) if answers else (None, None)
        reds = [each["outcome"] == "VIOLATES" for each in mine]
        clean = reds[::-1].index(True) if bad else answers
        shrunk = (bad + 0.5) / (answers + 10)
        flakiness.append(
            {
                **cell,
                **counts,
                "infra_runs": sum(1 for each in mine if each["kind"] == "INFRA"),
                "flips": sum(1 for one, two in pairwise(reds) if one != two),
                "flip_rate": None,
                "wilson_low": low,
                "wilson_high": high,
                "rate": bad / answers if answers else None,
                "shrunk_rate": shrunk,
                "shrunk_low": shrunk / 3,
                "shrunk_high": min(shrunk * 2.5, 1.0),
                "clean_runs": clean,
                "bound_after_clean": 1 - 0.05 ** (1 / clean) if clean else None,
                "more_runs_needed": max(299 - clean, 0),
                "decision": "QUARANTINE" if bad > 3 else "UNDECIDED" if bad or answers < 5 else "ADMIT",
                "newest_at": mine[-1]["started_at"],
            }
        )
        if bad > 3 and counts["standing"] == "FLAKY":
            since = mine[reds.index(True)]
            after = {"runs_before": reds.index(True), "runs_after": len(mine) - reds.index(True), "p_value": 0.0004}
            where = {"since_attempt": since["attempt"], "since_kafka": since["kafka"], "since_at": since["started_at"]}
            where["since_commit"] = "1a2b<3c>"
            rates = {"rate_before": 0.0, "rate_after": bad / (len(mine) - reds.index(True))}
            changes.append({**cell, "since_run": since["run_id"], **where, **rates, **after})
    return {"flakiness": flakiness, "change_points": changes}
