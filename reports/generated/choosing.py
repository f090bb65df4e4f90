"""Which tests are tried against a mutant: the cheapest of those whose runs executed its line, by the tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow.parquet as pq

from pytest_kmigrate.catalogue import known_bug
from pytest_kmigrate.distributions.java_tools.mutants import GeneratedMutant
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.verdict import Outcome

MOST_TESTS = 3
_ATTEMPTS = ("folder", "test_id", "profile", "kafka", "outcome", "known_bugs", "duration_ms")
_VERDICTS = ("folder", "check", "outcome", "known_bugs")
_LINES = ("profile", "kafka", "class", "line", "tests")


@dataclass(frozen=True)
class Coverage:
    """Which tests execute which line, and what a run of each costs."""

    tests: Mapping[tuple[str, int], frozenset[str]]
    """By class and line."""
    costs_ms: Mapping[str, float]
    """Of the tests that can notice a mutant: none of their runs without one is red."""
    excused: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)
    """By test, what its runs violate without a mutant: check, and the known bug or deviation that explains it."""

    def excused_anyway(self, test: str) -> frozenset[tuple[str, str]]:
        """What a test violates without a mutant, and the departures and remarks that any test meets.

        A test that runs by itself walks the whole procedure, and meets what other tests met on the cluster before it.
        """
        of_all = frozenset[tuple[str, str]]().union(*self.excused.values())
        departing = {(check, bug) for check, bug in of_all if known_bug(bug).class_ != "defect"}
        return self.excused.get(test, frozenset()) | departing

    def tests_for(self, mutant: GeneratedMutant) -> list[str]:
        """The cheapest tests that execute its line, at most ``MOST_TESTS``; none if no test does."""
        executing = self.tests.get((mutant.class_name, mutant.line), frozenset()) & self.costs_ms.keys()
        return sorted(executing, key=lambda test: (self.costs_ms[test], test))[:MOST_TESTS]


def coverage_in(tables: Path, profile: str, kafka: str) -> Coverage:
    """What an analysis of runs with ``--kmigrate-exercise`` found; WrongUseError if it has none of these."""
    lines = [row for row in _rows(tables, "exercised", _LINES) if (row["profile"], row["kafka"]) == (profile, kafka)]
    if not any(row["tests"] for row in lines):
        raise WrongUseError(
            f"{tables}: expected executed lines of Kafka {kafka} by {profile}, got none; run tests with "
            "--kmigrate-exercise, then `kmigrate analyze`"
        )
    tests: dict[tuple[str, int], frozenset[str]] = {}
    for row in lines:
        place = (row["class"], row["line"])
        tests[place] = tests.get(place, frozenset()) | frozenset(row["tests"])
    attempts = [
        row for row in _rows(tables, "attempts", _ATTEMPTS) if (row["profile"], row["kafka"]) == (profile, kafka)
    ]
    red = {row["test_id"] for row in attempts if row["outcome"] == Outcome.VIOLATES.name and not row["known_bugs"]}
    took: dict[str, list[float]] = {}
    for row in attempts:
        if row["test_id"] not in red:
            took.setdefault(row["test_id"], []).append(row["duration_ms"] or 0.0)
    test_of = {row["folder"]: row["test_id"] for row in attempts}
    excused: dict[str, frozenset[tuple[str, str]]] = {}
    for row in _rows(tables, "verdicts", _VERDICTS):
        if row["folder"] in test_of and row["outcome"] == Outcome.VIOLATES.name:
            test = test_of[row["folder"]]
            excused[test] = excused.get(test, frozenset()) | {(row["check"], bug) for bug in row["known_bugs"]}
    return Coverage(tests, {test: median(each) for test, each in took.items()}, excused)


def _rows(tables: Path, name: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    try:
        return list(pq.read_table(tables / name, columns=list(columns)).to_pylist())
    except (OSError, ValueError, KeyError) as error:
        raise WrongUseError(
            f"{tables}: expected the tables of `kmigrate analyze`, got no {name}: {error}; name the folder tables/ "
            "below its --out"
        ) from error
