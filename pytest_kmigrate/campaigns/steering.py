"""Where a night's time narrows most: what is known of each cell, and what one more run is expected to add."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pytest_kmigrate.analysis.statistics.bounds import wilson_ends

_LEAST_WITNESSED = 0.2
"""A cell whose fault was hardly ever seen to bite is tried all the same, less often."""


@dataclass(frozen=True)
class Known:
    """What is known of a cell."""

    begun: int = 0
    witnessed: int = 0
    """Runs in which the fault was seen to bite."""
    violating: int = 0
    """Of those that gave an answer."""
    answered: int = 0
    """Runs that conform or violate, with the fault witnessed."""
    median_s: float | None = None
    """None: no run."""


NOTHING_KNOWN: Mapping[Any, Any] = MappingProxyType({})


def gain(known: Known, drawn: int, seconds: float) -> float:
    """The expected narrowing of the cell's 95 % interval a second, if it is visited once more.

    ``drawn``: how often the night visits it already, each counted as a run without a violation.
    """
    n, violating = known.answered + drawn, known.violating
    share = (violating + 0.5) / (n + 1)
    then = share * width(violating + 1, n + 1) + (1 - share) * width(violating, n + 1)
    seen = (known.witnessed + 1) / (known.begun + 1) if known.begun else 1.0
    return max(width(violating, n) - then, 0.0) * max(min(seen, 1.0), _LEAST_WITNESSED) / (known.median_s or seconds)


def width(violating: int, n: int) -> float:
    """How wide the 95 % interval of the share of violations is; 1 without a run."""
    if n == 0:
        return 1.0
    low, high = wilson_ends(violating / n, n, math.sqrt)
    return float(high - low)
