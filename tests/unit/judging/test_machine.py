"""What is judged of a run whose machine lacked something: Kafka is blamed for nothing that did not happen in time."""

from dataclasses import replace

import pytest

from pytest_kmigrate.judging.judge import judged, outcome_of
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, history, read_back, sent

CHECKS = event(
    EventKind.CHECKS,
    checks=[{"name": "no_acked_record_lost"}, {"name": "phase_reached", "arguments": {"phase": "HYBRID"}}],
)
STUCK = [
    event(EventKind.NODE_STARTED, 1, "broker-1", role="broker"),
    event(EventKind.STEP_BEGAN, 2, step="enter", first_move=0, last_move=3, of_moves=3),
    event(EventKind.STEP_ENDED, 5, step="enter", outcome="failed", reason="broker-1 ready: not within 180 s"),
]
DIED = event(EventKind.NODE_DIED, 4, "broker-1", exit_code=1, said="ERROR Shutdown", cause="No space left on device")
FULL = event(EventKind.HARNESS_TROUBLE, 6, what="nodes", error="broker-1: No space left on device", of_machine=True)


@pytest.mark.parametrize("trouble", [DIED, FULL])
def test_a_full_disk_turns_nothing_red(trouble: Event) -> None:
    """Steps, deaths and phases are INCONCLUSIVE (INFRA), and each says why."""
    verdicts = judged(history([sent(0), read_back(0)], [*STUCK[:2], trouble, STUCK[2], CHECKS]))
    assert outcome_of(verdicts) is Outcome.INCONCLUSIVE
    assert not [each for each in verdicts if each.outcome is Outcome.VIOLATES]
    for verdict in verdicts:
        if verdict.check in ("steps_completed", "phase_reached", "no_acked_record_lost"):
            assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.INFRA)
            assert "No space left on device" in verdict.summary
            assert "died by itself" not in verdict.summary


def test_without_trouble_the_same_run_violates() -> None:
    """Kafka did not do what it should in time."""
    assert outcome_of(judged(history([sent(0), read_back(0)], [*STUCK, CHECKS]))) is Outcome.VIOLATES


def test_what_was_lost_stays_lost() -> None:
    """A full disk excuses no acknowledged record that is gone."""
    verdicts = judged(history([sent(0), sent(1), read_back(0)], [FULL, CHECKS]))
    assert [each.check for each in verdicts if each.outcome is Outcome.VIOLATES] == ["no_acked_record_lost"]


def test_trouble_of_the_harness_blames_as_before() -> None:
    """Its own trouble makes nothing red conform, and nothing red INCONCLUSIVE."""
    own = event(EventKind.HARNESS_TROUBLE, 6, what="clients", error="gone")
    assert outcome_of(judged(history([sent(0), read_back(0)], [*STUCK, own, CHECKS]))) is Outcome.VIOLATES


def _fault(**declared: object) -> list[Event]:
    began = event(EventKind.FAULT_BEGAN, 2, fault="fill-disk(broker-1)", fault_id="f", effect="filldisk", trigger="now")
    return [began, event(EventKind.FAULT_APPLIED, 2, fault_id="f", targets=["broker-1"], began=0, **declared)]


@pytest.mark.parametrize(
    ("declared", "outcome"),
    [
        ({"takes": "disk"}, Outcome.VIOLATES),
        ({}, Outcome.VIOLATES),  # it may have taken anything
        ({"takes": "nothing"}, Outcome.INCONCLUSIVE),  # a process was killed, and the disk is full
    ],
)
def test_a_disk_that_a_fault_filled_excuses_nothing(declared: dict[str, object], outcome: Outcome) -> None:
    """The test wanted to see what Kafka does then."""
    full = replace(FULL, node="broker-1")
    bitten = event(EventKind.FAULT_WITNESSED, 3, fault_id="f", witness="full")
    healed = event(EventKind.FAULT_HEALED, 4, fault_id="f", fault="fill-disk(broker-1)")
    events = [STUCK[0], *_fault(**declared), bitten, healed, STUCK[1], STUCK[2], full, CHECKS]
    assert outcome_of(judged(history([sent(0), read_back(0)], events))) is outcome


@pytest.mark.parametrize(("is_planted", "is_expected"), [(True, False), (False, False), (True, True)])
def test_a_death_by_what_a_fault_may_have_taken_proves_nothing(is_planted: bool, is_expected: bool) -> None:
    """Unless the test expected it; whether the fault was its cause is not known."""
    bitten = event(EventKind.FAULT_WITNESSED, 3, fault_id="f", witness="full")
    planted = [*_fault(takes="disk"), bitten] if is_planted else []
    expected = event(EventKind.EXPECTED_END, 5, nodes=["broker-1"], began_ns=0, within_s=1, naming=None)
    checks = event(EventKind.CHECKS, 9, checks=[{"name": "no_acked_record_lost"}])
    events = [STUCK[0], *planted, DIED, *([expected] if is_expected else []), checks]
    (kept,) = (
        each for each in judged(history([sent(0), read_back(0)], events)) if each.check == "no_acked_record_lost"
    )
    assert kept.outcome is (Outcome.CONFORMS if is_expected else Outcome.INCONCLUSIVE)
