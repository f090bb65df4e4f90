"""The plan of a profile: what a run of each test of its suite has to show.

It is data that ``pytest_kmigrate.plugin.planning`` makes from the tests. Documents of this package have theirs in
``plans/``. A document that another package brings has its tests in the folder ``suite`` beside its requirements, and
its plan in ``plan.json`` there.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pytest_kmigrate.catalogue import is_before, place_of, profiles
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.recording.identity import SUITES
from pytest_kmigrate.recording.sources import digest_of, digest_of_test

PLANS = Path(__file__).parent / "plans"
BROUGHT_SUITE, BROUGHT_PLAN = "suite", "plan.json"
"""What a document of another package has beside its requirements."""
_WRITER = "python -m pytest_kmigrate.plugin.planning"
_OURS = "pytest_kmigrate.documents."


@dataclass(frozen=True)
class PlannedCheck:
    """One check that a test asks for; ``arguments`` None: they depend on the live cluster."""

    name: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True)
class PlannedFault:
    """One fault of a test; None: it depends on what the test comes to."""

    effect: str | None
    fault: str | None

    @property
    def text(self) -> str:
        """The fault as a message names it."""
        return self.fault or f"{self.effect or 'some fault'}(...)"


@dataclass(frozen=True)
class PlannedTest:
    """What a run of one test has to show."""

    test: str
    requirements: tuple[str, ...]
    topology: str
    starts_at: str | None
    needs: frozenset[str]
    """What the provider must offer, by the names of capabilities."""
    checks: tuple[PlannedCheck, ...]
    faults: tuple[PlannedFault, ...]
    phases: tuple[str, ...]
    """Values of the document's state that the test brings its cluster to."""
    runs: int
    """How many runs a certificate asks for."""
    expectations: tuple[str, ...] = ()
    """The names of what the test expects of the live cluster, as far as they are fixed."""
    since: str | None = None
    """The first release that can run it; None: every older one can."""
    seeded: bool = True
    """Whether its runs show their seed, by what clients and changes of metadata drew."""
    ends: bool = True
    """Whether it may expect nodes to end by themselves."""
    until: str | None = None
    """The first release that cannot run it any more; None: every newer one can."""
    suite: Path = SUITES
    """The folder with its file."""

    @property
    def releases(self) -> str:
        """The releases that can run it, as a message names them."""
        bounds = [f"since {self.since}"] if self.since else []
        return " and ".join([*bounds, *([f"before {self.until}"] if self.until else [])]) or "of any release"

    def runs_on(self, kafka: str) -> bool:
        """Whether this Kafka can run it; of a version that is no release its numbers count."""
        is_late = self.until is not None and not is_before(kafka, self.until)
        return not is_late and not (self.since is not None and is_before(kafka, self.since))

    @property
    def source_digest(self) -> str:
        """The digest of its source, as runs of this release have it in their header."""
        module, _, _ = self.test.partition("::")
        return _digest_of(self.suite / f"{module.rpartition('.')[2]}.py")


@dataclass(frozen=True)
class Plan:
    """The tests of a profile's suite, by id."""

    profile: str
    tests: Mapping[str, PlannedTest]
    digest: str
    """SHA-256 of the plan and of the sources of its tests."""


@cache
def with_suites() -> tuple[str, ...]:
    """The profiles that have a suite, in this package or in the one that brings the document."""
    return tuple(each for each in profiles() if list(suite_of(each).glob("test_*.py")))


def suite_of(profile: str) -> Path:
    """The folder with the tests of a profile's suite; it need not be there."""
    return place_of(profile).folder / BROUGHT_SUITE if _is_brought(profile) else SUITES / profile.replace("-", "_")


def plan_file(profile: str) -> Path:
    """The file with the plan of a profile; it need not be there."""
    return place_of(profile).folder / BROUGHT_PLAN if _is_brought(profile) else PLANS / f"{profile}.json"


def _is_brought(profile: str) -> bool:
    return not place_of(profile).package.startswith(_OURS)


@cache
def plan(profile: str) -> Plan:
    """The plan of a profile; WrongUseError if it has none.

    That of a brought document has a digest of all its files, too: its checks are no part of this harness.
    """
    if profile not in with_suites():
        known = ", ".join(with_suites())
        raise WrongUseError(
            f"--profile: expected a profile with a suite ({known}), got {profile!r}: a document of another package has "
            f"its tests in the folder {BROUGHT_SUITE} beside its requirements"
        )
    file, suite = plan_file(profile), suite_of(profile)
    if not file.is_file():
        raise WrongUseError(f"{file}: expected the plan of {profile}, got none: {_WRITER} {profile} writes it")
    content = file.read_bytes()
    tests = {row["test"]: _planned(row, suite) for row in json.loads(content)["tests"]}
    whole = hashlib.sha256(content)
    if _is_brought(profile):
        files = (each for each in place_of(profile).folder.rglob("*") if each.suffix in (".py", ".toml"))
        whole.update(digest_of(sorted(files)).encode())
    for test in tests.values():
        whole.update(f"{test.test} {test.source_digest}\n".encode())
    return Plan(profile, tests, whole.hexdigest())


@cache
def _digest_of(file: Path) -> str:
    """Of one file once: the suites of an installed release stay as they are."""
    return digest_of_test(file, has_above=False)


def _planned(row: dict[str, Any], suite: Path) -> PlannedTest:
    checks = tuple(PlannedCheck(**each) for each in row.pop("checks"))
    faults = tuple(PlannedFault(**each) for each in row.pop("faults"))
    listed = {key: tuple(row.get(key, ())) for key in ("requirements", "phases", "expectations")}
    sets = {**listed, "needs": frozenset(row["needs"])}
    return PlannedTest(**{**row, **sets}, suite=suite, checks=checks, faults=faults)
