"""The summary: everything the page shows, as plain data; it is ``report.json``."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypedDict

from pytest_kmigrate.model.verdict import Outcome

Row = dict[str, object]

SCHEMA = 1
"""Schema version of ``report.json``."""

MOST_ATTEMPTS = 60
"""How many of a test's runs, the latest ones, are shown as dots; the tables hold all."""

CONDITION = ("profile", "provider", "kafka", "topology")

_WORST_FIRST = ("SAFETY", "VIOLATES", "FLAKY", "VARIES", "INCONCLUSIVE", "CONFORMS", "NOT_APPLICABLE")


class Totals(TypedDict):
    """The counts over all runs."""

    runs: int
    tests: int
    requirements: int
    outcomes: dict[str, int]
    safety_violations: int
    flaky_tests: int
    known_bugs: int
    set_aside: int
    kafka: list[str]
    topologies: list[str]
    profiles: list[str]
    providers: list[str]
    first_started_at: str | None
    last_started_at: str | None


class About(TypedDict):
    """How a report came to be."""

    made_at: str
    runs_folder: str
    command: str
    spark: str
    python: str
    platform: str
    seconds: dict[str, float]


class Summary(TypedDict):
    """The keys of ``report.json``; the rows are those of the tables of the same name."""

    schema: int
    about: About
    totals: Totals
    attention: list[Row]
    tests: list[Row]
    requirements: list[Row]
    cells: list[Row]
    fault_effects: list[Row]
    bugs: list[Row]
    consistency: list[Row]
    duration_statistics: list[Row]
    attempts: list[Row]
    set_aside: list[Row]


def summary_of(tables: Mapping[str, list[Row]], about: About) -> Summary:
    """Order what the tables say so that a reader meets the worst first."""
    attempts = sorted(tables["attempts"], key=_by("test_id", *CONDITION, "attempt"))
    tests = _worst_first(tables["tests"], "test_id", *CONDITION)
    return {
        "schema": SCHEMA,
        "about": about,
        "totals": _totals(attempts, tables),
        "attention": attention(tests, tables["bugs"], attempts),
        "tests": tests,
        "requirements": _worst_first(tables["requirements"], "requirement", "profile", "kafka"),
        "cells": _worst_first(tables["cells"], "test_id", "requirement", *CONDITION, "fault", "phase"),
        "fault_effects": sorted(tables["fault_effects"], key=_by("fault", "phase", "kafka")),
        "bugs": sorted(tables["bugs"], key=_by("kafka", "bug")),
        "consistency": _with_facts(tables["consistency"], tables["consistency_facts"]),
        "duration_statistics": sorted(tables["duration_statistics"], key=_by("what", "name", "kafka", "topology")),
        "attempts": attempts,
        "set_aside": sorted(tables["set_aside"], key=_by("path", "line")),
    }


def attention(tests: list[Row], bugs: list[Row], attempts: list[Row]) -> list[Row]:
    """What needs a human, most urgent first: one row with level, title, detail and the test or bug it is about.

    A violation that a known Kafka bug explains is told once, as that bug; unexplained ones come before it, because
    nobody knows yet what they are. SAFETY comes before all else, known or not.
    """
    levels = ("SAFETY", "VIOLATES", "BUG", "FLAKY", "VARIES", "INCONCLUSIVE")
    rows = [_about_test(test, attempts) for test in tests if test["standing"] in levels[:-1]]
    told = [row for row in rows if row is not None] + [_about_bug(bug) for bug in bugs]
    told.sort(key=lambda row: (not row.pop("is_safety"), levels.index(str(row["level"])), str(row["title"])))
    return told + _about_no_answers(attempts)


def _about_test(test: Row, attempts: list[Row]) -> Row | None:
    mine = [attempt for attempt in attempts if _is_of(attempt, test)]
    red = [attempt for attempt in mine if attempt["outcome"] == Outcome.VIOLATES.name]
    standing = str(test["standing"])
    if standing in ("SAFETY", "VIOLATES", "VARIES") and all(attempt["known_bugs"] for attempt in red):
        return None
    unexplained = [attempt for attempt in red if not attempt["known_bugs"]]
    condition = f"Kafka {test['kafka']} · {test['topology']}"
    concern = _concern(standing, test["test_id"], condition, _counts_sentence(test), (unexplained or red)[-1])
    return {**concern, "is_safety": standing == "SAFETY"}


def _about_no_answers(attempts: list[Row]) -> list[Row]:
    """One row per reason why runs were INCONCLUSIVE, the most frequent first: each is a thing to repair once."""
    by_reason: dict[tuple[str, str], list[Row]] = {}
    for attempt in attempts:
        if attempt["outcome"] == Outcome.INCONCLUSIVE.name:
            by_reason.setdefault((str(attempt["kind"]), str(attempt["check"])), []).append(attempt)
    return [
        _concern(
            Outcome.INCONCLUSIVE.name,
            f"{len(mine)} run{'s' * (len(mine) != 1)} without an answer",
            f"{kind.lower()} · Kafka {', '.join(sorted({str(attempt['kafka']) for attempt in mine}))}",
            f"in {len(tests := {attempt['test_id'] for attempt in mine})} test{'s' * (len(tests) != 1)}",
            mine[-1],
        )
        for (kind, _), mine in sorted(by_reason.items(), key=lambda reason: -len(reason[1]))
    ]


