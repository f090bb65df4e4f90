"""The summary: all that a report shows, as plain data; it is ``report.json``, and site and Markdown are made of it."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from pytest_kmigrate import catalogue
from pytest_kmigrate.analysis.statistics.bounds import bound_after_clean
from pytest_kmigrate.checkers.kernels import AnomalyClass
from pytest_kmigrate.checkers.tally import Word
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.summary.asked import asked_of
from pytest_kmigrate.reports.summary.attention import attention
from pytest_kmigrate.reports.summary.chaos import OfNights, of_nights
from pytest_kmigrate.reports.summary.code import OfCode, of_code
from pytest_kmigrate.reports.summary.comparison import Comparison, compare
from pytest_kmigrate.reports.summary.divergences import divergence_classes
from pytest_kmigrate.reports.summary.rows import (
    CELL,
    CONDITION,
    Row,
    by,
    count,
    day,
    excused,
    grouped,
    newest_first,
    number,
    release,
)
from pytest_kmigrate.reports.summary.totals import Totals, headline, totals_of
from pytest_kmigrate.reports.summary.versions import versions as versions_of
from pytest_kmigrate.reports.summary.words import with_words

SCHEMA = 2
"""Schema version of ``report.json``. 2: flakiness, change points, causes, clusters, anomalies, trends, comparison."""

TABLES = (
    "attempts", "tests", "requirements", "cells", "fault_effects", "bugs", "consistency", "consistency_facts",
    "duration_statistics", "growth", "set_aside", "flakiness", "change_points", "infra_nights", "causes", "trends",
    "trend_changes", "failure_clusters", "failure_members", "anomalies", "operation_counts", "requirement_flakiness",
    "requirement_changes", "requirement_outcomes", "checked_classes", "metadata_divergences", "log_templates",
    "log_signs", "exercised_classes", "mutation", "mutation_scores", "mutation_requirements",
    "schedules", "chaos_cells", "chaos_pairs", "chaos_nights", "shrinks",
)  # fmt: skip
"""The tables a report is made of; one that is missing counts as empty."""

WORST_FIRST = ("SAFETY", "VIOLATES", "FLAKY", "VARIES", "INCONCLUSIVE", "CONFORMS", "NOT_APPLICABLE")
RATES = ("flips", "shrunk_rate", "shrunk_low", "shrunk_high", "clean_runs", "bound_after_clean", "more_runs_needed")
"""What the rows of ``cells`` have of those of ``requirement_flakiness``."""

_OF_CLIENTS = frozenset(each.value for each in AnomalyClass)
MOST_EXAMPLES = 3
"""Counterexamples listed for each class of anomaly and version."""


class About(TypedDict):
    """How a report came to be."""

    made_at: str
    runs_folder: str
    command: str
    spark: str
    python: str
    platform: str
    seconds: dict[str, float]


class Summary(OfNights, OfCode):
    """The keys of ``report.json``; where a key is a table's name, its rows are that table's."""

    schema: int
    about: About
    totals: Totals
    headline: str
    asked: list[Row]
    attention: list[Row]
    versions: list[Row]
    ledger: list[Row]
    tests: list[Row]
    requirements: list[Row]
    cells: list[Row]
    flakiness: list[Row]
    change_points: list[Row]
    requirement_changes: list[Row]
    infra_nights: list[Row]
    fault_effects: list[Row]
    bugs: list[Row]
    consistency: list[Row]
    anomaly_classes: list[Row]
    divergence_classes: list[Row]
    causes: list[Row]
    failure_clusters: list[Row]
    failure_members: list[Row]
    log_templates: list[Row]
    log_signs: list[Row]
    trends: list[Row]
    trend_changes: list[Row]
    duration_statistics: list[Row]
    growth: list[Row]
    attempts: list[Row]
    set_aside: list[Row]
    comparison: Comparison | None


def summary_of(tables: Mapping[str, list[Row]], about: About, versions: tuple[str, str] | None = None) -> Summary:
    """Order what the tables say so that a reader meets the worst first; compare two versions where asked to."""
    known = {name: tables.get(name, []) for name in TABLES}
    attempts = sorted(known["attempts"], key=by("test_id", *CONDITION, "attempt"))
    tests = _worst_first(known["tests"], "test_id", *CONDITION)
    counted = [excused(each) for each in attempts]
    totals = totals_of(counted, known)
    ledger = _ledger(totals["profiles"])
    asked = asked_of(ledger, known["requirement_outcomes"])
    return {
        "schema": SCHEMA,
        "about": about,
        "totals": totals,
        "headline": headline(totals, asked),
        "asked": asked,
        "attention": attention(known, tests, attempts),
        "versions": versions_of(counted, known),
        "ledger": ledger,
        "tests": tests,
        "requirements": sorted(
            with_words(_with_bound(known["requirements"]), known["requirement_outcomes"]), key=_by_word
        ),
        "cells": _worst_first(_with_rates(known["cells"], known["requirement_flakiness"]), "requirement", *CELL),
        "flakiness": sorted(known["flakiness"], key=lambda row: (-(number(row["shrunk_rate"]) or 0), *by(*CELL)(row))),
        "change_points": newest_first(known["change_points"], "since_at"),
        "requirement_changes": newest_first(known["requirement_changes"], "since_at"),
        "infra_nights": newest_first(known["infra_nights"], "night"),
        "fault_effects": sorted(known["fault_effects"], key=by("fault", "phase", "kafka")),
        "bugs": sorted(known["bugs"], key=by("kafka", "bug")),
        "consistency": _with_facts(known["consistency"], known["consistency_facts"]),
        "anomaly_classes": _anomaly_classes(known["anomalies"], attempts),
        "divergence_classes": divergence_classes(known["metadata_divergences"], attempts),
        "causes": sorted(known["causes"], key=by("failure", "rank")),
        "failure_clusters": sorted(
            known["failure_clusters"], key=lambda row: (-count(row["failures"]), *by("cluster")(row))
        ),
        "failure_members": sorted(known["failure_members"], key=by("cluster", "folder")),
        "log_templates": sorted(known["log_templates"], key=lambda row: (-count(row["runs"]), *by("template")(row))),
        "log_signs": sorted(known["log_signs"], key=by("failure", "rank", "template")),
        "trends": sorted(known["trends"], key=by("measure", "name", "topology", "started_at")),
        "trend_changes": newest_first(known["trend_changes"], "since_at"),
        "duration_statistics": sorted(known["duration_statistics"], key=by("what", "name", *CONDITION)),
        "growth": sorted(known["growth"], key=by("of", *CONDITION, "measure")),
        **of_code(known),
        **of_nights(known),
        "attempts": attempts,
        "set_aside": sorted(known["set_aside"], key=by("path", "line")),
        "comparison": compare(known, *versions) if versions else None,
    }


def _ledger(profiles: Sequence[str]) -> list[Row]:
    """Every requirement of the profiles that were judged, covered or not."""
    return [
        {name: getattr(each, name) for name in ("id", "profile", "area", "level", "statement", "section", "covered_by")}
        for profile in profiles
        if profile in catalogue.profiles()
        for each in catalogue.requirements(profile)
    ]


def _anomaly_classes(anomalies: Sequence[Row], attempts: Sequence[Row]) -> list[Row]:
    """Each class of anomaly and version: how many, in how many runs, and the shortest counterexamples."""
    run_of = {attempt["folder"]: attempt for attempt in attempts}
    reported = [
        {**each, "kafka": run["kafka"], "timeline": run["timeline"], "test_id": run["test_id"]}
        for each in anomalies
        if (run := run_of.get(each["folder"])) is not None
    ]
    rows = []
    for (name, kafka), mine in grouped(reported, "class", "kafka").items():
        shortest = sorted(mine, key=lambda each: (len(str(each["counterexample"])), str(each["folder"])))
        kept = ("folder", "timeline", "test_id", "topic", "partition", "counterexample", "at_ns", "evidence")
        rows.append(
            {
                "class": name,
                "kind": mine[0]["kind"],
                "of_clients": name in _OF_CLIENTS,
                "kafka": kafka,
                "anomalies": sum(count(each["count"]) for each in mine),
                "runs": len({each["folder"] for each in mine}),
                "newest": max(day(run_of[each["folder"]]["started_at"]) for each in mine),
                "examples": [{key: each[key] for key in kept} for each in shortest[:MOST_EXAMPLES]],
            }
        )
    return sorted(rows, key=lambda row: (row["kind"] != "SAFETY", str(row["class"]), release(row["kafka"])))


def _with_bound(requirements: Sequence[Row]) -> list[Row]:
    """Each requirement of a version that was never violated with the rate that its clean runs leave possible."""
    bounds = bound_after_clean([count(row["conforming"]) for row in requirements])
    return [
        {**row, "bound_after_clean": None if count(row["violating"]) or not count(row["conforming"]) else float(bound)}
        for row, bound in zip(requirements, bounds, strict=True)
    ]


def _with_rates(cells: Sequence[Row], flakiness: Sequence[Row]) -> list[Row]:
    """Each cell with its rate in the light of others, and what its clean runs prove."""
    keys = ("requirement", *CELL)
    rates = {tuple(row[key] for key in keys): row for row in flakiness}
    reported = [(row, rates.get(tuple(row[key] for key in keys), {})) for row in cells]
    return [{**row, **{name: known.get(name) for name in RATES}} for row, known in reported]


def _with_facts(consistency: Sequence[Row], facts: Sequence[Row]) -> list[Row]:
    """Each check with the numbers it reported."""
    keys = ("kafka", "topology", "check")
    numbers: dict[tuple[object, ...], dict[str, Row]] = {}
    for fact in sorted(facts, key=by("fact")):
        of_check = numbers.setdefault(tuple(fact[key] for key in keys), {})
        of_check[str(fact["fact"])] = {"total": fact["total"], "largest": fact["largest"]}
    rows = [{**row, "facts": numbers.get(tuple(row[key] for key in keys), {})} for row in consistency]
    return sorted(rows, key=lambda row: (-Outcome[str(row["outcome"])], *by(*keys)(row)))


def _by_word(row: Row) -> tuple[object, ...]:
    """The gravest word first, then the worst standing: the order of a page of requirements."""
    word, standing = Word[str(row["word"])], WORST_FIRST.index(str(row["standing"]))
    return (list(Word).index(word), standing, *by("requirement", "profile", "kafka")(row))


def _worst_first(rows: Sequence[Row], *keys: str) -> list[Row]:
    return sorted(rows, key=lambda row: (WORST_FIRST.index(str(row["standing"])), *by(*keys)(row)))
