"""What changed between two texts of a document: a page that is made from the catalogue, and needs no run.

Run as ``python -m pytest_kmigrate.judging.texts PROFILE PAGE`` for a profile that another one replaced. Such a profile
has no column for each release and no certificate: where the final text changed its mind, Kafka follows the final one.
"""

import sys
from pathlib import Path

from pytest_kmigrate.catalogue import Requirement, deviations, requirements
from pytest_kmigrate.documents import document
from pytest_kmigrate.model.errors import KmigrateError, WrongUseError
from pytest_kmigrate.reports.pages.markup import code, literal, table
from pytest_kmigrate.reports.suite_tests import ended_by_mistake


def page(profile: str) -> str:
    """The requirements that the final text changed or dropped, then those that it repeats.

    WrongUseError for a document that no other one replaced.
    """
    final = document(profile).replaced_by
    if not final:
        raise WrongUseError(f"{profile}: expected a document that another one replaced; see `make matrix` for this one")
    rows = [each for each in requirements(profile) if not each.covered_by]
    changed = [each for each in rows if not each.same_as]
    same = [each for each in rows if each.same_as]
    lead = (
        f"{profile} is an early text of {final}. Of its {len(rows)} requirements the final text changed or dropped "
        f"{len(changed)}; released Kafka follows the final text there, so this page has no column for each release, "
        f"and `kmigrate certify` takes {final}. The other {len(same)} say the same in both texts and stand in "
        f"[{final}.md]({final}.md). `make docs` writes this page from the catalogue."
    )
    heads = ("requirement", "the early text", "the final text", "what Kafka does")
    instead = {each.requirement: each.seen for each in deviations(profile)}
    drawn = [(code(row.id), literal(row.statement), literal(row.final or ""), _kafka(row, instead)) for row in changed]
    repeated = [(code(row.id), ", ".join(map(code, row.same_as))) for row in same]
    return "\n\n".join(
        [
            f"# What changed between {profile} and {final}",
            lead,
            "## Changed or dropped",
            table(heads, drawn),
            "## The same in both",
            table(("requirement", "in the final text"), repeated),
        ]
    )


def _kafka(row: Requirement, instead: dict[str, str]) -> str:
    return literal(instead.get(row.id, row.real_kafka))


def main(profile: str, to: str) -> int:
    """Write the page."""
    try:
        written = page(profile)
    except KmigrateError as error:
        return ended_by_mistake(error)
    Path(to).write_text(written + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
