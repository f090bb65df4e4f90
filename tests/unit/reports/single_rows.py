"""Rows of a few tables, one test or run each, for tests of what a report makes of them."""

import datetime as dt

from pytest_kmigrate.reports.site.views import Site
from pytest_kmigrate.reports.summary.rows import Row
from pytest_kmigrate.reports.summary.summary import summary_of
from tests.unit.reports.fabricated_tables import ABOUT

BEGIN = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
CLUSTER: Row = {"profile": "kip-866", "provider": "process", "topology": "small"}
CONDITION: Row = {**CLUSTER, "kafka": "3.9.1"}
TEST: Row = {"test_id": "t", "run_id": "r"}


def site_of(**tables: list[Row]) -> Site:
    """The site of a report over these tables alone."""
    return Site(summary_of(tables, ABOUT))


def listed(test_id: str, standing: str) -> Row:
    """A test and where it stands."""
    counts = dict.fromkeys(
        ("runs", "conforming", "violating", "inconclusive", "not_applicable", "safety_violations"), 1
    )
    rates = dict.fromkeys(("pass_rate", "pass_rate_low", "pass_rate_high"), 0.5)
    times = {"duration_median_ms": None, "duration_p90_ms": None}
    return {
        "test_id": test_id,
        **CONDITION,
        **counts,
        **rates,
        **times,
        "standing": standing,
    }


def attempted(test_id: str, outcome: str, kind: str | None = None, **more: object) -> Row:
    """A run of a test; ``more`` replaces any of its columns."""
    reported: Row = {
        "check": "c",
        "summary": "s",
        "known_bugs": [],
        "timeline": None,
        "reproduce": "again",
        "attempt": 1,
    }
    return {
        "test_id": test_id,
        **CONDITION,
        "is_aside": False,
        "outcome": outcome,
        "kind": kind,
        **reported,
        "seed": "1",
        "started_at": None,
        "folder": f"{test_id} {more}",
        "run_id": "r",
        "fault": "none",
        "phase": "none",
        "role": "none",
        "duration_ms": 1.0,
        **more,
    }
