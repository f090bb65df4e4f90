"""The requirements of each profile, and the known bugs of released Kafka: data the package carries, read once."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from pytest_kmigrate.catalogue.deviations import DEVIATIONS, Deviation
from pytest_kmigrate.catalogue.mistakes import mistakes as mistakes_of
from pytest_kmigrate.catalogue.places import REQUIREMENTS, Place, place_of, profiles
from pytest_kmigrate.catalogue.rows import Class, Ranges, Releases, Severity, Ticket, check_ids, records, wrong
from pytest_kmigrate.distributions.versions import numbers_of
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.spelling import did_you_mean

__all__ = [
    "Deviation",
    "KnownBug",
    "Place",
    "Requirement",
    "all_departures",
    "all_known_bugs",
    "check_data",
    "departures_of",
    "described",
    "deviations",
    "find_bug",
    "gravest_first",
    "is_before",
    "is_in",
    "is_release",
    "known_bug",
    "place_of",
    "profiles",
    "requirement",
    "requirements",
]

KNOWN_BUGS = "known-bugs.toml"
"""A file that a document's folder may have."""


@dataclass(frozen=True)
class Requirement:
    """One testable sentence of a document; ``id`` is never reused."""

    id: str
    profile: str
    area: str
    level: Literal["MUST", "SHOULD", "MAY"]
    statement: str
    section: str
    """Heading of the document that the sentence comes from."""
    observe: str
    """What shows from outside whether it holds."""
    testability: Literal["blackbox", "wire", "whitebox", "paper"]
    real_kafka: str
    """What Apache Kafka does: ``conforms``, or how it is known to deviate and where that was seen."""
    covered_by: str | None = None
    """The requirement that says the same; counted once, there."""
    untestable: str | None = None
    """Why no run can judge it; None: some run can."""
    same_as: tuple[str, ...] = ()
    """The requirements of another document that together say the same; what they are judged by judges this one."""
    final: str | None = None
    """Draft only: how the final revision stands to it."""


@dataclass(frozen=True)
class KnownBug:
    """A migration bug of released Kafka, with the releases that have it."""

    id: str
    area: str
    symptom: str
    broken: Ranges
    """Release ranges such as ``>=3.4.0,<=3.6.1``; a release is broken if any matches."""
    fixed_in: Releases
    """The first fixed release of each line; empty if there is none."""
    severity: Severity
    class_: Class
    consequence: str
    """What an operator or a client loses by it, as a sentence."""
    reachability: Literal["blackbox", "race", "byteman"]
    verified: bool
    """Whether real processes of a broken release showed it."""
    also: tuple[str, ...] = ()
    """Other names in trackers."""
    recognized: bool = True
    """Whether its document has a diagnosis that finds its evidence in a run."""
    met_by: Literal["any-run"] | None = None
    """``any-run``: any run may meet it by chance, so that a test need not be marked with it."""
    ticket: Ticket | None = None
    """Where Kafka's maintainers track it."""
    requirements: tuple[str, ...] = ()
    """The requirements that it breaks by itself. Others it may hit in a run, which is not counted against them."""
    is_deviation: bool = False
    """Whether it is a row of ``deviations.toml``, which is about its own requirement alone."""

    @property
    def expectation(self) -> str:
        """Why a test is expected to fail, in one line."""
        return f"{self.id} ({self.class_}, fixed in {self.fixed}): {self.symptom}"

    @property
    def fixed(self) -> str:
        """The releases that mended it, as a text."""
        return ", ".join(self.fixed_in) or "no release"

    @property
    def described(self) -> str:
        """What it is, where it is fixed, what Kafka does, and what that costs."""
        return f"known as {self.expectation.rstrip('.')}. {self.consequence}"

    def breaks(self, version: str) -> bool:
        """Whether a release has the bug; never true of a version without numbers.

        A build with a name of its own (``3.9.1+acme.0a1b2c3d``) has the bugs of its release, and a snapshot
        (``3.9.2-SNAPSHOT``) those of the release that it becomes. Either may have mended any.
        """
        return is_in(version, self.broken)


def is_before(version: str, since: str) -> bool:
    """Whether a release came before another; a version that is none (``3.5.3-SNAPSHOT``) is compared by its numbers.

    Never true of a version without any. WrongUseError when ``since`` is no release.
    """
    first, release = _release(since), _numbered(version)
    if first is None:
        raise WrongUseError(f'expected a release of Kafka such as "3.7.0", got "{since}"')
    return release is not None and release < first


def is_release(version: str) -> bool:
    """Whether a version is that of a release itself, and not of a build of somebody (``3.9.1+acme.0a1b2c3d``)."""
    release = _release(version)
    return release is not None and release.local is None


def _release(version: str) -> Version | None:
    """None: no release, but a version with words of its own, say."""
    try:
        return Version(version)
    except InvalidVersion:
        return None


def _numbered(version: str) -> Version | None:
    """As ``_release``, but the numbers that a version with words of its own begins with; None: it has none."""
    numbers = _release(version) or numbers_of(version)
    return numbers if any(numbers.release) else None


@cache  # every judgement of a run asks it of every bug
def is_in(version: str, ranges: tuple[str, ...]) -> bool:
    """Whether a version is in any of these ranges; never true of one without numbers."""
    release = _numbered(version)
    return release is not None and any(SpecifierSet(each).contains(release, prereleases=True) for each in ranges)


