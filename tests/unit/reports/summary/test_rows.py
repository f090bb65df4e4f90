"""Rows: the order in which a report lists them."""

import datetime as dt

from pytest_kmigrate.reports.summary.rows import Row, newest_first
from tests.unit.reports.single_rows import BEGIN


def test_what_has_no_time_is_not_shown_as_newest() -> None:
    """The newest first, then, as they came, those without a start time."""
    days: dict[str, int | None] = {"a": None, "b": 1, "c": 3, "d": None, "e": 2}
    rows: list[Row] = [
        {"name": name, "at": None if day is None else BEGIN + dt.timedelta(days=day)} for name, day in days.items()
    ]

    assert [row["name"] for row in newest_first(rows, "at")] == ["c", "e", "b", "a", "d"]
