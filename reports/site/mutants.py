"""Generated defects of Kafka: which share of them was noticed, by which requirements, and which were not."""

from collections.abc import Sequence

from pytest_kmigrate.model.mutants import UNCOUNTED, Fate
from pytest_kmigrate.reports.pages.drawing import Cell, percent, text
from pytest_kmigrate.reports.site.views import below, number_cell, section, table_of
from pytest_kmigrate.reports.summary.rows import Row, count, grouped, number
from pytest_kmigrate.reports.summary.summary import Summary

_FATES = [*Fate]


def generated_defects(summary: Summary) -> str:
    """Nothing without a sample."""
    if not summary["mutation_scores"]:
        return ""
    drawn = _scores(summary["mutation_scores"]) + _requirements(summary["mutation_requirements"])
    return section("Generated defects", drawn + _unnoticed(summary["mutation"]))


def _scores(rows: Sequence[Row]) -> str:
    heads = ("Sample", "Drawn", "Tried", "Counted", "Noticed", "Never executed", "Share", "95 % interval")
    drawn = [
        [
            Cell(text(f"{row['kafka']} by {row['profile']}, seed {row['seed']}"), str(row["seed"]), "name"),
            *(number_cell(row[name]) for name in ("drawn", "tried", "counted", "noticed", "never_executed")),
            Cell(_share(row["share"]), number(row["share"]) or 0.0, "number"),
            Cell(f"{_share(row['share_low'])} to {_share(row['share_high'])}"),
        ]
        for row in rows
    ]
    return table_of(heads, drawn, 0, "mutation_scores")


def _share(value: object) -> str:
    share = number(value)
    return "none" if share is None else percent(share)


def _requirements(rows: Sequence[Row]) -> str:
    heads = ("Requirement", "Defects that it notices", "that no other one notices")
    drawn = [
        [
            Cell(text(row["requirement"]), row["requirement"], "name"),
            number_cell(row["mutants"]),
            number_cell(row["alone"]),
        ]
        for row in sorted(rows, key=lambda row: (-count(row["alone"]), -count(row["mutants"]), str(row["requirement"])))
    ]
    return table_of(heads, drawn, 0, "mutation_requirements") if drawn else ""


def _unnoticed(rows: Sequence[Row]) -> str:
    """The mutants that were tried, count and were not noticed, those that a test came closest to first."""
    drawn = []
    for (kafka, mutant), mine in grouped(rows, "kafka", "mutant").items():
        fate = min((Fate(str(row["fate"])) for row in mine if row["fate"]), key=_FATES.index, default=None)
        if fate is not None and fate is not Fate.KILLED and fate not in UNCOUNTED:
            tests = ", ".join(text(str(row["test_id"]).rpartition("::")[2]) for row in mine if row["test_id"])
            changed = f"{str(mine[0]['method']).partition('(')[0]}: {mine[0]['change']}"
            drawn.append(
                [Cell(text(mutant) + below(kafka), mutant, "name"), Cell(text(changed)), Cell(fate), Cell(tests)]
            )
    return table_of(("Not noticed", "Changed", "Became", "Tests"), drawn, 0, "mutation") if drawn else ""
