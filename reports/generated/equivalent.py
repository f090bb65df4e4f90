"""Generated mutants that change nothing that anybody could see, by hand, each with the reason."""

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_kmigrate.catalogue import place_of
from pytest_kmigrate.catalogue.rows import records

EQUIVALENT = "equivalent.toml"
"""A file that a document's folder may have."""


@dataclass(frozen=True)
class Equivalent:
    """A mutant by its id, and why it is no defect."""

    id: str
    kafka: str
    """The release whose lines its id has."""
    reason: str


def equivalents(profile: str, kafka: str) -> Mapping[str, str]:
    """The reasons by id of the mutant; nothing if the document names none of this release."""
    place = place_of(profile)
    rows = records(Equivalent, place, EQUIVALENT, "equivalent") if place.has(EQUIVALENT) else ()
    return {each.id: each.reason for each in rows if each.kafka == kafka}
