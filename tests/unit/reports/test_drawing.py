"""Drawing: numbers as people read them, and nothing that could become markup."""

import pytest

from pytest_kmigrate.reports.drawing import Cell, amount, dots, duration, pass_rate, percent, table, text


@pytest.mark.parametrize(
    ("ms", "told"),
    [
        (None, ""),
        (0, "0 ms"),
        (999, "999 ms"),
        (1_234, "1.2 s"),
        (59_940, "59.9 s"),
        (59_999, "1 min 00 s"),
        (125_000, "2 min 05 s"),
    ],
)
def test_durations_are_told_in_the_unit_that_fits(ms: float | None, told: str) -> None:
    """Milliseconds, seconds or minutes, never 60 of the smaller one."""
    assert duration(ms) == told


@pytest.mark.parametrize(("value", "told"), [(None, ""), (0, "0"), (1_234_567.0, "1\u202f234\u202f567"), (2.5, "2.50")])
def test_amounts_have_their_thousands_apart(value: float | None, told: str) -> None:
    """Whole numbers stay whole, whatever their type."""
    assert amount(value) == told


@pytest.mark.parametrize(("share", "told"), [(0, "0%"), (0.001, "<1%"), (0.5, "50%"), (0.9996, ">99%"), (1, "100%")])
def test_one_failure_in_thousands_is_not_rounded_away(share: float, told: str) -> None:
    """100 % is said of all and 0 % of none, and of nothing else."""
    assert percent(share) == told


def test_text_of_runs_is_never_markup() -> None:
    """What a test or a log says is shown, not executed, in content and in attributes."""
    drawn = table(('"><b>',), [[Cell(text("<script>"), '"x')]])
    assert "<script>" not in drawn
    assert "<b>" not in drawn
    assert 'data-sort="&quot;x"' in drawn


def test_a_pass_rate_without_an_answer_is_not_drawn() -> None:
    """No run answered: no bar that could be taken for 0 %."""
    nothing: dict[str, object] = {"pass_rate": None, "pass_rate_low": None, "pass_rate_high": None}
    assert "no answer" in pass_rate(nothing)
    assert "<svg" not in pass_rate(nothing)


def test_a_pass_rate_is_drawn_and_told() -> None:
    """The interval stands beside the rate for readers who do not see the bar."""
    drawn = pass_rate({"pass_rate": 0.5, "pass_rate_low": 0.25, "pass_rate_high": 0.75})
    assert 'aria-label="50%, 95 % interval 25% to 75%"' in drawn


def test_a_safety_violation_has_a_shape_of_its_own() -> None:
    """A diamond, where any other violation is a square; a run with a timeline links to it."""
    run: dict[str, object] = {
        "attempt": 1,
        "seed": "7",
        "outcome": "VIOLATES",
        "kind": "SAFETY",
        "summary": "s",
        "timeline": None,
    }
    assert "--SAFETY" in dots([run])
    assert "--VIOLATES" in dots([{**run, "kind": "LIVENESS"}])
    assert 'href="../r%201/timeline.html"' in dots([{**run, "timeline": "../r 1/timeline.html"}])