def _concern(level: str, title: object, condition: str, detail: str, example: Row) -> Row:
    """One row of ``attention`` with a run that shows it."""
    shown = {key: example[key] for key in ("check", "timeline", "reproduce")}
    told = {"level": level, "title": title, "condition": condition, "detail": detail}
    return {**told, "example": example["summary"], **shown}


def _about_bug(bug: Row) -> Row:
    checks = ", ".join(str(each) for each in _listed(bug["checks"]))
    is_safety = "SAFETY" in _listed(bug["kinds"])
    return {
        "level": "BUG",
        "title": bug["bug"],
        "condition": f"Kafka {bug['kafka']}",
        "detail": f"seen in {bug['runs']} run{'s' * (bug['runs'] != 1)} by {checks}{', breaks SAFETY' * is_safety}",
        "example": bug["example"],
        "check": "",
        "timeline": None,
        "reproduce": None,
        "is_safety": is_safety,
    }


def _counts_sentence(test: Row) -> str:
    safety = f", {test['safety_violations']} of them SAFETY" if test["safety_violations"] else ""
    open_ones = f"; {test['inconclusive']} inconclusive" if test["inconclusive"] else ""
    return f"{test['violating']} of {test['runs']} runs violate{safety}{open_ones}"


def _totals(attempts: list[Row], tables: Mapping[str, list[Row]]) -> Totals:
    outcomes = Counter(str(attempt["outcome"]) for attempt in attempts)
    violations = Counter(str(attempt["kind"]) for attempt in attempts if attempt["outcome"] == Outcome.VIOLATES.name)
    return {
        "runs": len(attempts),
        "tests": len({attempt["test_id"] for attempt in attempts}),
        "requirements": len({row["requirement"] for row in tables["requirements"]}),
        "outcomes": {outcome.name: outcomes[outcome.name] for outcome in Outcome},
        "safety_violations": violations["SAFETY"],
        "flaky_tests": sum(1 for test in tables["tests"] if test["is_flaky"]),
        "known_bugs": len({bug["bug"] for bug in tables["bugs"]}),
        "set_aside": len(tables["set_aside"]),
        "kafka": sorted({str(attempt["kafka"]) for attempt in attempts}),
        "topologies": sorted({str(attempt["topology"]) for attempt in attempts}),
        "profiles": sorted({str(attempt["profile"]) for attempt in attempts}),
        "providers": sorted({str(attempt["provider"]) for attempt in attempts}),
        "first_started_at": min((_time(attempt) for attempt in attempts if attempt["started_at"]), default=None),
        "last_started_at": max((_time(attempt) for attempt in attempts if attempt["started_at"]), default=None),
    }


def _time(attempt: Row) -> str:
    started_at = attempt["started_at"]
    return started_at.isoformat() if isinstance(started_at, dt.datetime) else str(started_at)


def latest_attempts(test: Row, attempts: list[Row]) -> list[Row]:
    """The latest runs of one test, oldest first."""
    return [attempt for attempt in attempts if _is_of(attempt, test)][-MOST_ATTEMPTS:]


def _is_of(attempt: Row, test: Row) -> bool:
    return all(attempt[key] == test[key] for key in ("test_id", *CONDITION))


def _with_facts(consistency: list[Row], facts: list[Row]) -> list[Row]:
    """Each check with the numbers it reported."""
    keys = ("kafka", "topology", "check")
    numbers: dict[tuple[object, ...], dict[str, Row]] = {}
    for fact in sorted(facts, key=_by("fact")):
        of_check = numbers.setdefault(tuple(fact[key] for key in keys), {})
        of_check[str(fact["fact"])] = {"total": fact["total"], "largest": fact["largest"]}
    rows = [{**row, "facts": numbers.get(tuple(row[key] for key in keys), {})} for row in consistency]
    return sorted(rows, key=lambda row: (-Outcome[str(row["outcome"])], *_by(*keys)(row)))


def _worst_first(rows: list[Row], *keys: str) -> list[Row]:
    return sorted(rows, key=lambda row: (_WORST_FIRST.index(str(row["standing"])), *_by(*keys)(row)))


def _by(*keys: str) -> Callable[[Row], tuple[tuple[bool, float, str], ...]]:
    """Sort by these columns: numbers as numbers, all else as text, nulls last."""

    def order(value: object) -> tuple[bool, float, str]:
        number = float(value) if isinstance(value, int | float) else 0.0
        return (value is None, number, "" if isinstance(value, int | float) else str(value))

    return lambda row: tuple(order(row[key]) for key in keys)


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []
