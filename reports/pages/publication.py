"""Publication: the files of a report, from its summary."""

import json
from collections.abc import Mapping

from pytest_kmigrate.reports.pages.markdown import report_markdown
from pytest_kmigrate.reports.pages.page import page
from pytest_kmigrate.reports.summary.rows import Row, plain
from pytest_kmigrate.reports.summary.summary import Summary

MOST_ROWS_IN_JSON = 50_000
"""Rows of one table in ``report.json``, in the order of the report; its table has all."""


def files(summary: Summary) -> dict[str, str]:
    """Name -> text of every file of a report, in the order of writing: the page, being looked for first, is last."""
    return {
        "report.json": report_json(summary),
        "report.md": report_markdown(summary),
        "index.html": page(summary),
    }


def report_json(summary: Summary) -> str:
    """The summary as JSON, each table cut at a length that editors can open; ``left_out`` says what was cut."""
    reported: Mapping[str, object] = summary
    tables = {name: value for name, value in reported.items() if isinstance(value, list)}
    left_out = {name: len(rows) - MOST_ROWS_IN_JSON for name, rows in tables.items() if len(rows) > MOST_ROWS_IN_JSON}
    cut: Row = {**reported, **{name: rows[:MOST_ROWS_IN_JSON] for name, rows in tables.items()}, "left_out": left_out}
    return json.dumps(plain(cut), indent=1, allow_nan=False) + "\n"
