"""Nights of schedules in a summary: the cells that can be, and what of a night needs a human."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from pytest_kmigrate.catalogue import profiles
from pytest_kmigrate.faults.schedules.space_file import declared
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.summary.rows import Row, by, grouped, listed, plural

MOST_LINES_NAMED = 20


class OfNights(TypedDict):
    """What a summary has of them; but for the space, rows of the table of that name."""

    schedules: list[Row]
    chaos_space: list[Row]
    chaos_cells: list[Row]
    chaos_pairs: list[Row]
    chaos_nights: list[Row]
    shrinks: list[Row]


def of_nights(known: Mapping[str, list[Row]]) -> OfNights:
    """The tables of nights, in order, and the cells that can be."""
    return {
        "schedules": sorted(known["schedules"], key=by("night", "line", "folder")),
        "chaos_space": chaos_space(known["schedules"]),
        "chaos_cells": sorted(known["chaos_cells"], key=by("profile", "kafka", "effect", "state", "aim")),
        "chaos_pairs": sorted(known["chaos_pairs"], key=by("profile", "kafka", "first", "second", "relation")),
        "chaos_nights": sorted(known["chaos_nights"], key=by("night", "profile")),
        "shrinks": sorted(known["shrinks"], key=by("run_id", "signature")),
    }


def chaos_space(schedules: Sequence[Row]) -> list[Row]:
    """Every cell of the documents whose schedules were carried out, and why it cannot be; None: it can."""
    documents = sorted({str(each["document"]) for each in schedules} & set(profiles()))
    return [
        {"profile": document, "effect": cell.effect, "state": cell.state, "aim": cell.aim, "why_not": why}
        for document in documents
        if (space := declared(document)) is not None
        for cell, why in space.answers.items()
    ]


def reds_of_schedules(schedules: Sequence[Row], alone: Sequence[Row]) -> Mapping[str, list[Row]]:
    """New reds of schedules that no other test shares, by what they violate."""
    drawn = {each["folder"] for each in schedules if not each["shrinks"]}
    mine = [each for each in alone if each["folder"] in drawn]
    return {str(check): runs for (check,), runs in grouped(mine, "check").items()}


def detail_of(runs: Sequence[Row]) -> str:
    """How many schedules violate something."""
    safety = sum(each["kind"] == "SAFETY" for each in runs)
    return f"{plural(len(runs), 'schedule')} violate{'s' * (len(runs) == 1)} it" + f", {safety} SAFETY" * bool(safety)


def incomplete_nights(nights: Sequence[Row]) -> list[Row]:
    """One concern for each night of which lines were not carried out."""
    return [
        {
            "level": Outcome.INCONCLUSIVE.name,
            "title": f"Night {str(each['night'])[:8]} is not whole",
            "condition": str(each["profile"]),
            "detail": missing(each),
        }
        for each in nights
        if not each["is_whole"]
    ]


def missing(night: Row) -> str:
    """Which lines of a night were not carried out, and how many of its machines were seen."""
    lines = [str(each) for each in listed(night["missing"])]
    more = f" and {len(lines) - MOST_LINES_NAMED} more" if len(lines) > MOST_LINES_NAMED else ""
    seen = f"; {night['shards_seen']} of {plural(night['shards'], 'machine')} seen" if night["shards"] else ""
    return f"{len(lines)} of {night['lines']} lines missing: {', '.join(lines[:MOST_LINES_NAMED])}{more}{seen}"
