"""Trends as they are drawn: in which order, with which values, and what is said of them."""

import datetime as dt
import re

from pytest_kmigrate.reports.site.trends import trends
from pytest_kmigrate.reports.summary.rows import Row
from tests.unit.reports.single_rows import BEGIN, CLUSTER, TEST, attempted, site_of


def test_a_change_is_drawn_where_it_began_in_the_panel_of_its_version() -> None:
    """Eight runs of each of two versions, a change with the fifth of the second: one flag, halfway in its panel.

    Run, version and commit are named.
    """
    series: Row = {**TEST, "measure": "duration_ms", "name": "step", **CLUSTER}
    points: list[Row] = [
        {**series, "kafka": kafka, "started_at": BEGIN + dt.timedelta(days=8 * version + n), "value": 9.0, "run_id": n}
        for version, kafka in enumerate(("3.9.1", "3.10.0"))
        for n in range(8)
    ]
    change: Row = {"since_run": "of another measure", "since_at": BEGIN + dt.timedelta(days=12), "p_value": 1e-5}
    change |= {"measure": "duration_ms", "name": "step", **CLUSTER, "since_kafka": "3.10.0"}
    change |= {"since_commit": "1a2b<3"}
    change |= {"median_before": 9.0, "median_after": 18.0, "ratio": 2.0, "direction": "WORSE"}

    content = trends(site_of(trends=points, trend_changes=[change])).content

    older, newer = re.findall(r'<g transform="translate\([\d.]+ 0\)">(.*?)</g>', content)
    assert "since" not in older
    (width,) = re.findall(r'class="ground" width="([\d.]+)"', newer)
    (since,) = re.findall(r'class="since" d="M([\d.]+) ', newer)
    assert abs(float(since) - float(width) / 2) < 0.2
    assert newer.count('class="median"') == 2
    assert "since 2026-01-13, Kafka 3.10.0, commit 1a2b&lt;3, of another measure: 9 ms to 18 ms" in content


def test_what_got_worse_is_drawn_before_all_else() -> None:
    """Whatever its name: the change comes first, then the others by name."""
    points: list[Row] = [
        {**TEST, "measure": "lag", "name": name, **CLUSTER, "kafka": "3.9.1", "started_at": BEGIN, "value": 1.0}
        for name in ("alpha", "beta", "omega") * 2
    ]
    change: Row = {"measure": "lag", "name": "omega", **CLUSTER, "since_run": "r", "since_at": BEGIN}
    change |= {"since_kafka": "3.9.1", "median_before": 1.0, "median_after": 2.0, "ratio": None, "p_value": None}

    content = trends(site_of(trends=points, trend_changes=[{**change, "direction": "WORSE"}])).content

    assert re.findall(r"<figcaption><b>(\w+)</b>", content) == ["omega", "alpha", "beta"]


def test_runs_without_a_time_are_not_drawn() -> None:
    """A chart is over time: a measure of such runs alone has none, and no other gets longer by them."""
    series: Row = {**TEST, "measure": "lag", **CLUSTER, "kafka": "3.9.1", "value": 1.0, "run_id": "r"}
    timeless: list[Row] = [{**series, "name": name, "started_at": None} for name in ("alpha", "omega")]
    timed: list[Row] = [{**series, "name": "alpha", "started_at": BEGIN}] * 2

    drawn = trends(site_of(trends=[*timeless, *timed])).content

    assert drawn == trends(site_of(trends=timed)).content
    assert "omega" not in drawn


def test_what_users_feel_is_drawn_before_durations() -> None:
    """Unavailability, fail-over, lag, then durations whatever their names, each in words and with a scale."""
    names = {"duration_ms": "a", "write_behind_lag": "b", "fail_over_ms": "c", "unavailable_ms": "d"}
    points: list[Row] = [
        {**TEST, "measure": measure, "name": name, **CLUSTER, "kafka": "3.9.1", "started_at": BEGIN, "value": 1_500.0}
        for measure, name in [*names.items()] * 2
    ]

    content = trends(site_of(trends=points)).content

    assert re.findall(r"<figcaption><b>(\w+)</b>", content) == ["d", "c", "b", "a"]
    assert "duration_ms" not in content
    assert re.findall(r'class="tick"[^>]*>([^<]+)<', content)[-3:] == ["0 ms", "800 ms", "1.6 s"]
    assert "how far ZooKeeper is behind" in content
    assert ">1\u202f600 records</text>" in content


def test_durations_tell_what_they_were_measured_on() -> None:
    """One step of one version in processes and in containers: two rows, of which each says which it is."""
    took: Row = {"what": "step", "name": "roll", "times": 1, "median_ms": 9.0, "p90_ms": 9.0, "largest_ms": 9.0}
    spans: list[Row] = [{**took, **CLUSTER, "kafka": "3.9.1", "provider": each} for each in ("process", "container")]

    runs = [attempted("t", "CONFORMS", provider=each["provider"]) for each in spans]
    content = trends(site_of(duration_statistics=spans, attempts=runs)).content

    assert re.findall(r"small · (\w+)<", content) == ["container", "process"]


