"""Checkers declare themselves: found where they lie, asked for by name, with arguments that survive JSON."""

import inspect
import json

import pytest

from pytest_kmigrate.checkers.registry import checker_of, checkers_in, general_checkers
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.judging import checks
from pytest_kmigrate.judging.checks import all_checkers
from pytest_kmigrate.model.checks import Check, by_name, checker, speaking
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Outcome, Verdict, conforms
from tests.unit.checkers.histories import history

_ARGUMENTS = {"phase": "HYBRID", "left": "log", "right": "zookeeper", "label": "log", "metric": "ZkMigrationState"}


@checker("K0-A", anomaly="odd")
def odd_one(_: History, at_most: int = 1, names: tuple[str, ...] | None = None) -> Verdict:
    """A checker of this test."""
    return conforms(f"{at_most} {names}").by("odd_one")


def test_an_unknown_check_is_wrong_use() -> None:
    """A misspelt name is answered with the nearest one, an outlandish one with all."""
    known = by_name(general_checkers())
    with pytest.raises(WrongUseError, match='did you mean "no_acked_record_lost'):
        checker_of("no_acked_records_lost", known)
    with pytest.raises(WrongUseError, match=r"there are: .*no_acked_record_lost, "):
        checker_of("zzz", known)
    with pytest.raises(AttributeError, match='did you mean "no_acked_record_lost'):
        checks.no_acked_records_lost()


def test_a_call_makes_the_check() -> None:
    """With the arguments that were given, as JSON has them, and an error for others, where they are written."""
    assert odd_one() == Check("odd_one")
    assert odd_one(2, names=("a",)) == Check("odd_one", {"at_most": 2, "names": ["a"]})
    with pytest.raises(WrongUseError, match="unexpected keyword argument 'most'"):
        odd_one(most=2)  # type: ignore[call-arg]


def test_a_bound_checker_is_the_same_with_requirements() -> None:
    """A document binds a general one, to more than it had; of both by one name, the last stays."""
    mine = speaking(odd_one, "K0-B")
    assert (mine.requirements, mine.name, mine.anomaly) == (("K0-A", "K0-B"), "odd_one", "odd")
    assert by_name([odd_one, mine]) == {"odd_one": mine}


def test_two_functions_of_one_name_are_wrong_use() -> None:
    """Verdicts are distinguished by it."""

    def twin() -> Check:
        @checker()
        def odd_one(_: History) -> Verdict:
            return conforms("").by("odd_one")

        with pytest.raises(WrongUseError, match=r"checker odd_one: expected one function .* got two, in tests\."):
            by_name([globals()["odd_one"], odd_one])
        return odd_one()

    assert twin() == Check("odd_one")


def test_checkers_are_found_where_they_lie() -> None:
    """Those that a package's modules define, once each, and none that they only import."""
    names = [each.name for each in checkers_in("pytest_kmigrate.checkers")]
    assert len(set(names)) == len(names)
    assert {"no_acked_record_lost", "steps_completed", "metadata_equivalent"} <= set(names)
    assert [each.name for each in checkers_in("pytest_kmigrate.checkers.run") if "fault" in each.name] == [
        "every_fault_was_witnessed"
    ]


@pytest.mark.parametrize(
    "check",
    [
        checks.metadata_equivalent("log", "zookeeper", ("topics",), ("leader",)),
        checks.acknowledged_metadata_changes_present("log"),
        checks.longest_time_without_acked_write(5),
        checks.phase_reached(Phase.HYBRID),
    ],
)
def test_arguments_survive_json(check: Check) -> None:
    """A check read back from a run folder equals the one that was asked for."""
    assert Check(check.name, json.loads(json.dumps(check.arguments))) == check


@pytest.mark.parametrize("name", sorted(all_checkers()))
def test_no_checker_conforms_over_an_empty_history(name: str) -> None:
    """A check over nothing is never a pass."""
    each = all_checkers()[name]
    wanted = [p for p in inspect.signature(each.judge).parameters if p in _ARGUMENTS]
    verdict = each.judged(history(), Check(name, {key: _ARGUMENTS[key] for key in wanted}))
    assert verdict.outcome in (Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE)
