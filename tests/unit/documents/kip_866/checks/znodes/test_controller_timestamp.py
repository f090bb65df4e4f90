"""Check of the time in /controller."""

import pytest

from pytest_kmigrate.documents.kip_866.checks.znodes.controller_timestamp import controller_timestamp_is_a_number
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.documents.kip_866.checks.znodes.test_controller_znodes import OF_BROKER, claim, seen
from tests.unit.documents.kip_866.diagnoses.naming import named


def test_a_text_violates_and_only_digits_are_known() -> None:
    """Violating: what ZooKeeper's controllers write is not judged."""
    verdict = controller_timestamp_is_a_number.judge(seen(OF_BROKER, claim(20)))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.LIVENESS, 1)
    assert named(seen(), verdict) == ("controller-timestamp-as-text",)
    assert verdict.violations[0].observed.startswith("it is '1795259404410' in {")


@pytest.mark.parametrize("time", ["yesterday", None, True, 1.5])
def test_anything_else_that_is_no_whole_number_is_not_excused(time: object) -> None:
    """Violating: also beside one of the known kind."""
    verdict = controller_timestamp_is_a_number.judge(seen(claim(20), claim(30, 3001, 4, timestamp=time)))
    assert (verdict.outcome, named(seen(), verdict)) == (Outcome.VIOLATES, ())


def test_a_number_conforms_and_nothing_is_vacuous() -> None:
    """Conforming; vacuous: no KRaft controller wrote there."""
    assert controller_timestamp_is_a_number.judge(seen(claim(20, timestamp=1795259404410))).outcome is Outcome.CONFORMS
    assert controller_timestamp_is_a_number.judge(seen(OF_BROKER)).outcome is Outcome.INCONCLUSIVE
