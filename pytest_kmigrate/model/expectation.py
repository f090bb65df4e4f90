"""Expectations as values: a test asks for one, and a diagnosis recognizes it, by the same object."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from pytest_kmigrate.model.events.evidence import ExpectationEnded


@dataclass(frozen=True)
class Expectation:
    """What tests expect of the live cluster: an id, which is recorded, and words for readers.

    The words may have places in braces, such as ``partitions of {topic} in ZooKeeper``.
    """

    id: str
    words: str
    places: Mapping[str, str] = field(default_factory=dict)

    def of(self, **places: object) -> "Expectation":
        """The expectation with its places filled."""
        return replace(self, places={key: str(value) for key, value in places.items()})

    @property
    def name(self) -> str:
        """The words with what is at their places; KeyError for one that is open."""
        return self.words.format(**self.places)

    def is_named(self, name: str) -> bool:
        """Whether these are its words, whatever is at their places."""
        return self._pattern.fullmatch(name) is not None

    def is_of(self, ended: ExpectationEnded) -> bool:
        """Whether a test expected this; runs that record no ids are recognized by the words."""
        return self.places_in(ended) is not None

    def places_in(self, ended: ExpectationEnded) -> Mapping[str, str] | None:
        """What was at the places when a test expected this; None if it expected something else."""
        if ended.expectation is not None:
            return ended.places or {} if ended.expectation == self.id else None
        found = self._pattern.fullmatch(ended.name)
        return None if found is None else found.groupdict()

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = re.split(r"\{(\w+)\}", self.words)
        return re.compile("".join(f"(?P<{each}>.+?)" if n % 2 else re.escape(each) for n, each in enumerate(parts)))
