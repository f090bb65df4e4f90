"""How one test of a suite is run by itself: in time, or ended."""

import sys
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.suite_tests import OUTPUT, bugs_of, run_test


def program(text: str) -> list[str]:
    """A command in the place of pytest's."""
    return [sys.executable, "-S", "-c", text]


def test_a_test_that_is_not_over_in_time_is_interrupted(tmp_path: Path) -> None:
    """As by Ctrl-C, so that it judges what its run has; its exit status says nothing then."""
    (tmp_path / "run.json").touch()
    assert not run_test("mutant m", "m::t", program("import time; time.sleep(600)"), tmp_path, within_s=0.2)


def test_time_counts_from_where_the_run_begins(tmp_path: Path) -> None:
    """What a checkpoint costs that a mutant's test is the first to need is not the mutant's."""
    late = program("import time; time.sleep(1.5)")
    assert run_test("mutant m", "m::t", late, tmp_path, within_s=0.1)


@pytest.mark.parametrize("status", [0, 1])
def test_a_test_that_was_judged_is_in_time(tmp_path: Path, status: int) -> None:
    """Green or red."""
    assert run_test("mutant m", "m::t", program(f"raise SystemExit({status})"), tmp_path, within_s=600)


def test_what_pytest_cannot_run_is_wrong_use(tmp_path: Path) -> None:
    """With its last lines, and where the others are."""
    with pytest.raises(WrongUseError, match=f"mutant m: .* m::t, got exit status 4: no such file; see .*{OUTPUT}"):
        run_test("mutant m", "m::t", program("print('no such file'); raise SystemExit(4)"), tmp_path)


@pytest.mark.parametrize(
    ("test", "bugs"),
    [
        ("test_zookeeper_failures::test_dual_write_goes_on_after_an_answer_of_zookeeper_was_lost", {"kmigrate-7"}),
        (
            "test_controller_failures::TestDualWrite::test_another_controller_takes_over_in_dual_write[x]",
            {"kmigrate-22"},
        ),
        ("test_zookeeper_failures::test_controller_cut_from_zookeeper_catches_up", set()),
        ("test_zookeeper_failures::test_no_more", set()),
        ("test_no_more::test_it", set()),
    ],
)
def test_a_test_is_about_the_bugs_that_it_is_marked_with(test: str, bugs: set[str]) -> None:
    """By the suite's own text, as no test is imported; one that is not there any more is about none."""
    assert bugs_of(test, "kip-866") == bugs
