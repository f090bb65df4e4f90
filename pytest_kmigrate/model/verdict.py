"""Verdicts: what a checker says about a requirement, and how several are merged."""

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol


class Outcome(enum.IntEnum):
    """The order decides which outcome wins when verdicts merge."""

    NOT_APPLICABLE = 0
    CONFORMS = 1
    INCONCLUSIVE = 2
    VIOLATES = 3


class Kind(enum.Enum):
    """What sort of violation (SAFETY, LIVENESS), or why nothing could be said (HARNESS, INFRA, VACUOUS)."""

    SAFETY = "SAFETY"
    LIVENESS = "LIVENESS"
    HARNESS = "HARNESS"
    INFRA = "INFRA"
    VACUOUS = "VACUOUS"


@dataclass(frozen=True)
class Violation:
    """One thing that was wrong.

    ``expected`` and ``observed`` are sentences; ``at_ns`` is nanoseconds since the run began (None: not one moment);
    ``evidence`` names events (``event 41``) or files of the run folder.
    """

    expected: str
    observed: str
    at_ns: int | None = None
    evidence: tuple[str, ...] = ()
    awaited: tuple[int, int] | None = field(default=None, compare=False)
    """Begin and end of the time in which something was awaited that did not come; None: not known. Never stored."""

    @property
    def ended_ns(self) -> int | None:
        """The end of what lasted, as far as it is known, or the moment it is about."""
        return self.at_ns if self.awaited is None else self.awaited[1]


@dataclass(frozen=True)
class About:
    """What one check says about one requirement."""

    requirement: str
    outcome: Outcome
    kind: Kind | None = None
    seen: int = 0
    """How many things were looked at that could have violated it; of 0 nothing follows."""
    summary: str = ""
    """What was looked at, where this is not the summary of the whole verdict."""
    observed: tuple[str, ...] = field(default=(), compare=False)
    """What each violation of it observed; empty where that was not kept apart, and in a verdict read back."""
    awaited: tuple[tuple[int, int] | None, ...] = field(default=(), compare=False)
    """When each of these was awaited, as in ``Violation``; empty where that is not known."""
    known_bugs: tuple[str, ...] = ()
    """What explains every violation of this requirement, by id; empty if anything of it is left unexplained."""

    @property
    def is_vacuous(self) -> bool:
        """Whether the check could not have failed in this run."""
        return self.outcome is Outcome.INCONCLUSIVE and self.seen == 0


class Named(Protocol):
    """A checker, of which verdicts know the name alone."""

    @property
    def name(self) -> str:
        """What its checks and verdicts are recorded with."""
        ...


@dataclass(frozen=True)
class Verdict:
    """What one check says, with at most ``MOST_VIOLATIONS`` examples and the count of all."""

    check: str
    """The name of the checker, which ``checker`` fills in, or what ``by`` named."""
    outcome: Outcome
    kind: Kind | None = None
    summary: str = ""
    violations: tuple[Violation, ...] = ()
    count: int = 0
    about: tuple[About, ...] = ()
    """The outcome of each requirement it speaks for, in the order of their declaration."""
    standing: bool = False
    """Whether the run is judged by it for the sake of its requirements, although the test did not ask."""
    anomaly: str = ""
    """What reports call its violation, where they list it beside the anomalies of client operations."""
    facts: dict[str, object] = field(default_factory=dict)
    known_bugs: tuple[str, ...] = ()
    """Bugs of the release under test that explain what is violated, by id."""
    every: tuple[Violation, ...] = field(default=(), compare=False, repr=False)
    """All violations, for what explains them one by one; never written. Empty where a check only counts them."""
    causes: tuple[tuple[str, ...], ...] = field(default=(), compare=False, repr=False)
    """What explains each violation that was explained by itself, as in ``known_bugs``; never written."""

    @property
    def requirements(self) -> tuple[str, ...]:
        """The requirements it says anything about: it could have violated them, or says why they do not apply."""
        return tuple(each.requirement for each in self.about if not each.is_vacuous)

    @property
    def is_vacuous(self) -> bool:
        """Whether it could not have failed in this run."""
        return self.outcome is Outcome.INCONCLUSIVE and self.kind is Kind.VACUOUS

    @property
    def all_known(self) -> tuple[Violation, ...]:
        """All violations; none if the verdict counts more than it holds, so that nothing follows from the examples."""
        return self.every or (self.violations if self.count <= len(self.violations) else ())

    @property
    def counts(self) -> bool:
        """Whether it counts for the run, and not only for the requirements it speaks for.

        A check that is judged in every run for the sake of its requirements counts unless it found nothing to look at,
        or nothing but what a known bug of the release explains: the run was about something else.
        """
        says_nothing = self.is_vacuous or self.outcome is Outcome.NOT_APPLICABLE or bool(self.known_bugs)
        return not (self.standing and says_nothing)

    def speaking_for(self, *requirements: str) -> "Verdict":
        """Return the verdict with its own outcome for each of these requirements, besides those it has."""
        seen = int(self.outcome in (Outcome.CONFORMS, Outcome.VIOLATES))
        apart = self.violations if self.count == len(self.violations) else ()
        observed, awaited = tuple(each.observed for each in apart), tuple(each.awaited for each in apart)
        known = self.known_bugs
        own = tuple(About(each, self.outcome, self.kind, seen, "", observed, awaited, known) for each in requirements)
        return replace(self, about=(*self.about, *own))

    def by(self, check: str) -> "Verdict":
        """Return the verdict as one of this name."""
        return replace(self, check=check)

    def about_each(self, about: Iterable[About]) -> "Verdict":
        """Return the verdict with these outcomes of single requirements."""
        return replace(self, about=tuple(about))

    def is_of(self, *checkers: Named) -> bool:
        """Whether it is the verdict of one of these checkers."""
        return any(each.name == self.check for each in checkers)

    def listed(self, fact: str) -> list[str]:
        """A fact that is a list, as texts; nothing where the check has no such fact."""
        reported = self.facts.get(fact)
        return [str(each) for each in reported] if isinstance(reported, list | tuple) else []


MOST_VIOLATIONS = 10

SEEN_AS = "seen_as"
"""The fact of a verdict that has, for each of its known bugs, what the first violation observed that it explains."""


def conforms(summary: str, **facts: object) -> Verdict:
    """A verdict CONFORMS; ``summary`` says over how much evidence."""
    return Verdict("", Outcome.CONFORMS, None, summary, facts=facts)


def violates(kind: Kind, violations: Iterable[Violation], summary: str = "", **facts: object) -> Verdict:
    """A verdict VIOLATES of ``kind``; keeps the first violations and counts them all."""
    found = list(violations)
    text = summary or f"{len(found)} x: expected {found[0].expected}; observed {found[0].observed}"
    kept = tuple(found[:MOST_VIOLATIONS])
    return Verdict("", Outcome.VIOLATES, kind, text, kept, len(found), facts=facts, every=tuple(found))


def inconclusive(kind: Kind, summary: str, **facts: object) -> Verdict:
    """A verdict INCONCLUSIVE; ``summary`` says what was missing."""
    return Verdict("", Outcome.INCONCLUSIVE, kind, summary, facts=facts)


def not_applicable(summary: str) -> Verdict:
    """A verdict NOT_APPLICABLE; ``summary`` says why."""
    return Verdict("", Outcome.NOT_APPLICABLE, None, summary)


def merged(outcomes: Iterable[Outcome]) -> Outcome:
    """The worst outcome; of no outcome at all, INCONCLUSIVE."""
    return max(outcomes, default=Outcome.INCONCLUSIVE)
