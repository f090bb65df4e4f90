"""Outcomes by requirement: for checks that look at several things, each of which another sentence asks for."""

from collections import Counter
from collections.abc import Sequence

from pytest_kmigrate.model.verdict import (
    About,
    Kind,
    Outcome,
    Verdict,
    Violation,
    conforms,
    inconclusive,
    not_applicable,
    violates,
)


class ByRequirement:
    """Collects what a check saw of each of its requirements; ``verdict`` makes one verdict of it all.

    A requirement of which nothing was looked at is INCONCLUSIVE, so that no check conforms that could not have failed.
    """

    def __init__(self, *requirements: str) -> None:
        self._requirements = requirements
        self._seen = Counter[str]()
        self._violations: dict[str, list[tuple[Kind, Violation]]] = {each: [] for each in requirements}
        self._inapplicable: dict[str, str] = {}

    def looked_at(self, requirement: str, count: int = 1) -> None:
        """So many things were looked at that could have violated the requirement."""
        self._seen[requirement] += int(count)  # a count of NumPy would be stored as text

    def violated(self, requirement: str, violation: Violation, kind: Kind = Kind.SAFETY) -> None:
        """One of them violates it; it counts as looked at by itself."""
        self._seen[requirement] += 1
        self._violations[requirement].append((kind, violation))

    def not_applicable(self, requirement: str, why: str) -> None:
        """The requirement cannot be asked of this run; ``why`` names the release, the topology or the provider."""
        self._inapplicable[requirement] = why

    def verdict(self, conforming: str, lacking: str, **facts: object) -> Verdict:
        """The verdict; its summary is ``conforming`` where all holds, ``lacking`` where nothing could be looked at."""
        about = tuple(self._about(each) for each in self._requirements)
        found = [pair for each in self._requirements for pair in self._violations[each]]
        if found:
            kind = _worst(found)
            verdict = violates(kind, [violation for _, violation in found], "", **facts)
        elif self._seen.total():
            verdict = conforms(conforming, **facts)
        elif len(self._inapplicable) == len(self._requirements):
            verdict = not_applicable("; ".join(dict.fromkeys(self._inapplicable.values())))
        else:
            verdict = inconclusive(Kind.VACUOUS, lacking, **facts)
        return verdict.about_each(about)

    def _about(self, requirement: str) -> About:
        found = self._violations[requirement]
        if found:
            kind, first = _worst(found), found[0][1]
            summary = f"expected {first.expected}; observed {first.observed}"
            observed = tuple(violation.observed for _, violation in found)
            awaited = tuple(violation.awaited for _, violation in found)
            return About(requirement, Outcome.VIOLATES, kind, self._seen[requirement], summary, observed, awaited)
        if self._seen[requirement]:
            return About(requirement, Outcome.CONFORMS, None, self._seen[requirement])
        if requirement in self._inapplicable:
            return About(requirement, Outcome.NOT_APPLICABLE, None, 0, self._inapplicable[requirement])
        return About(requirement, Outcome.INCONCLUSIVE, Kind.VACUOUS)


def _worst(found: Sequence[tuple[Kind, Violation]]) -> Kind:
    return Kind.SAFETY if any(kind is Kind.SAFETY for kind, _ in found) else found[0][0]
