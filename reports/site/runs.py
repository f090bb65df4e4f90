"""Runs: those that did not conform, each with what was seen, its timeline, and how to run it again."""

from collections.abc import Sequence

from pytest_kmigrate.reports.pages.drawing import Cell, amount, chip, folded, link, table, text, unfolding
from pytest_kmigrate.reports.site.views import below, bug_chip, condition, fine, section
from pytest_kmigrate.reports.summary.rows import Row, day, kafka_of, level_of, listed, newest_first

_MOST_RUNS = 8


def unconforming_runs(attempts: Sequence[Row]) -> str:
    """The latest runs that did not conform, and how to run each again."""
    red = newest_first((each for each in attempts if each["outcome"] in ("VIOLATES", "INCONCLUSIVE")), "started_at")
    if not red:
        return section("Runs that did not conform", fine("None."))
    rows = [
        [
            Cell(_what_happened(each), each["summary"], "name"),
            Cell(chip(level_of(each)) + (below("in an infra night") if each["is_aside"] else "")),
            Cell(
                day(each["started_at"]) + below(kafka_of(each["kafka"])),
                each["started_at"],
            ),
            Cell(condition(each), each["fault"], "fault"),
            Cell(link(each["timeline"], "timeline") if each["timeline"] else '<span class="soft">none</span>'),
            Cell(folded(f"seed {text(each['seed'])}", f"<pre>{text(each['reproduce'])}</pre>"), each["seed"]),
        ]
        for each in red[:_MOST_RUNS]
    ]
    heads = ("What was seen", "Outcome", "When", "Fault, phase", "Timeline", "Again")
    return section(
        "Runs that did not conform",
        table(heads, rows),
        f"The latest {len(rows)} of {amount(len(red))}; all are in tables/attempts.",
    )


def _what_happened(attempt: Row) -> str:
    bugs = "".join(f" {bug_chip(bug)}" for bug in listed(attempt["known_bugs"]))
    seen = f'<div class="soft small">{unfolding(attempt["summary"])}</div>'
    return f"<code>{text(attempt['check'])}</code>{bugs}{seen}"