@lru_cache
def requirements(profile: str) -> tuple[Requirement, ...]:
    """All requirements of a profile, in the order of its document."""
    if profile not in profiles():
        raise WrongUseError(_unknown("a profile", profile, profiles(), ", ".join(profiles())))
    place = place_of(profile)
    found = records(Requirement, place, REQUIREMENTS, "requirement", profile=profile)
    own = {each.id for each in found if not each.covered_by}
    for each in found:
        if each.covered_by and each.covered_by not in own:
            expected = "expected the id of another requirement here that none covers"
            raise wrong(place.folder / REQUIREMENTS, each.id, f'covered_by: {expected}, got "{each.covered_by}"')
    return found


def requirement(requirement_id: str) -> Requirement:
    """The requirement of this id, whichever its profile."""
    known = _by_id()
    if requirement_id not in known:
        raise WrongUseError(_unknown("a requirement id", requirement_id, known, "`kmigrate requirements` lists them"))
    return known[requirement_id]


@lru_cache
def all_known_bugs() -> tuple[KnownBug, ...]:
    """The known bugs that documents list, in the order of the files."""
    return tuple(each for profile in profiles() for each in _known_bugs(profile))


@lru_cache
def deviations(profile: str) -> tuple[Deviation, ...]:
    """The known deviations of a profile's document, in the order of its file."""
    place = place_of(profile)
    found = records(Deviation, place, DEVIATIONS, "deviation") if place.has(DEVIATIONS) else ()
    known = {each.id for each in requirements(profile)} if found else set()
    for each in found:
        if each.requirement not in known:
            text = _unknown(f"a requirement of {profile}", each.requirement, known, f"see {REQUIREMENTS} beside it")
            raise wrong(place.folder / DEVIATIONS, each.id, f"requirement: {text}")
        if each.wrong_bound:
            raise wrong(place.folder / DEVIATIONS, each.id, f"bound: {each.wrong_bound}")
    return found


def check_data(profile: str) -> None:
    """WrongUseError when a file of this document is wrong, or an id is used again in that of another."""
    known, path = _by_id(), place_of(profile).folder / REQUIREMENTS
    for row in requirements(profile):
        for other in row.same_as:
            if other not in known:
                text = _unknown("a requirement of another document", other, known, "`kmigrate requirements` lists them")
                raise wrong(path, row.id, f"same_as: {text}")
    mistakes_of(profile)
    all_departures()


@lru_cache
def all_departures() -> tuple[KnownBug, ...]:
    """Everything a violation may be known as: the known bugs of all documents, then their deviations."""
    bugs, deviating = all_known_bugs(), [each for profile in profiles() for each in deviations(profile)]
    check_ids(
        (place_of(profile).folder / file, each.id)
        for profile in profiles()
        for file, rows in ((KNOWN_BUGS, _known_bugs(profile)), (DEVIATIONS, deviations(profile)))
        for each in rows
    )
    return (*bugs, *map(_as_known_bug, deviating))


def departures_of(profile: str, version: str) -> tuple[KnownBug, ...]:
    """What a release is known to do instead of what a profile's document asks, the gravest first."""
    known = [*_known_bugs(profile), *map(_as_known_bug, deviations(profile))]
    return tuple(gravest_first(each for each in known if each.breaks(version)))


def gravest_first(known: Iterable[KnownBug]) -> list[KnownBug]:
    """Known bugs and deviations by their severity, then by their ids."""
    return sorted(known, key=lambda bug: (-bug.severity, bug.id))


@lru_cache
def met_by_any_run(version: str) -> tuple[KnownBug, ...]:
    """The bugs and deviations of this release that any run may meet, without a mark on its test."""
    return tuple(bug for bug in all_departures() if bug.met_by == "any-run" and bug.breaks(version))


def known_bug(bug_id: str) -> KnownBug:
    """The known bug or deviation of this id."""
    known = _departures_by_id()
    if bug_id not in known:
        raise WrongUseError(_unknown("the id of a known bug", bug_id, known, "known-bugs.toml lists them"))
    return known[bug_id]


def described(known_as: Iterable[str]) -> list[str]:
    """A line about each of these known bugs and deviations."""
    found = ((each, find_bug(each)) for each in known_as)
    return [bug.described if bug else f"known as {each}" for each, bug in found]


def find_bug(bug_id: str) -> KnownBug | None:
    """The known bug or deviation of this id; None for one that only another release lists."""
    return _departures_by_id().get(bug_id)


@lru_cache
def _departures_by_id() -> dict[str, KnownBug]:
    return {bug.id: bug for bug in all_departures()}


@lru_cache
def _by_id() -> dict[str, Requirement]:
    found = [each for profile in profiles() for each in requirements(profile)]
    check_ids((place_of(each.profile).folder / REQUIREMENTS, each.id) for each in found)
    return {each.id: each for each in found}


def _as_known_bug(deviation: Deviation) -> KnownBug:
    return KnownBug(
        id=deviation.id,
        area=f"departure from {deviation.requirement}",
        symptom=deviation.seen,
        broken=deviation.broken,
        fixed_in=(),
        severity=deviation.severity,
        reachability="race" if deviation.when == "race" else "blackbox",
        verified=True,
        met_by="any-run",
        class_=deviation.class_,
        consequence=deviation.consequence,
        ticket=deviation.ticket,
        requirements=(deviation.requirement,),
        is_deviation=True,
    )


@lru_cache
def _known_bugs(profile: str) -> tuple[KnownBug, ...]:
    place = place_of(profile)
    return records(KnownBug, place, KNOWN_BUGS, "bug") if place.has(KNOWN_BUGS) else ()


def _unknown(what: str, got: str, known: Iterable[str], hint: str) -> str:
    return f'expected {what}, got "{got}"{did_you_mean(got, known, ";")} {hint}'
