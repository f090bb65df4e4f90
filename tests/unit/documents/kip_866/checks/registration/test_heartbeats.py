"""Check that brokers that run are unfenced."""

from collections.abc import Sequence

import pytest

from pytest_kmigrate.documents.kip_866.checks.registration.heartbeats import brokers_that_run_are_unfenced as check
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, fault, history, phase, sample, snapshot
from tests.unit.documents.kip_866.checks.nodes import broker, controller, migrating, stopped, with_flag


def ran(
    active: float | None,
    fenced: float | None,
    *events: Event,
    until_ms: int = 100_000,
    leads_ms: int = 5_000,
    in_phase: str = "HYBRID",
    brokers: Sequence[Event] = (*migrating(10_000), *broker(10_000, 2, "kraft")),
    image: MetadataImage | None = None,
    is_enabled: bool = True,
) -> History:
    """Two brokers came up after 10 s, one in each mode; the leader counts so many, and the log is read after 99 s."""
    reported = {"ActiveControllerCount": 1.0, "ActiveBrokerCount": active, "FencedBrokerCount": fenced}
    samples = [sample(at, "controller-3000", **reported) for at in range(leads_ms, until_ms, 1_000)]
    began = [with_flag(0, "controller-3000"), controller()] if is_enabled else [controller()]
    read = [snapshot(99_000, "a-log")] if image else []
    nodes = sorted([phase(0, in_phase), *began, *brokers, *events, *read], key=lambda each: each.at_ns)
    return history(events=nodes, samples=samples, images={"a-log": image} if image else {})


def log(*fenced: int, of: int = 2) -> MetadataImage:
    """The metadata log: so many brokers from 1 on, and which of them are fenced."""
    brokers = {str(each): {"is_migrating_zk_broker": each == 1, "fenced": each in fenced} for each in range(1, of + 1)}
    return MetadataImage("metadata-log", extra={"brokers": brokers})


@pytest.mark.parametrize(
    "there",
    [
        ran(2, 0),
        ran(2, 1),
        ran(3, 0),
        ran(1, 0),
        ran(2, 0, in_phase="PREPARING"),
        ran(None, None, image=log()),
        ran(None, None, image=log(3, of=3)),
        ran(1, 1, stopped(60_000), until_ms=100_000),
    ],
    ids=[
        "unfenced",
        "one more fenced",
        "one more",
        "not registered",
        "before",
        "log",
        "log of more",
        "one was stopped",
    ],
)
def test_brokers_that_are_unfenced_conform(there: History) -> None:
    """A fenced one beside them is none of those that run; nor is one that is registered no more this check's."""
    assert check.judge(there).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    ("there", "observed"),
    [
        (ran(0, 2), "controller-3000 counts 0 active and 2 fenced ones, for 29.0 s (70.0 s after the run began"),
        (ran(1, 1), "controller-3000 counts 1 active and 1 fenced ones, for 29.0 s"),
        (ran(1, 1, in_phase="PREPARING"), "controller-3000 counts 1 active and 1 fenced ones"),
        (ran(None, None, image=log(1, 2)), "the metadata log has broker-1, broker-2 fenced"),
        (ran(2, 0, image=log(2)), "the metadata log has broker-2 fenced"),
    ],
    ids=["none heard", "one not heard", "before the copy", "none heard, by the log", "one not heard, by the log"],
)
def test_a_broker_that_stays_fenced_though_it_runs_violates(there: History, observed: str) -> None:
    """By what a controller counts, or what its log names."""
    verdict = check.judge(there)
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.violations[0].observed.startswith(observed)
    assert verdict.violations[0].expected == "2 brokers, ready for 60.0 s, send heartbeats and are unfenced"


@pytest.mark.parametrize(
    "there",
    [
        ran(0, 2, until_ms=69_000),
        ran(0, 2, until_ms=72_000),
        ran(0, 2, leads_ms=45_000),
        ran(0, 2, *fault(12_000)),
        ran(0, 2, stopped(30_000), stopped(30_000, "broker-2")),
        ran(0, 2, event(EventKind.NODE_PAUSED, 30_000, "broker-1"), event(EventKind.NODE_PAUSED, 30_000, "broker-2")),
        ran(0, 2, in_phase="FINALIZED"),
        ran(0, 2, in_phase="PREPARING", is_enabled=False),
        ran(0, 1, brokers=broker(10_000)),
        ran(None, None),
    ],
    ids=[
        "not for long",
        "two samples",
        "another controller led",
        "a fault",
        "stopped",
        "paused",
        "finalized",
        "no migration",
        "not theirs",
        "no gauge",
    ],
)
def test_a_broker_that_may_still_be_unfenced_or_was_kept_from_it_says_nothing(there: History) -> None:
    """Vacuous: what keeps it from its heartbeats is no defect of its own."""
    assert check.judge(there).outcome is Outcome.INCONCLUSIVE
