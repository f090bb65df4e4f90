"""Leaderships: what each controller reported while it led the quorum, by samples of its metrics."""

import itertools
import math
from collections.abc import Iterator, Sequence

from pytest_kmigrate.checkers.controllers.lives import processes
from pytest_kmigrate.model.history import History, Sample


def leaderships(history: History) -> list[Sequence[Sample]]:
    """The samples of each leadership, until another controller claims to lead.

    Who stood still or was cut off goes on claiming, but began before its successor did.
    """
    claims = sorted(terms(history), key=lambda each: each[0].at_ns)
    ends_ns = [*(later[0].at_ns for later in claims[1:]), math.inf]
    rows = ([each for each in claim if each.at_ns < end_ns] for claim, end_ns in zip(claims, ends_ns, strict=False))
    return [row for row in rows if row]


def terms(history: History) -> Iterator[list[Sample]]:
    """Yield samples in a row in which one process said that it leads; those in which it said nothing are left out."""
    for samples in processes(history, "controller"):
        telling = (each for each in samples if each.values.get("ActiveControllerCount") is not None)
        for is_active, row in itertools.groupby(telling, lambda each: each.values["ActiveControllerCount"] == 1):
            if is_active:
                yield list(row)
