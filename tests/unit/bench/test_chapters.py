"""What the benchmarks of many runs come to."""

import pytest
from rich.console import Console

from tests.bench import containers, many_runs
from tests.bench.__main__ import main
from tests.bench.chapter import Chapter
from tests.bench.consistency import compared, limits_of
from tests.bench.measuring import Cost
from tests.bench.timings import Timings


def test_an_anomaly_found_elsewhere_is_one_missed_and_one_invented() -> None:
    """Anomalies are held against each other place by place, and each counts as often as it is there."""
    planted = [["run-1", "lost write", "orders", 0, 3], ["run-1", "duplicate", "orders", 1, 1]]
    found = [["run-1", "lost write", "orders", 0, 2], ["run-2", "duplicate", "orders", 1, 1]]

    assert compared(planted, planted) == {"planted": 4, "missed": 0, "invented": 0}
    assert compared(planted, found) == {"planted": 4, "missed": 2, "invented": 1}


@pytest.mark.parametrize(
    ("wrong", "figure"),
    [
        ({"missed": 1}, "not found"),
        ({"invented": 1}, "invented"),
        ({"counted": 9_999_999}, "not judged"),
        ({"aside": 1}, "not judged"),
        ({"whole_s": 40.5}, "start included"),
        ({"peak_gib": 6.5}, "peak memory"),
    ],
)
def test_whatever_goes_wrong_with_operations_misses_a_target(wrong: dict[str, float], figure: str) -> None:
    """Ten million operations judged as wanted meet every target; each thing that can go wrong misses its own."""
    right = {"operations": 10**7, "counted": 10**7, "aside": 0, "planted": 300, "missed": 0, "invented": 0}
    reported = {**right, "whole_s": 39.0, "peak_gib": 5.0}

    assert all(each.is_met for each in limits_of(10**7, reported, growth=1.3))
    missed = [each.figure for each in limits_of(10**7, {**reported, **wrong}, growth=1.3) if not each.is_met]
    assert [figure in each for each in missed] == [True]


def test_cost_that_grows_is_a_target_missed() -> None:
    """An operation among many may cost 1.3 times one among few, and no more."""
    reported = {"operations": 10, "counted": 10, "aside": 0, "planted": 0, "missed": 0, "invented": 0}

    limits = limits_of(10**8, {**reported, "whole_s": 1.0, "peak_gib": 1.0}, growth=1.31)
    assert [each.figure for each in limits if not each.is_met] == [limits[-1].figure]


def test_three_runs_and_ten_thousand_have_targets() -> None:
    """10 s for three, 18 for three hundred; three minutes and 8 GiB for ten thousand."""
    reported = {"whole": 181.0, "spark_start": 30.1, "peak_gib": 8.5}

    missed = {
        count: sum(not each.is_met for each in many_runs.limits_of(count, reported)) for count in (3, 300, 10_000)
    }
    assert missed == {3: 1, 300: 1, 10_000: 2}


def test_an_analysis_is_held_against_a_bare_session_of_the_same_round() -> None:
    """A machine that is slow for one round is slow for both: the median of the ratios, not the ratio of medians."""
    ours = [{"whole": whole, "cpu": 20.0} for whole in (9.0, 40.0, 17.0)]
    bare = [Cost(seconds, 10.0, 0.5, 0, "") for seconds in (5.0, 20.0, 10.0)]

    beside, cpu, _ = many_runs.beside_bare(ours, bare)
    assert (beside.value, beside.is_met) == (1.8, True)
    assert (cpu.value, cpu.has_target) == (2.0, False)


def test_a_chapter_is_markdown_and_tells_what_was_not_measured() -> None:
    """Its tables can be published as they are; a figure that is missing is a dash."""
    console = Console(width=100)
    chapter = Chapter("engines", tables={"times": [{"engine": "a", "s": 1.5}, {"engine": "b", "s": None}]})
    with console.capture() as reported:
        chapter.show(console)
        Chapter("engines", not_measured=["no [npm] here"]).show(console)

    lines = [line.replace(" ", "") for line in reported.get().splitlines()]
    assert {"|engine|s|", "|a|1.5|", "|b|-|"} <= set(lines)
    assert "engines:notmeasured:no[npm]here" in lines


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is measured, and with the parts there are."""
    with pytest.raises(SystemExit):
        main(["nosuch"])

    assert "expected parts out of provider, containers" in capsys.readouterr().err


def test_containers_are_held_against_processes_round_by_round() -> None:
    """By the median of the ratios; each of the three targets can be missed."""
    process = Timings(2.0, 10.0, 0.1, {})
    rounds = [(process, Timings(ready, 13.0, 0.5, {})) for ready in (3.4, 2.0, 9.0)]
    assert [each.value for each in containers.limits_of(rounds, 60)] == [1.7, 1.3, 60]
    assert all(each.is_met for each in containers.limits_of(rounds, 60))
    slow = [(process, Timings(3.5, 13.1, 0.5, {}))]
    assert not any(each.is_met for each in containers.limits_of(slow, 61))
