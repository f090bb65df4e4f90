"""Check that brokers register before the take-over."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.registration.preparation import brokers_register_before_the_takeover
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import fault, history, phase, sample
from tests.unit.documents.kip_866.checks.nodes import controller, migrating, with_flag


def preparing(
    count: float | None,
    *events: Event,
    leads_ms: int = 5_000,
    until_ms: int = 60_000,
    kafka: str = "3.9.1",
    began: Sequence[Event] = (with_flag(0, "controller-3000"), controller()),
) -> History:
    """A broker came up after 10 s; the leader reports this count."""
    reported = {"ActiveControllerCount": 1.0, "MigratingZkBrokerCount": count}
    samples = [sample(at, "controller-3000", **reported) for at in range(leads_ms, until_ms, 1_000)]
    nodes = [phase(0, "PREPARING"), *began, *migrating(10_000), *events]
    return history(events=nodes, samples=samples, kafka=kafka)


def test_a_broker_that_is_counted_conforms() -> None:
    """Conforming: the quorum has a leader, and it knows the broker."""
    assert brokers_register_before_the_takeover.judge(preparing(1)).outcome is Outcome.CONFORMS


def test_a_broker_that_is_never_counted_violates() -> None:
    """Violating: from 30 s after it was ready."""
    verdict = brokers_register_before_the_takeover.judge(preparing(0))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.violations[0].observed.startswith("controller-3000 counts 0 (40.0 s")


def test_brokers_have_to_find_a_leader_that_was_away() -> None:
    """Of a restarted controller that is active again the first samples prove nothing."""
    run = preparing(0)
    away = [each for each in run.samples if not 25_000 <= each.at_ns // 1_000_000 < 35_000]
    verdict = brokers_register_before_the_takeover.judge(replace(run, samples=away))
    assert verdict.outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "run",
    [
        preparing(0, until_ms=40_000),
        preparing(0, leads_ms=30_500),
        preparing(0, *fault(15_000)),
        preparing(1, phase(4_000, "HYBRID")),
        preparing(0, began=[controller()]),
    ],
    ids=["too early", "soon after an election", "under a fault", "after the take-over", "a quorum without the flag"],
)
def test_without_a_broker_that_must_be_known_nothing_is_proved(run: History) -> None:
    """Vacuous."""
    assert brokers_register_before_the_takeover.judge(run).outcome is Outcome.INCONCLUSIVE


def test_a_release_without_the_metric_is_not_judged() -> None:
    """Not applicable."""
    assert brokers_register_before_the_takeover.judge(preparing(1, kafka="3.5.2")).outcome is Outcome.NOT_APPLICABLE
