"""Checks without unit tests of their own are found: each of their outcomes, and each requirement of several."""

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_kmigrate.documents import documents
from pytest_kmigrate.model.checks import Check, by_name, checker, speaking
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import About, Kind, Outcome, Verdict
from tests.checks_seen import FOLDERS, HERE, Watched, is_whole, lacking
from tests.tampered import ANOTHER, AT_ANY_TIME, OUTSIDE, WITHOUT, unasked
from tests.unit.checkers.histories import history


@checker("K0-A", "K0-B")
def of_two_rows(_: History, outcome: Outcome = Outcome.CONFORMS, rows: tuple[Outcome, ...] = ()) -> Verdict:
    """Return what is asked for."""
    about = tuple(About(row, each) for row, each in zip(("K0-A", "K0-B"), rows, strict=False))
    return Verdict("of_two_rows", outcome, Kind.SAFETY, about=about)


def seen(*outcomes: Outcome, rows: tuple[Outcome, ...] = ()) -> list[str]:
    """What is lacking when tests saw these outcomes."""
    watched = Watched([of_two_rows])
    for each in outcomes:
        of_two_rows.judge(history(), each, rows)
    return [*lacking(watched.shown, {"of_two_rows": of_two_rows.requirements}).get("of_two_rows", ())]


def test_each_outcome_is_demanded() -> None:
    """A check that no test calls lacks all; to be not applicable is one way to decide nothing."""
    assert seen() == ["CONFORMS", "VIOLATES", "INCONCLUSIVE"]
    assert seen(Outcome.CONFORMS, Outcome.INCONCLUSIVE) == ["VIOLATES"]
    assert seen(Outcome.CONFORMS, Outcome.VIOLATES, Outcome.NOT_APPLICABLE) == []


def test_each_of_several_requirements_is_seen_red() -> None:
    """One that a check keeps apart and that was never red is named."""
    rows = (Outcome.VIOLATES, Outcome.CONFORMS)
    assert seen(Outcome.CONFORMS, Outcome.VIOLATES, Outcome.INCONCLUSIVE, rows=rows) == ["VIOLATES of K0-B"]


def test_what_a_registry_judges_shows_nothing() -> None:
    """Another check may be red there, and this one by chance."""
    watched = Watched([of_two_rows])
    of_two_rows.judged(history(), Check("of_two_rows", {"outcome": Outcome.VIOLATES}))
    assert watched.shown == set()


def test_a_bound_check_stays_the_same_function() -> None:
    """Registries compare it."""
    bound = speaking(of_two_rows, "K0-C")
    Watched([of_two_rows, bound])
    assert by_name([of_two_rows, bound]) == {"of_two_rows": bound}
    assert bound.name == "of_two_rows"


def test_a_diagnosis_is_asked_about_every_kind_of_tampered_history() -> None:
    """One that is right at any time needs none outside of a window; each exemption is of a diagnosis that is there."""
    exempt = next(iter(AT_ANY_TIME))
    noted = [("bug", ANOTHER), (exempt, ANOTHER), (exempt, WITHOUT)]
    assert unasked(noted, {"bug", exempt}) == {"bug": [OUTSIDE, WITHOUT]}
    assert AT_ANY_TIME.keys() <= {each.bug_id for document in documents() for each in document.diagnoses}


@pytest.mark.parametrize(
    ("args", "options", "whole"),
    [
        ([HERE], {}, True),
        ([HERE / "unit"], {"markexpr": "not slow"}, True),
        (FOLDERS, {}, True),
        (FOLDERS[:1], {}, False),
        ([HERE], {"keyword": "acked"}, False),
        ([HERE], {"markexpr": "slow"}, False),
        ([HERE], {"lf": True}, False),
        ([HERE], {"collectonly": True}, False),
        ([f"{HERE}/unit/test_gate.py::test_one"], {}, False),
    ],
)
def test_a_part_of_the_tests_lacks_nothing(args: Any, options: dict[str, Any], whole: bool) -> None:
    """Only where all tests of checks are run is a missing one known."""
    option = SimpleNamespace(**{"keyword": "", "markexpr": "", "lf": False, "collectonly": False, **options})
    config: Any = SimpleNamespace(args=[str(each) for each in args], option=option)
    assert is_whole(config) is whole
