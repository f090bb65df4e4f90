"""Charts: what is drawn is where the numbers say, and is also said in words."""

import re

import pytest

from pytest_kmigrate.reports.pages.charts import Panel, lift, panels, rate, strip
from pytest_kmigrate.reports.summary.rows import Row


def _run(outcome: str, kind: str | None = None, run_id: str = "", *, is_aside: bool = False) -> Row:
    return {"outcome": outcome, "kind": kind, "run_id": run_id, "attempt": 3, "is_aside": is_aside}


def test_a_rate_without_an_answer_is_not_drawn() -> None:
    """No run answered: no bar that could be taken for 0 %, nor for a rate that Spark calls not a number."""
    for nothing in (None, float("nan")):
        assert "no answer" in rate(nothing, nothing, nothing)
        assert "<svg" not in rate(nothing, nothing, nothing)


def test_a_rate_is_drawn_and_told() -> None:
    """The interval stands beside the rate for readers who do not see the bar."""
    drawn = rate(0.5, 0.25, 0.75)
    assert "<title>50%, 95 % interval 25% to 75%</title>" in drawn
    assert 'x="20.0" width="40.0"' in drawn


def test_a_strip_has_one_tick_per_run_and_marks_the_change() -> None:
    """Violations are taller than what conforms, SAFETY has its own colour, and the flag stands before its run."""
    runs = [_run("CONFORMS"), _run("VIOLATES", "LIVENESS", "r2"), _run("VIOLATES", "SAFETY")]
    drawn = strip(runs, "r2")
    heights = {colour: height for height, colour in re.findall(r'v-(\d+)" stroke="var\(--(\w+)\)"', drawn)}
    assert int(heights["CONFORMS"]) < int(heights["VIOLATES"]) == int(heights["SAFETY"])
    assert 'class="since" d="M5.5 ' in drawn
    assert "3 runs, 2 violate; changed at run 3" in drawn
    assert "since" not in strip(runs, "elsewhere")


def test_a_strip_shows_runs_as_they_count() -> None:
    """What violated in an infra night counts for no test, so beside a rate it is no violation either."""
    drawn = strip([_run("VIOLATES", "LIVENESS", is_aside=True), _run("VIOLATES", "LIVENESS")])
    assert "2 runs, 1 violate" in drawn
    assert drawn.count("--INCONCLUSIVE") == drawn.count("--VIOLATES") == 1


def test_a_lift_beyond_the_scale_ends_at_its_edge() -> None:
    """An interval without an upper end is shown as any; chance by q has no colour; nothing is a power of ten."""
    sure = lift({"lift": 80.0, "lift_low": 2.0, "lift_high": float("inf"), "q_value": 0.05})
    unsure = lift({"lift": 9.0, "lift_low": 1.5, "lift_high": 54.0, "q_value": 0.11})
    assert "H150.0" in sure
    assert "80x" in sure
    assert "2x to any" in sure
    assert "var(--VIOLATES)" in sure
    assert "var(--NOT_APPLICABLE)" in unsure
    steep = lift({"lift": 1_300.0, "lift_low": 0.0004, "lift_high": 1.7e7, "q_value": 0.9})
    assert "1,300x, 95 % interval below 0.001x to 17,000,000x" in steep
    assert "no estimate" in lift({"lift": None, "lift_low": None, "lift_high": None})


def test_panels_share_one_scale_and_split_at_the_change() -> None:
    """Twice the value is half as low in another panel; each regime has its own median, in its unit."""
    drawn = panels(
        "duration_ms", [Panel("3.6.0", (1_000.0,) * 8), Panel("3.9.1", (1_000.0,) * 4 + (2_000.0,) * 4, (4,))]
    )
    medians = [float(y) for y in re.findall(r'class="median" d="M[\d.]+ ([\d.]+)h', drawn)]
    height = 92
    assert len(medians) == 3
    assert medians[0] == medians[1]
    assert height - medians[2] == pytest.approx(2 * (height - medians[0]), abs=0.2)
    assert "3.6.0: median 1.0 s; 3.9.1: median 1.0 s, then median 2.0 s" in drawn
    assert drawn.count('class="flag"') == 1


def test_of_few_runs_no_band_is_drawn() -> None:
    """A band from the least to the largest of five values would pass for an interval of 95 %."""
    assert 'class="band"' not in panels("lag", [Panel("3.9.1", (1.0, 2.0, 3.0, 4.0, 5.0))])
    assert panels("lag", [Panel("3.9.1", (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))]).count('class="band"') == 1


def test_one_outlier_does_not_flatten_a_chart() -> None:
    """A value a thousand times the others is drawn at the upper edge, not the others at the lower one."""
    drawn = panels("lag", [Panel("3.9.1", (10.0,) * 99 + (10_000.0,))])
    (median,) = re.findall(r'class="median" d="M[\d.]+ ([\d.]+)h', drawn)
    assert float(median) < 20
    assert " 0.0h0" in drawn


def test_thousands_of_points_are_thinned_but_the_band_is_of_all() -> None:
    """At most 120 points are drawn per panel."""
    drawn = panels("lag", [Panel("3.9.1", tuple(float(n) for n in range(6_000)))])
    assert 100 <= drawn.count("h0") <= 120
    assert "median 2\u202f999.50" in drawn


def test_narrow_panels_have_short_dates() -> None:
    """What both ends share stands once, with the version; without moments there is nothing to say."""
    nights = tuple(f"2026-01-{day:02d}T20:00:00" for day in range(1, 9))
    drawn = panels("lag", [Panel(kafka, (1.0,) * 8, (), nights) for kafka in ("3.6.0", "3.7.2", "3.9.1")])
    assert re.findall(r'class="date[^>]*>([^<]+)', drawn) == ["01-01", "01-08"] * 3
    assert re.findall(r'class="version"[^>]*>([^<]+)', drawn) == ["3.6.0 · 2026", "3.7.2 · 2026", "3.9.1 · 2026"]
    years = ("2025-12-01T20:00:00", *nights[1:])
    assert ">2025-12<" in panels("lag", [Panel(kafka, (1.0,) * 8, (), years) for kafka in "abc"])
    assert "date" not in panels("lag", [Panel("3.9.1", (1.0, 2.0))])
