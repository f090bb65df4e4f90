"""Tests: one row per test and kind of cluster, and a page about each test that leads down to every run."""

from collections.abc import Sequence

from pytest_kmigrate.reports.pages.charts import rate, strip
from pytest_kmigrate.reports.pages.drawing import Cell, amount, chip, dots, duration, legend, percent, text
from pytest_kmigrate.reports.site.flakes import RATE_HEADS, rate_cells, since
from pytest_kmigrate.reports.site.runs import unconforming_runs
from pytest_kmigrate.reports.site.views import (
    MOST_ROWS,
    Site,
    View,
    address,
    below,
    condition,
    empty,
    section,
    shown,
    table_of,
)
from pytest_kmigrate.reports.summary.rows import CONDITION, Row, count, grouped, level_of, number, plural

MOST_DOTS = 24
"""Runs of a test and kind of cluster shown as marks, the latest ones."""

_MOST_CONDITIONS = 12
_RED = frozenset({"SAFETY", "VIOLATES"})
_HEADS = ("Kafka", "Standing", "Runs, oldest first", "Pass rate, 95 % interval", "Took: median, 90 %")
_LEAD = (
    "Flaky means now this answer, now that under equal conditions: profile, provider, version, topology, fault, phase "
    "and the role of what it hit. A test that broke, or was repaired, for good stands where it stood from then on. A "
    "safety violation is never called flaky, and runs that are inconclusive, or in a bad night of the infrastructure, "
    "are not part of the pass rate."
)


def tests(site: Site) -> View:
    """Every test, worst first."""
    rows = site.summary["tests"]
    drawn = [
        [
            Cell(site.test(row), row["test_id"], "name"),
            *_statistics(site, row, place, strip(_latest(site, row))),
        ]
        for place, row in enumerate(rows[:MOST_ROWS])
    ]
    content = table_of(("Test", *_HEADS), drawn, len(rows) - len(drawn), "tests") if rows else empty("No test ran.")
    return View("tests", "Tests", _LEAD, content)


def test_pages(site: Site) -> list[View]:
    """A page about each test."""
    shapes = grouped(site.summary["tests"], "test_id")
    flakiness = grouped(site.summary["flakiness"], "test_id")
    attempts = grouped(site.summary["attempts"], "test_id")
    return [
        _page(site, name, shapes[(name,)], flakiness.get((name,), []), attempts.get((name,), [])) for name in site.tests
    ]


def _page(site: Site, name: str, shapes: Sequence[Row], flakiness: Sequence[Row], attempts: Sequence[Row]) -> View:
    rows = [
        [
            Cell(text(site.cluster(row)), site.cluster(row), "name"),
            *_statistics(site, row, place, dots(_latest(site, row))),
        ]
        for place, row in enumerate(shapes[:_MOST_CONDITIONS])
    ]
    clusters = table_of(("Cluster", *_HEADS), rows, len(shapes) - len(rows), "tests")
    own = name.rpartition("::")[2]
    content = legend() + clusters + _conditions(site, flakiness) + unconforming_runs(attempts)
    return View(address("test", name), own, "" if own == name else name.partition("::")[0], content, "tests")


def _latest(site: Site, row: Row) -> list[Row]:
    return _attempts(site, row)[-MOST_DOTS:]


def _attempts(site: Site, row: Row) -> list[Row]:
    return site.attempts_of_test.get(tuple(row[key] for key in ("test_id", *CONDITION)), [])


def _standing(site: Site, row: Row) -> str:
    """Where a test stands; one that violates only what is known asks for no more than its bugs do."""
    standing = str(row["standing"])
    levels = {level_of(each) for each in _attempts(site, row)}
    known = [level for level in ("DEFECT", "DEPARTURE") if level in levels]
    return known[0] if standing in _RED and known and not levels & _RED else standing


def _statistics(site: Site, row: Row, place: int, runs: str) -> list[Cell]:
    share, took = row["pass_rate"], row["duration_median_ms"]
    how_many = plural(amount(row["runs"]), "run")
    reported = [f"the last {MOST_DOTS} of {how_many}" if count(row["runs"]) > MOST_DOTS else how_many]
    reported += [f"{amount(row['inconclusive'])} inconclusive"] if row["inconclusive"] else []
    median, p90 = duration(took), duration(row["duration_p90_ms"])
    return [
        Cell(shown(row["kafka"])),
        Cell(chip(_standing(site, row)), place),
        Cell(f"<span>{runs}{below(*reported)}</span>", row["runs"], "dots"),
        Cell(rate(share, row["pass_rate_low"], row["pass_rate_high"]), share, "rate"),
        Cell(f'<span>{median}<br><span class="soft small">{p90}</span></span>' if median else "", took or "", "number"),
    ]


def _conditions(site: Site, flakiness: Sequence[Row]) -> str:
    """Under which conditions it fails, how often, and since when."""
    if not flakiness:
        return ""
    heads = ("Fault, phase", "Kafka", "Standing", "Decision", "Fails, as counted, 95 % interval", *RATE_HEADS)
    rows = [
        [
            Cell(condition(row), row["fault"], "name"),
            Cell(shown(row["kafka"]) + below(site.cluster(row))),
            Cell(chip(row["standing"])),
            Cell(chip(row["decision"])),
            _as_counted(row),
            *rate_cells(row),
        ]
        for row in flakiness[:_MOST_CONDITIONS]
    ]
    changed = [change for row in flakiness for change in site.changes(row)]
    reported = "".join(f"<li>{since(site, change)}</li>" for change in changed[:_MOST_CONDITIONS])
    drawn = table_of(heads, rows, len(flakiness) - len(rows), "flakiness")
    return section("By condition", (f"<ul>{reported}</ul>" if reported else "") + drawn)


def _as_counted(row: Row) -> Cell:
    """The rate of this cell's own answers, and how often an answer was not that of the run before."""
    flipped = number(row["flip_rate"])
    share = "" if flipped is None else f", {percent(flipped)} of the times"
    flips = below(f"{plural(row['flips'], 'flip')}{share}")
    drawn = rate(row["rate"], row["wilson_low"], row["wilson_high"], "VIOLATES")
    return Cell(f"{drawn}{flips}", row["rate"], "rate")
