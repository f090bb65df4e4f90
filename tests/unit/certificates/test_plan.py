"""The plans of the package are those of its suites."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from pytest_kmigrate.catalogue import requirement
from pytest_kmigrate.judging.planning.plan import plan, with_suites
from pytest_kmigrate.judging.planning.planned import left_undone
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.events.evidence import ExpectationEnded


@pytest.mark.slow
def test_the_plans_are_those_of_the_suites() -> None:
    """A test that is added, or asks for another check, changes them."""
    command = [sys.executable, "-m", "pytest_kmigrate.plugin.planning", "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3])
    assert checked.returncode == 0, f"{checked.stderr}: run make docs"


@pytest.mark.parametrize("profile", with_suites())
def test_every_planned_test_names_what_it_has_to_show(profile: str) -> None:
    """Known requirements, and at least one run; a test with a fault needs three."""
    planned = plan(profile).tests.values()
    assert planned
    for test in planned:
        assert test.requirements, test.test
        assert {requirement(each).id for each in test.requirements} == set(test.requirements)
        assert test.runs == (3 if test.faults else 1)
        assert len(test.source_digest) == 64


def test_an_expectation_that_was_taken_out_is_missed() -> None:
    """Another one may speak for the same requirement, and conform; a met one in its place has another name."""
    test = plan("kip-778").tests["pytest_kmigrate.suites.kip_778.test_old_software::test_a_broker_is_left_behind"]
    assert len(test.expectations) == 8
    met = partial(ExpectationEnded, expected=1, observed=1, met=True, kind="SAFETY", within_s=0, took_ms=0)
    events = [met(name).event(at, at, None) for at, name in enumerate(test.expectations)]
    assert "expects" not in "".join(map(str, left_undone(events, test)))
    missing = [str(each) for each in left_undone(events[1:], test) if "expects" in str(each)]
    assert missing == [f"the plan expects something of '{test.expectations[0]}', but the run has no answer to it"]


def test_a_profile_without_a_suite_has_no_plan() -> None:
    """The message names those that have one."""
    with pytest.raises(WrongUseError, match=r"expected a profile with a suite \(kip-.*got 'kip-1'"):
        plan("kip-1")
