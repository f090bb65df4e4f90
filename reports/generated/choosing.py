"""Which tests are tried against a mutant: of those whose runs executed the instruction that it changes.

Two of four judge most of the requirements that the code carries out, and that few others judge: a test notices what it
asks. The other two execute most around it of what few others do: any test runs a comparison of ZooKeeper with the log,
and only one that has them differ can notice that it is gone. Both for what they cost, and each adds to the former ones.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from pytest_kmigrate.catalogue import known_bug
from pytest_kmigrate.distributions.java_tools.lines import InstructionProbes
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.reports.written_tables import rows_of

MOST_TESTS = 4
_OWN_CLUSTER_S, _SLOWER = 150.0, 2.0
"""A test may have shared a cluster when it was recorded; what takes longer than this waits in vain, by the mutant."""
_ATTEMPTS = ("folder", "test_id", "profile", "kafka", "outcome", "known_bugs", "duration_ms")
_VERDICTS = ("folder", "check", "outcome", "known_bugs", "about")
_JUDGED = (Outcome.CONFORMS.name, Outcome.VIOLATES.name)

_ANY_TEST_MS = 20_000.0
"""What a test costs beside its own time: pytest, and a cluster from a checkpoint."""

Places = Mapping[tuple[str, str], frozenset[int]]
"""By name and sum of a class file: probes in it."""
NOTHING: Places = {}
_Place = tuple[tuple[str, str], int]
_NONE = frozenset[str]()


@dataclass(frozen=True)
class Coverage:
    """Which tests execute which code, and what a run of each costs."""

    executed: Mapping[str, Places]
    """By test."""
    costs_ms: Mapping[str, float]
    """Of the tests that can notice a mutant: none of their runs without one is red."""
    excused: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)
    """By test, what its runs violate without a mutant: check, and the known bug or deviation that explains it."""
    judged: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By test, the requirements that its runs judged, whatever the verdict."""

    def excused_anyway(self, test: str) -> frozenset[tuple[str, str]]:
        """What a test violates without a mutant, and the departures and remarks that any test meets.

        A test that runs by itself walks the whole procedure, and meets what other tests met on the cluster before it.
        """
        of_all = frozenset[tuple[str, str]]().union(*self.excused.values())
        departing = {(check, bug) for check, bug in of_all if known_bug(bug).class_ != "defect"}
        return self.excused.get(test, frozenset()) | departing

    def tests_for(
        self,
        class_name: str,
        instruction: InstructionProbes,
        around: Places = NOTHING,
        requirements: Collection[str] = (),
        first: Collection[str] = (),
    ) -> list[str]:
        """The most promising tests that execute an instruction, at most ``MOST_TESTS``; none if no test does.

        ``around``: the code of its method, and of what it calls. ``requirements``: those that it carries out.
        ``first``: tests that come before others, up to half of them, the cheapest first.
        """
        file, probes = (class_name, instruction.class_id), frozenset(instruction.probes)
        tests = [test for test in self.costs_ms if probes & self.executed.get(test, {}).get(file, frozenset())]
        return self._best(tests, _places(around), class_name, requirements, first)

    def any_tests(self, requirements: Collection[str] = ()) -> list[str]:
        """The cheapest of all, for what every test executes and none can show, as a node's end.

        With ``requirements`` only those that judge one.
        """
        tests = [test for test in self.costs_ms if self.judged.get(test, _NONE) & {*requirements}]
        return self._best(tests or list(self.costs_ms), frozenset(), "", requirements)

    def _best(
        self,
        tests: Sequence[str],
        around: frozenset[_Place],
        class_name: str,
        requirements: Collection[str],
        first: Collection[str] = (),
    ) -> list[str]:
        """By turns the one that judges most, and the one that passes most, first around, then of the class.

        Each adds to the former ones. A requirement counts for one divided by the number of tests that judge it, a probe
        for one divided by the number that pass it. Without any the cheapest is best.
        """
        passed = {test: self._passed(test, class_name, around) for test in tests}
        number = Counter(place for places in passed.values() for place in places)
        judges = Counter(each for test in self.costs_ms for each in self.judged.get(test, _NONE))
        chosen = sorted({*first} & {*tests}, key=lambda test: (self.costs_ms[test], test))[: MOST_TESTS // 2]
        unjudged = frozenset(requirements).difference(*(self.judged.get(each, _NONE) for each in chosen))
        new = frozenset(number).difference(*(passed[each] for each in chosen)) if chosen else around
        while len(chosen) < min(MOST_TESTS, len(tests)):
            left = [test for test in tests if test not in chosen]
            judging = [test for test in left if self.judged.get(test, _NONE) & unjudged]
            if judging and len(chosen) % 2 == 0:
                worth = {test: sum(1 / judges[each] for each in self.judged[test] & unjudged) for test in judging}
            else:
                worth = {test: sum(1 / number[each] for each in passed[test] & new) for test in left}
            chosen.append(min(worth, key=lambda test: (-worth[test] / self._cost_ms(test), self.costs_ms[test], test)))
            unjudged -= self.judged.get(chosen[-1], _NONE)
            new = frozenset(number).difference(*(passed[each] for each in chosen))
        return chosen

    def _passed(self, test: str, class_name: str, around: frozenset[_Place]) -> frozenset[_Place]:
        """What a test has passed of a class, and around."""
        passed = _places(self.executed.get(test, NOTHING))
        return frozenset(each for each in passed if each[0][0] == class_name or each in around)

    def _cost_ms(self, test: str) -> float:
        return self.costs_ms[test] + _ANY_TEST_MS

    def limit_s(self, test: str) -> float:
        """How long a test may take with a mutant: what it takes without one, and what a cluster of its own costs."""
        return _OWN_CLUSTER_S + _SLOWER * self.costs_ms[test] / 1000

    def other_files(self, class_name: str, class_id: str) -> Sequence[str]:
        """The sums of the class files that what was executed of a class is of, if this one is none of them."""
        sums = {each_id for places in self.executed.values() for name, each_id in places if name == class_name}
        return () if class_id in sums else sorted(sums)


def merged(parts: Iterable[Places]) -> Places:
    """The probes that any of these has."""
    whole = defaultdict[tuple[str, str], frozenset[int]](frozenset)
    for part in parts:
        for file, probes in part.items():
            whole[file] |= probes
    return dict(whole)


def _places(places: Places) -> frozenset[_Place]:
    return frozenset((file, probe) for file, probes in places.items() for probe in probes)


def coverage_in(exercised: Path, profile: str, kafka: str) -> Coverage:
    """What runs with ``--kmigrate-exercise`` executed; WrongUseError if there are none of these.

    ``exercised`` has the run folders in ``runs``, and what `kmigrate analyze` made of them in ``tables``.
    """
    tables = exercised / "tables"
    attempts = [
        row for row in rows_of(tables, "attempts", _ATTEMPTS) if (row["profile"], row["kafka"]) == (profile, kafka)
    ]
    runs = defaultdict[str, list[Places]](list)
    for row in attempts:
        runs[row["test_id"]].append(_executed_in(exercised / "runs" / row["folder"]))
    executed = {test: merged(each) for test, each in runs.items()}
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
    verdicts = [
        (test_of[row["folder"]], row) for row in rows_of(tables, "verdicts", _VERDICTS) if row["folder"] in test_of
    ]
    return Coverage(
        executed, {test: median(each) for test, each in took.items()}, _excused_in(verdicts), _judged_in(verdicts)
    )


def _excused_in(verdicts: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, frozenset[tuple[str, str]]]:
    """By test, the checks that its runs violate, each with a known bug or deviation that explains it."""
    found = defaultdict[str, frozenset[tuple[str, str]]](frozenset)
    for test, row in verdicts:
        if row["outcome"] == Outcome.VIOLATES.name:
            found[test] |= {(row["check"], bug) for bug in row["known_bugs"]}
    return dict(found)


def _judged_in(verdicts: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, frozenset[str]]:
    """By test, the requirements that its runs judged."""
    found = defaultdict[str, frozenset[str]](frozenset)
    for test, row in verdicts:
        found[test] |= {each["requirement"] for each in row["about"] or () if each["outcome"] in _JUDGED}
    return dict(found)


def _executed_in(folder: Path) -> Places:
    """What a run executed; nothing if it recorded none, or is not there any more."""
    file = RunFolder(folder).exercise
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines() if file.is_file() else ())
    return merged({(row["class_name"], row["class_id"]): frozenset(row["executed"])} for row in rows)