def test_a_chart_shows_the_values_that_were_judged() -> None:
    """Of two tests, one ten times as long: each scaled to the median of all, so that they lie on one line.

    Once each they are shown as they are: nothing was judged.
    """
    series: Row = {**TEST, "measure": "lag", "name": "step", **CLUSTER, "kafka": "3.9.1"}
    points: list[Row] = [
        {**series, "test_id": test, "started_at": BEGIN + dt.timedelta(days=n), "value": level}
        for n in range(8)
        for test, level in (("quick", 1.0), ("slow", 10.0))
    ]

    several, alone, once = (trends(site_of(trends=each)).content for each in (points, points[1::2], points[:2]))

    (drawn,) = re.findall(r'class="points few" d="([^"]+)"', several)
    heights = re.findall(r"M[\d.]+ ([\d.]+)", drawn)
    assert (len(heights), len(set(heights))) == (16, 1)
    assert "2 tests, each scaled to the median of all" in several
    assert "each scaled" not in alone
    assert "2 tests, once each" in once
    (drawn,) = re.findall(r'class="points few" d="([^"]+)"', once)
    assert len(set(re.findall(r"M[\d.]+ ([\d.]+)", drawn))) == 2


def test_values_of_tests_that_ran_once_are_not_drawn_as_one_line() -> None:
    """Of five tests one ran twice: scaled, the four others would lie on one line. Beside a change they are left out."""
    series: Row = {**TEST, "measure": "lag", "name": "step", **CLUSTER, "kafka": "3.9.1"}
    points: list[Row] = [
        {**series, "test_id": test, "started_at": BEGIN + dt.timedelta(days=n), "value": 1.0 + n}
        for n, test in enumerate("abcdee")
    ]
    change: Row = {**series, "since_run": "r", "since_at": BEGIN, "since_kafka": "3.9.1", "since_commit": None}
    change |= {"median_before": 1.0, "median_after": 2.0, "ratio": 2.0, "direction": "WORSE", "p_value": 1e-5}

    plain, changed = (trends(site_of(trends=points, trend_changes=found)).content for found in ([], [change]))

    levels = [
        len(set(re.findall(r"M[\d.]+ ([\d.]+)", "".join(re.findall(r'class="points few" d="([^"]+)"', each)))))
        for each in (plain, changed)
    ]
    assert levels == [6, 2]
    assert "5 tests, 4 of them once" in plain
    assert "each scaled to the median of all; 4 tests that ran once left out" in changed


def test_axes_have_dates_and_points_are_told() -> None:
    """First and last day below a wide panel; the time of day where all are of one day; each of few points in words."""
    series: Row = {**TEST, "measure": "duration_ms", "name": "step", **CLUSTER, "kafka": "3.9.1", "value": 2_500.0}
    days: list[Row] = [{**series, "started_at": BEGIN + dt.timedelta(days=n), "run_id": str(n)} for n in range(3)]
    hours: list[Row] = [{**series, "started_at": BEGIN + dt.timedelta(hours=n), "run_id": str(n)} for n in range(2)]

    of_days, of_hours = (trends(site_of(trends=each)).content for each in (days, hours))

    begin, end = BEGIN, BEGIN + dt.timedelta(days=2)
    assert re.findall(r'class="date[^>]*>([^<]+)', of_days) == [begin.date().isoformat(), end.date().isoformat()]
    assert re.findall(r'class="date[^>]*>([^<]+)', of_hours) == [
        f"{begin:%H:%M}",
        f"{begin + dt.timedelta(hours=1):%H:%M}",
    ]
    assert re.findall(r'class="version"[^>]*>([^<]+)', of_hours) == [f"3.9.1 · {begin.date().isoformat()}"]
    assert f"<title>{begin:%Y-%m-%d %H:%M}: 2.5 s</title>" in of_days


def test_a_measure_of_one_run_is_no_chart() -> None:
    """It is reported in a table, folded away, so that charts with a course come first."""
    once: Row = {**TEST, "measure": "duration_ms", "name": "rare", **CLUSTER, "kafka": "3.9.1", "value": 9.0}
    once |= {"started_at": BEGIN, "run_id": "r"}
    often = [{**once, "name": "often"}] * 2

    content = trends(site_of(trends=[once, *often])).content

    charts, folded, table = content.partition("1 measure taken in one run only")
    assert folded
    assert ("often" in charts, "rare" in charts, "rare" in table) == (True, False, True)
    assert "9 ms" in table
