"""Asked: how many requirements of each profile the runs could have violated at all, and how these stand."""

from collections.abc import Sequence

from pytest_kmigrate.checkers.tally import Word
from pytest_kmigrate.reports.summary.rows import Row, grouped
from pytest_kmigrate.reports.summary.words import tallied


def asked_of(ledger: Sequence[Row], outcomes: Sequence[Row]) -> list[Row]:
    """One row per profile of the ledger: its requirements, how many were asked, and how many stand at each word.

    A requirement was asked if a check of some run could have violated it. As in ``kmigrate requirements --coverage``,
    one that another requirement covers is counted there. ``outcomes`` are rows of ``requirement_outcomes``.
    """
    found = tallied(outcomes, "requirement", "profile")
    rows = []
    for (profile,), mine in grouped([each for each in ledger if not each["covered_by"]], "profile").items():
        tallies = [found.get((each["id"], profile)) for each in mine]
        words = [each.word if each else Word.NOT_JUDGED for each in tallies]
        counts = {word.name.lower(): words.count(word) for word in Word}
        asked = len(mine) - words.count(Word.NOT_JUDGED)
        rows.append({"profile": profile, "requirements": len(mine), "asked": asked, **counts})
    return rows
