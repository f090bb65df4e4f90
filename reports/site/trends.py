"""Trends: every measure over time, small charts side by side, with the change point and the interval of each regime."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from pytest_kmigrate.analysis.statistics.alignment import lines
from pytest_kmigrate.reports.pages.charts import Panel, panels
from pytest_kmigrate.reports.pages.drawing import (
    MEASURES,
    Cell,
    chance,
    chip,
    duration,
    folded,
    measure_name,
    measured,
    short,
    text,
)
from pytest_kmigrate.reports.site.views import MOST_ROWS, Site, View, below, empty, number_cell, rest, shown, table_of
from pytest_kmigrate.reports.summary.rows import (
    Row,
    began,
    began_in,
    by,
    day,
    grouped,
    iso,
    known,
    number,
    plural,
    release,
)

MOST_CHARTS = 60
_MOST_PANELS = 5
_SERIES = ("measure", "name", "profile", "provider", "topology")
_LEAD = (
    "A panel per Kafka version, a point per run, the oldest on the left; below it when the first and the last were "
    "(UTC). The line is the median of a regime, the band its 95 % interval (with fewer than 6 runs there is none), the "
    "dashed line a change point. What changed comes first."
)

Changes = Mapping[tuple[object, ...], Sequence[Row]]


def trends(site: Site) -> View:
    """Every series, changed ones first, then a table of durations."""
    changes = grouped(site.summary["trend_changes"], *_SERIES)
    series = sorted(grouped(site.summary["trends"], *_SERIES).items(), key=lambda each: _urgency(each[0], changes))
    several = [(key, rows) for key, rows in series if _times_taken(rows) > 1 or changes.get(key)]
    once = [rows for _, rows in series if _times_taken(rows) == 1]
    charts = "".join(_chart(site, key, rows, changes) for key, rows in several[:MOST_CHARTS])
    content = f'<div class="multiples">{charts}</div>' if charts else empty("No measure was taken in two runs or more.")
    left_out = rest(max(len(several) - MOST_CHARTS, 0), min(len(several), MOST_CHARTS), "trends")
    return View("trends", "Trends", _LEAD, content + left_out + _once(site, once) + _durations(site))


def _times_taken(rows: Sequence[Row]) -> int:
    return sum(1 for row in rows if number(row["value"]) is not None and row["started_at"] is not None)


def _once(site: Site, series: Sequence[Sequence[Row]]) -> str:
    """Measures of a single run: they have no course over time, so a chart of one would only take room."""
    if not series:
        return ""
    taken = [next(row for row in rows if number(row["value"]) is not None) for rows in series]
    drawn = [
        [
            Cell(short(row["name"]) + below(measure_name(row["measure"]), site.cluster(row)), row["name"], "name"),
            Cell(shown(row["kafka"])),
            Cell(day(row["started_at"]), row["started_at"], "word"),
            Cell(measured(row["measure"], row["value"]), row["value"], "number"),
        ]
        for row in taken[:MOST_ROWS]
    ]
    content = table_of(("Measure", "Kafka", "When", "Value"), drawn, len(taken) - len(drawn), "trends")
    return folded(f"{plural(len(series), 'measure')} taken in one run only", content)


def _urgency(key: tuple[object, ...], changes: Changes) -> tuple[int, int, tuple[str, ...]]:
    """What got worse, what got better, then all else; among these what users of a cluster feel before durations."""
    mine = changes.get(key, [])
    worse = any(each["direction"] == "WORSE" for each in mine)
    weight = list(MEASURES).index(str(key[0])) if key[0] in MEASURES else len(MEASURES)
    return (0 if worse else 1 if mine else 2), weight, tuple(str(part) for part in key)


def _chart(site: Site, key: tuple[object, ...], rows: Sequence[Row], changes: Changes) -> str:
    measure, name, *_ = key
    mine = changes.get(key, [])
    comparable, how = _comparable(rows, is_changed=bool(mine))
    versions = sorted(grouped(comparable, "kafka").items(), key=lambda each: release(each[0][0]))[-_MOST_PANELS:]
    drawn = [panel for (kafka,), points in versions if (panel := _panel(kafka, points, mine)).values]
    if not drawn:
        return ""
    reported = "".join(f"<p>{_change(each)}</p>" for each in mine)
    about = f"{text(measure_name(measure))}<br>{text(' · '.join(known(site.cluster(rows[0]), how)))}"
    return (
        f'<figure class="card"><figcaption><b>{short(name)}</b> <span class="soft small">{about}</span></figcaption>'
        f"{panels(measure, drawn)}{reported}</figure>"
    )


def _comparable(rows: Sequence[Row], *, is_changed: bool) -> tuple[list[Row], str]:
    """The points in order, with the values by which changes were judged, and how they came to these.

    Those of runs without a start time are left out, as they were there.
    A test that ran once cannot be scaled and is not shown. Where most points are of such tests all are shown as they
    are, unless a change was found.
    """
    measured_at = (row for row in rows if number(row["value"]) is not None and row["started_at"] is not None)
    points = sorted(measured_at, key=by("started_at", "run_id"))
    runs_of = Counter(row["test_id"] for row in points)
    tests, once = len(runs_of), sum(1 for runs in runs_of.values() if runs == 1)
    if tests <= 1:
        return points, ""
    if 2 * once > len(points) and not is_changed:
        return points, f"{tests} tests, {'once each' if once == tests else f'{once} of them once'}"
    values = np.array([number(row["value"]) for row in points], np.float64)
    test, kafka = (np.unique([str(row[of]) for row in points], return_inverse=True)[1] for of in ("test_id", "kafka"))
    scaled = [
        (row, {**points[row], "value": value})
        for line, level in lines(values, test, kafka)
        for row, value in zip(line.tolist(), level.tolist(), strict=True)
    ]
    left_out = f"; {plural(once, 'test')} that ran once left out" if once else ""
    return [row for _, row in sorted(scaled)], f"{tests} tests, each scaled to the median of all{left_out}"


def _panel(kafka: object, points: Sequence[Row], changes: Sequence[Row]) -> Panel:
    """The values of one version, and where in them something changed."""
    moments = [str(point["started_at"]) for point in points]
    # By its time, not by its run: the run with which it began may have no value of this very measure.
    at = (bisect_left(moments, str(each["since_at"])) for each in changes if each["since_kafka"] == kafka)
    values = tuple(number(point["value"]) or 0.0 for point in points)
    return Panel(str(kafka), values, tuple(at), tuple(iso(point["started_at"]) for point in points))


def _change(change: Row) -> str:
    ratio = number(change["ratio"])
    before, after = (measured(change["measure"], change[name]) for name in ("median_before", "median_after"))
    times = "" if ratio is None else f" ({ratio:.2f}x)"
    return (
        f"{chip(change['direction'])} <span class='small'>since "
        f"{text(', '.join(known(began(change), began_in(change))))}: {before} to {after}{times}, "
        f"p {chance(change['p_value'])}</span>"
    )


def _durations(site: Site) -> str:
    """Whole runs, phases and steps, folded away."""
    rows = site.summary["duration_statistics"]
    if not rows:
        return ""
    heads = ("What", "Kind", "Kafka", "Cluster", "Times", "Median", "90 %", "Longest")
    drawn = [
        [
            Cell(text(row["name"]), row["name"], "name"),
            Cell(text(row["what"])),
            Cell(shown(row["kafka"])),
            Cell(text(site.cluster(row))),
            number_cell(row["times"]),
            *[Cell(duration(row[name]), row[name], "number") for name in ("median_ms", "p90_ms", "largest_ms")],
        ]
        for row in rows[:MOST_ROWS]
    ]
    content = table_of(heads, drawn, len(rows) - len(drawn), "duration_statistics")
    return folded("Durations of runs, phases and steps", content)
