"""Asked: how many requirements of each profile the runs could have violated at all, and how these stand."""

from collections.abc import Sequence

from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.summary.rows import Row, count, grouped, listed


def asked_of(ledger: Sequence[Row], requirements: Sequence[Row]) -> list[Row]:
    """One row per profile of the ledger: its requirements, how many were asked, and how many have each worst outcome.

    A requirement was asked if a check of some run could have violated it. As in ``kmigrate requirements --coverage``,
    one that another requirement covers is counted there.
    """
    of_requirement = grouped(requirements, "requirement", "profile")
    rows = []
    for (profile,), mine in grouped([each for each in ledger if not each["covered_by"]], "profile").items():
        worst = [_worst(of_requirement.get((each["id"], profile), [])) for each in mine]
        counts = {outcome.name.lower(): worst.count(outcome) for outcome in Outcome}
        rows.append({"profile": profile, "requirements": len(mine), "asked": len(mine) - worst.count(None), **counts})
    return rows


_COLUMNS = {
    Outcome.VIOLATES: "violating",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.CONFORMS: "conforming",
    Outcome.NOT_APPLICABLE: "not_applicable",
}


def _worst(rows: Sequence[Row]) -> Outcome | None:
    """The worst outcome over all versions; None if no check of any run could have violated the requirement."""
    judged = [row for row in rows if listed(row["judged_by"])]
    return next((outcome for outcome, column in _COLUMNS.items() if any(count(row[column]) for row in judged)), None)
