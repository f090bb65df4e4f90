"""What a violated check of metadata found wrong, looked up again in the images it was about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_kmigrate.checkers.metadata.acknowledged import Lost, looked_for
from pytest_kmigrate.checkers.metadata.differences import both_entries, differences, family_differences
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.checkers.metadata.soundness import unsound_logs
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_WRONG = "wrong"
"""The fact of a verdict that is about one place only: what is wrong there."""


@dataclass(frozen=True)
class Wrong:
    """The images a check was about, and what is wrong with them."""

    lost: Mapping[str, Sequence[Lost]]
    """By image: the acknowledged changes that it lacks."""
    places: frozenset[tuple[str, str]]
    """Family and key of everything that differs or is lost."""

    @property
    def all_lost(self) -> list[Lost]:
        """Everything that any image lacks."""
        return [each for lost in self.lost.values() for each in lost]

    @property
    def every_place(self) -> frozenset[tuple[str, str]]:
        """Family and key of everything that differs, or that any image lacks."""
        return self.places | {each.place for each in self.all_lost}

    def behind(self, history: History, source: str) -> str | None:
        """The image of this source, if only such a one lacks anything that was acknowledged."""
        of_source = [label for label in self.lost if history.images[label].source == source]
        others = [label for label in self.lost if label not in of_source]
        return of_source[0] if of_source and not any(self.lost[label] for label in others) else None

    def at(self, place: tuple[str, str]) -> "Wrong":
        """What is wrong at one place."""
        lost = {label: [each for each in lost if each.place == place] for label, lost in self.lost.items()}
        return Wrong(lost, frozenset([place]))

    def by_side(self) -> "list[Wrong]":
        """What each image lacks by itself, where several lack something: causes may differ."""
        lacking = [label for label in self.lost if self.lost[label]]
        nothing: dict[str, Sequence[Lost]] = dict.fromkeys(self.lost, ())
        return [Wrong({**nothing, label: self.lost[label]}, self.places) for label in lacking] if lacking[1:] else []


def at_one_place(history: History, verdict: Verdict) -> list[Verdict]:
    """A violated verdict once for each place where something differs or is lost, with the violations that name it."""
    wrong = wrong_in(history, verdict)
    places = wrong.every_place if wrong else frozenset()
    return [_at(verdict, wrong.at(each)) for each in sorted(places)] if wrong else []


def by_side(history: History, part: Verdict) -> list[Verdict]:
    """What is wrong at one place once for each image that lacks something; nothing where fewer than two do."""
    wrong = wrong_in(history, part)
    return [_at(part, each) for each in wrong.by_side()] if wrong and len(wrong.places) == 1 else []


def _at(verdict: Verdict, wrong: Wrong) -> Verdict:
    ((_, key),) = wrong.places
    found = tuple(each for each in verdict.every or verdict.violations if key in each.expected or key in each.observed)
    return replace(verdict, facts={**verdict.facts, _WRONG: wrong}, about=(), violations=found, every=found)


def wrong_in(history: History, verdict: Verdict) -> Wrong | None:
    """What a violated check found; None for other checks, and where a log was changed as it cannot be."""
    wrong = verdict.facts.get(_WRONG)
    if isinstance(wrong, Wrong):
        return wrong
    labels = verdict.listed("images")
    if not labels or unsound_logs(history, *labels):
        return None
    lost = {label: looked_for(history, label).lost for label in labels}
    places = {each.place for label in labels for each in lost[label]}
    if verdict.is_of(metadata_equivalent):
        places = _unlike(history, verdict, *labels)
    pairs = verdict.facts.get("pairs")
    for left, right in pairs if isinstance(pairs, list | tuple) else ():
        unlike = differences(history.images[left], history.images[right])
        places |= {(each.family, each.key) for each in unlike}
    return Wrong(lost, frozenset(places))


def _unlike(history: History, verdict: Verdict, left: str, right: str) -> set[tuple[str, str]]:
    one, other = history.images[left], history.images[right]
    fields, families = verdict.listed("partition_fields"), verdict.facts.get("families")
    return {
        (family, each.key)
        for family in (families if isinstance(families, Mapping) else ())
        for each in family_differences(family, both_entries(one, other, family), fields)
    }
