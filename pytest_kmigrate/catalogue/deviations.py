"""Known deviations: what released Kafka does instead of what a requirement asks, as data of a document."""

import re
from dataclasses import dataclass
from typing import Literal

from packaging.specifiers import SpecifierSet

from pytest_kmigrate.model.errors import WrongUseError

DEVIATIONS = "deviations.toml"
"""A file that a document's folder may have."""


@dataclass(frozen=True)
class Deviation:
    """One requirement that released Kafka does not meet, and what is observed where it does not."""

    id: str
    requirement: str
    seen: str
    """What Kafka does instead, as a sentence."""
    observed: str
    """A regular expression that finds the whole deviation, and nothing else, in what a violation observed."""
    broken: tuple[str, ...]
    """Release ranges such as ``>=3.5.0,<=3.9.2``; a release deviates if any matches."""
    when: Literal["always", "race"]
    """``always``: a test that claims the requirement on such a release must see it; ``race``: it may."""

    def __post_init__(self) -> None:
        if self.when not in ("always", "race"):
            raise WrongUseError(f'{DEVIATIONS}: {self.id}: when: expected "always" or "race", got {self.when!r}')
        try:
            re.compile(self.observed)
            for each in self.broken:
                SpecifierSet(each)
        except (re.error, ValueError) as error:
            raise WrongUseError(f"{DEVIATIONS}: {self.id}: {error}") from error

    def explains(self, observed: str) -> bool:
        """Whether this is what a violation observed."""
        return re.search(self.observed, observed) is not None
