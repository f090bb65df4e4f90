"""Which tests are tried against a mutant: the cheapest of those whose runs executed the instruction that it changes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from pytest_kmigrate.catalogue import known_bug
from pytest_kmigrate.distributions.java_tools.lines import InstructionProbes
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.reports.written_tables import rows_of

MOST_TESTS = 3
_OWN_CLUSTER_S, _SLOWER = 90.0, 2.0
"""A test may have shared a cluster when it was recorded; what takes longer than this waits in vain, by the mutant."""
_ATTEMPTS = ("folder", "test_id", "profile", "kafka", "outcome", "known_bugs", "duration_ms")
_VERDICTS = ("folder", "check", "outcome", "known_bugs")

Places = Mapping[tuple[str, str], frozenset[int]]
"""By name and sum of a class file: the probes that a test has passed in it."""


@dataclass(frozen=True)
class Coverage:
    """Which tests execute which code, and what a run of each costs."""

    executed: Mapping[str, Places]
    """By test."""
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

    def tests_for(self, class_name: str, instruction: InstructionProbes) -> list[str]:
        """The cheapest tests that execute an instruction, at most ``MOST_TESTS``; none if no test does."""
        file, probes = (class_name, instruction.class_id), frozenset(instruction.probes)
        return self._cheapest(
            test for test in self.costs_ms if probes & self.executed.get(test, {}).get(file, frozenset())
        )

    def any_tests(self) -> list[str]:
        """The cheapest of all, for what every test executes and none can show, as a node's end."""
        return self._cheapest(self.costs_ms)

    def _cheapest(self, tests: Iterable[str]) -> list[str]:
        return sorted(tests, key=lambda test: (self.costs_ms[test], test))[:MOST_TESTS]

    def limit_s(self, test: str) -> float:
        """How long a test may take with a mutant: what it takes without one, and what a cluster of its own costs."""
        return _OWN_CLUSTER_S + _SLOWER * self.costs_ms[test] / 1000

    def other_files(self, class_name: str, class_id: str) -> Sequence[str]:
        """The sums of the class files that what was executed of a class is of, if this one is none of them."""
        sums = {each_id for places in self.executed.values() for name, each_id in places if name == class_name}
        return () if class_id in sums else sorted(sums)


def coverage_in(exercised: Path, profile: str, kafka: str) -> Coverage:
    """What runs with ``--kmigrate-exercise`` executed; WrongUseError if there are none of these.

    ``exercised`` has the run folders in ``runs``, and what `kmigrate analyze` made of them in ``tables``.
    """
    tables = exercised / "tables"
    attempts = [
        row for row in rows_of(tables, "attempts", _ATTEMPTS) if (row["profile"], row["kafka"]) == (profile, kafka)
    ]
    executed: dict[str, dict[tuple[str, str], frozenset[int]]] = {}
    for row in attempts:
        places = executed.setdefault(row["test_id"], {})
        for file, probes in _executed_in(exercised / "runs" / row["folder"]).items():
            places[file] = places.get(file, frozenset()) | probes
    if not any(executed.values()):
        raise WrongUseError(
            f"{exercised}: expected runs of Kafka {kafka} by {profile} that recorded what they execute, got none; run "
            "tests with --kmigrate-exercise --kmigrate-runs runs, then `kmigrate analyze runs --out .` there"
        )
    red = {row["test_id"] for row in attempts if row["outcome"] == Outcome.VIOLATES.name and not row["known_bugs"]}
    took: dict[str, list[float]] = {}
    for row in attempts:
        if row["test_id"] not in red:
            took.setdefault(row["test_id"], []).append(row["duration_ms"] or 0.0)
    test_of = {row["folder"]: row["test_id"] for row in attempts}
    excused: dict[str, frozenset[tuple[str, str]]] = {}
    for row in rows_of(tables, "verdicts", _VERDICTS):
        if row["folder"] in test_of and row["outcome"] == Outcome.VIOLATES.name:
            test = test_of[row["folder"]]
            excused[test] = excused.get(test, frozenset()) | {(row["check"], bug) for bug in row["known_bugs"]}
    return Coverage(executed, {test: median(each) for test, each in took.items()}, excused)


def _executed_in(folder: Path) -> Places:
    """What a run executed; nothing if it recorded none, or is not there any more."""
    file = RunFolder(folder).exercise
    places: dict[tuple[str, str], frozenset[int]] = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        row = json.loads(line)
        of = (row["class_name"], row["class_id"])
        places[of] = places.get(of, frozenset()) | frozenset(row["executed"])
    return places
