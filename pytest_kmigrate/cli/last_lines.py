"""The last lines of an analysis: what was shown, what was found, and the commands that a reader types next."""

from collections.abc import Iterator, Mapping, Sequence

from pytest_kmigrate.checkers.tally import Word
from pytest_kmigrate.reports.summary.rows import Row, count, listed, plural
from pytest_kmigrate.reports.summary.versions import safety_claim

_MOST_FOUND = 3
"""Concerns said on the terminal, the most urgent; the report has all."""

_SHARES = {
    Word.CONFORMS: "conform",
    Word.DEPARTURE: "with a departure",
    Word.REMARK: "with a remark",
    Word.DEFECT: "with a known defect",
    Word.VIOLATION: "violated by something new",
    Word.INCONCLUSIVE: "inconclusive",
}


def last_lines(report: Mapping[str, object]) -> list[str]:
    """Lines about a ``report.json``: the headline, what the runs show, what they found, what to type next."""
    concerns = [row for row in _rows(report, "attention") if row["level"] != "DEPARTURE"]
    return [
        str(report["headline"]),
        *(f"shown: {each}" for each in _shown(report)),
        *(f"found: {each}" for each in _found(concerns)),
        *(f"next: {each}" for each in _next(concerns)),
    ]


def _shown(report: Mapping[str, object]) -> Iterator[str]:
    for row in _rows(report, "asked"):
        shares = [f"{count(row[word.name.lower()])} {how}" for word, how in _SHARES.items() if row[word.name.lower()]]
        asked = f"{row['asked']} of {plural(count(row['requirements']), 'requirement')} of {row['profile']} were asked"
        yield ": ".join([asked, *([", ".join(shares)] if shares else [])])
    for row in _rows(report, "versions"):
        if row["operations"]:
            yield f"Kafka {row['kafka']}: {count(row['operations']):,} client operations, safety {safety_claim(row)}"


def _found(concerns: Sequence[Row]) -> Iterator[str]:
    for row in concerns[:_MOST_FOUND]:
        parts = [str(row["title"]), *([str(row["condition"])] if row["condition"] else [])]
        yield f"{row['level']} {' · '.join(parts)}: {row['example'] or row['detail']}"
    if (more := len(concerns) - _MOST_FOUND) > 0:
        yield f"{more} more, less urgent, {'is' if more == 1 else 'are'} in the report"


def _next(concerns: Sequence[Row]) -> Iterator[str]:
    """The run that shows the most urgent concern once more; without a concern, a migration of one's own cluster."""
    command = next((row["reproduce"] for row in concerns if row.get("reproduce")), None)
    if command:
        yield f"{command}  (runs again what shows the first)"
    else:
        yield "kmigrate topology from server.properties  (rehearses the migration on a cluster like yours)"


def _rows(report: Mapping[str, object], key: str) -> list[Row]:
    return [row for row in listed(report[key]) if isinstance(row, dict)]
