"""What a report has of Kafka's code: which of it was executed, and which generated defects in it were noticed."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from pytest_kmigrate.reports.summary.rows import Row, by


class OfCode(TypedDict):
    """Tables of the same names, in the order in which a page has them."""

    exercised_classes: list[Row]
    mutation: list[Row]
    mutation_scores: list[Row]
    mutation_requirements: list[Row]


def of_code(known: Mapping[str, Sequence[Row]]) -> OfCode:
    """Those rows, sorted."""
    return {
        "exercised_classes": sorted(known["exercised_classes"], key=by("profile", "kafka", "class")),
        "mutation": sorted(known["mutation"], key=by("profile", "kafka", "seed", "mutant")),
        "mutation_scores": sorted(known["mutation_scores"], key=by("profile", "kafka", "seed")),
        "mutation_requirements": sorted(known["mutation_requirements"], key=by("profile", "kafka", "requirement")),
    }
