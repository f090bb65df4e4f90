"""Known deviations: what released Kafka does instead of what a requirement asks, as data of a document."""

import re
from dataclasses import dataclass
from typing import Literal

from pytest_kmigrate.catalogue.bounds import comparisons, wrong_bound
from pytest_kmigrate.catalogue.rows import Class, Pattern, Ranges, Severity, Ticket

DEVIATIONS = "deviations.toml"
"""A file that a document's folder may have."""
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d) (?=\d{3}\b)")


@dataclass(frozen=True)
class Deviation:
    """One requirement that released Kafka does not meet, and what is observed where it does not."""

    id: str
    requirement: str
    seen: str
    """What Kafka does instead, as a sentence."""
    observed: Pattern
    """A regular expression that finds the whole deviation, and nothing else, in what a violation observed."""
    bound: str
    """How much of it is the deviation: comparisons of the groups that ``observed`` names, such as ``only < all``.

    ``exact`` if the expression leaves no number open.
    """
    broken: Ranges
    """Release ranges such as ``>=3.5.0,<=3.9.2``; a release deviates if any matches."""
    when: Literal["always", "race"]
    """``always``: a test that claims the requirement on such a release must see it; ``race``: it may."""
    class_: Class
    severity: Severity
    consequence: str
    """What an operator or a client loses by it, as a sentence."""
    ticket: Ticket | None = None

    @property
    def wrong_bound(self) -> str | None:
        """What is wrong with the bound of the expression, if anything is."""
        return wrong_bound(self.bound, self.observed)

    def explains(self, observed: str) -> bool:
        """Whether this is what a violation observed, within its bound; numbers may be as long as "1 049"."""
        found = re.search(self.observed, _BETWEEN_THOUSANDS.sub("", observed))
        return found is not None and all(each.holds(found) for each in comparisons(self.bound) or ())
