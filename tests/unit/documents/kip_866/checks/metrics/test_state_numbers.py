"""Check of the numbers of the states of a migration, on what controllers report."""

from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.checks.metrics.state_numbers import migration_state_has_its_documented_number
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, history, sample


def reported(*numbers: float | None, kafka: str = "3.9.1", active: int = 1) -> History:
    """What one controller reports as the state of the migration, twice a second."""
    values: list[dict[str, Any]] = [{"ActiveControllerCount": active, "ZkMigrationState": each} for each in numbers]
    samples = [sample(500 * at, "controller-3000", **each) for at, each in enumerate(values, 1)]
    started = event(EventKind.NODE_STARTED, 0, "controller-3000", role="controller")
    return history(events=[started], samples=samples, kafka=kafka)


def test_another_number_than_the_documented_one_violates() -> None:
    """Violating: a release that swapped two of them; each state is reported once, when it was first seen."""
    verdict = migration_state_has_its_documented_number.judge(reported(-1, 0, 2, 2, 1, 3))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.LIVENESS, 2)
    stated = {each.expected: each.observed for each in verdict.violations}
    assert stated["ZkMigrationState is 1 in PRE_MIGRATION"].startswith(
        "controller-3000 reported 2 for PRE_MIGRATION, 1.5"
    )
    assert stated["ZkMigrationState is 2 in MIGRATION"].startswith("controller-3000 reported 1 for MIGRATION, 2.5 s")


def test_a_number_that_no_document_has_violates() -> None:
    """Violating: one that only this release means something by, or none."""
    for number, stated in ((4, "reported 4 for ZK"), (7, "reported 7 for the number 7")):
        (violation,) = migration_state_has_its_documented_number.judge(reported(number)).violations
        assert violation.expected == "ZkMigrationState is one of 0 to 3"
        assert stated in violation.observed


def test_the_documented_numbers_conform() -> None:
    """Conforming: what both agree on; no image yet is no state."""
    verdict = migration_state_has_its_documented_number.judge(reported(None, -1, 0, 3))
    assert (verdict.outcome, verdict.summary) == (Outcome.CONFORMS, "2 states reported by the documented numbers")


@pytest.mark.parametrize("stated", [reported(), reported(0, -1, None), reported(1, 2, active=0)])
def test_without_a_migration_to_tell_of_nothing_is_proved(stated: History) -> None:
    """Inconclusive: no sample, the default only, or a controller that is not active."""
    assert migration_state_has_its_documented_number.judge(stated).outcome is Outcome.INCONCLUSIVE


def test_a_release_without_the_metric_is_not_judged() -> None:
    """Not applicable: it came with 3.5."""
    verdict = migration_state_has_its_documented_number.judge(reported(2, kafka="3.4.1"))
    assert verdict.outcome is Outcome.NOT_APPLICABLE
