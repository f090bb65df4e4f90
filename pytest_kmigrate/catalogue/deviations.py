"""Known deviations: what released Kafka does instead of what a requirement asks, as data of a document."""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

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


EXACT = "exact"
"""The bound of an expression that is anchored and leaves no quantity open: what it finds is the whole deviation."""
_COMPARED: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}
_COMPARISON = re.compile(r"([a-z_]+) (<=|>=|<|=|>) ([a-z_]+|\d+)")
_EXPECTED = 'expected "exact" or comparisons such as "only < all and all <= 100"'
_NAMES_OF_NODES = re.compile(r"-\\d\+")
_NAMED = re.compile(r"\(\?P<\w+>")
_REPEATED = re.compile(r"\\[1-9]")
_OPEN = re.compile(r"\\d|\[[0-9]-[0-9]\]")


@dataclass(frozen=True)
class Comparison:
    """One comparison of a named number with another one, or with a constant."""

    left: str
    sign: str
    right: str

    def holds(self, found: re.Match[str]) -> bool:
        """Whether it holds of what an expression found; a number that its alternative does not have bounds nothing."""
        left, right = (each if each.isdigit() else found[each] for each in (self.left, self.right))
        return left is None or right is None or _COMPARED[self.sign](int(left), int(right))


def comparisons(bound: str) -> list[Comparison] | None:
    """The comparisons of a bound, none of ``exact``; None: it is neither."""
    if bound == EXACT:
        return []
    found = [_COMPARISON.fullmatch(each) for each in bound.split(" and ")]
    return [Comparison(*each.groups()) for each in found if each] if all(found) else None


def wrong_bound(bound: str, pattern: str) -> str | None:
    """What is wrong with the bound of an expression: what was expected, what it is, and what to do; None: nothing."""
    compared = comparisons(bound)
    if compared is None:
        return f'{_EXPECTED}, got "{bound}"'
    if not pattern.startswith("^"):
        return f'expected an expression that begins with "^", got "{pattern}": it may find a part of something else'
    named = set(re.compile(pattern).groupindex)
    used = {each for one in compared for each in (one.left, one.right) if not each.isdigit()}
    if used != named:
        wanted, got = (", ".join(sorted(each)) or "nothing" for each in (named, used))
        return f"expected comparisons of {wanted}, got those of {got}"
    if _is_open(pattern):
        return f'{_EXPECTED}, got an expression that takes any number: name each one in it, such as "(?P<only>\\d+)"'
    return None


def _is_open(pattern: str) -> bool:
    """Whether an expression takes any number without naming it; the number of a node is none.

    Of one that repeats a number ("3 of 3") all is known.
    """
    rest = _NAMES_OF_NODES.sub("", pattern)
    if _REPEATED.search(rest):
        rest = rest.replace(r"(\d+)", "")
    rest = re.sub(_NAMED.pattern + r"[^()]*\)", "", rest)
    return _OPEN.search(rest) is not None
