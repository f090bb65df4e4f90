"""Divergence: where sides of the metadata differed, and between which bounds that lasted.

Images are instants. Two of them that both show a difference, with none between that does not, prove that it lasted at
least from the one to the other; the images around them that show none say how long it can have lasted at most.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_kmigrate.checkers.metadata.differences import Difference, differences
from pytest_kmigrate.model.image import MetadataImage


@dataclass(frozen=True)
class Taken:
    """One side's image, what moment it was taken for, and between which times (since the run began) it was taken."""

    moment: str
    image: MetadataImage
    began_ns: int
    ended_ns: int


@dataclass(frozen=True)
class Divergence:
    """One difference between two sides, as long as it was seen without a break."""

    left: str
    right: str
    first: Difference
    moments: int
    """At how many moments it was seen."""
    first_moment: str
    first_ns: int
    last_ns: int
    at_least_ns: int
    at_most_ns: int | None
    """None: the last images that could show it did, so its end is unknown."""


@dataclass(frozen=True)
class _Compared:
    """Two images of one moment: what differs, by subject, and which families could."""

    moment: str
    found: Mapping[str, Difference]
    families: frozenset[str]
    began_ns: int
    ended_ns: int


def divergences(images: Sequence[Taken]) -> Iterator[Divergence]:
    """Every stretch of moments in which two sides differed in the same place, in no particular order.

    A difference that went and came back is two. Moments in which one of the sides could not know the family say nothing
    of it. Before the run began there was no metadata, so nothing differed.
    """
    moments: dict[str, list[Taken]] = {}
    for each in sorted(images, key=lambda taken: (taken.began_ns, taken.image.source)):
        moments.setdefault(each.moment, []).append(each)
    pairs: dict[tuple[str, str], list[_Compared]] = {}
    for taken in moments.values():
        for left, right in itertools.combinations(sorted(taken, key=lambda each: each.image.source), 2):
            pairs.setdefault((left.image.source, right.image.source), []).append(_compared(left, right))
    for (left_source, right_source), compared in pairs.items():
        families = {subject: found.family for each in compared for subject, found in each.found.items()}
        for subject, family in sorted(families.items()):
            could_show = [each for each in compared if family in each.families]
            for begin, end in _stretches([subject in each.found for each in could_show]):
                yield _lasting(left_source, right_source, subject, could_show, begin, end)


def _compared(left: Taken, right: Taken) -> _Compared:
    return _Compared(
        left.moment,
        {each.subject: each for each in differences(left.image, right.image)},
        frozenset(left.image.known) & frozenset(right.image.known),
        min(left.began_ns, right.began_ns),
        max(left.ended_ns, right.ended_ns),
    )


def _stretches(shown: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """(first, behind the last) of each run of true values."""
    position = 0
    for is_shown, run in itertools.groupby(shown):
        length = len(list(run))
        if is_shown:
            yield position, position + length
        position += length


def _lasting(left: str, right: str, subject: str, moments: Sequence[_Compared], begin: int, end: int) -> Divergence:
    first, last = moments[begin], moments[end - 1]
    equal_before_ns = moments[begin - 1].began_ns if begin else 0
    return Divergence(
        left,
        right,
        first.found[subject],
        end - begin,
        first.moment,
        first.ended_ns,
        last.ended_ns,
        max(last.began_ns - first.ended_ns, 0),
        moments[end].ended_ns - equal_before_ns if end < len(moments) else None,
    )
