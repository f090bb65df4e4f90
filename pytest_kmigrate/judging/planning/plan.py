"""The plan of a profile: what a run of each test of its suite has to show. Data of the package, made from the tests."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pytest_kmigrate.catalogue import is_before, profiles
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.recording.identity import SUITES
from pytest_kmigrate.recording.sources import digest_of_test

PLANS = Path(__file__).parent / "plans"


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
    until: str | None = None
    """The first release that cannot run it any more; None: every newer one can."""

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
        return _digest_of(SUITES.joinpath(*module.split(".")[2:]).with_suffix(".py"))


@dataclass(frozen=True)
class Plan:
    """The tests of a profile's suite, by id."""

    profile: str
    tests: Mapping[str, PlannedTest]
    digest: str
    """SHA-256 of the plan and of the sources of its tests."""


@cache
def with_suites() -> tuple[str, ...]:
    """The profiles that have a suite in this package."""
    return tuple(each for each in profiles() if list((SUITES / each.replace("-", "_")).glob("test_*.py")))


@cache
def plan(profile: str) -> Plan:
    """The plan of a profile; WrongUseError if the package has none."""
    file = PLANS / f"{profile}.json"
    if not file.is_file():
        known = ", ".join(with_suites())
        raise WrongUseError(f"--profile: expected a profile with a suite of this package ({known}), got {profile!r}")
    content = file.read_bytes()
    tests = {row["test"]: _planned(row) for row in json.loads(content)["tests"]}
    whole = hashlib.sha256(content)
    for test in tests.values():
        whole.update(f"{test.test} {test.source_digest}\n".encode())
    return Plan(profile, tests, whole.hexdigest())


@cache
def _digest_of(file: Path) -> str:
    """Of one file once: the suites of an installed release stay as they are."""
    return digest_of_test(file)


def _planned(row: dict[str, Any]) -> PlannedTest:
    checks = tuple(PlannedCheck(**each) for each in row.pop("checks"))
    faults = tuple(PlannedFault(**each) for each in row.pop("faults"))
    listed = {key: tuple(row.get(key, ())) for key in ("requirements", "phases", "expectations")}
    sets = {**listed, "needs": frozenset(row["needs"])}
    return PlannedTest(**{**row, **sets}, checks=checks, faults=faults)
