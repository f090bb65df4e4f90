"""Brokers that are started in dual write: each comes up, and is in sync again."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.procedure.rolling import brokers_are_rolled_one_by_one
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import ClientMetadata, History
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import MS, copies, event, fault, history, phase, sample
from tests.unit.documents.kip_866.checks.nodes import broker, controller, migrating, stopped
from tests.unit.documents.kip_866.checks.outcomes import looked_at

BEFORE = [*migrating(0, 0), *migrating(0, 1), phase(5_000, "HYBRID")]
END = phase(125_000, "HYBRID")
OUT, BACK = "0", "0,1"
LED = [sample(at_ms, "controller-3000", ActiveControllerCount=1) for at_ms in range(1_000, 125_000, 500)]
KRAFT, ZOOKEEPER = (broker(21_000, mode=mode) for mode in ("kraft", "zookeeper"))
ROLLED, RESTARTED = "PROC-roll-one-by-one", "PROC-zk-mode-continues"


def answered(*later: str, first: str = BACK) -> list[ClientMetadata]:
    """Broker-0 answers which copies are in sync: before broker-1 is stopped after 20 s, then, and every 10 s."""
    times = [1_000, 20_500, *range(30_000, 130_000, 10_000)]
    in_sync = [first, OUT, *later, *[later[-1]] * (len(times) - 2 - len(later))]
    return [copies(at_ms, "0,1", each) for at_ms, each in zip(times, in_sync, strict=True)]


def run_of(*events: Event, answers: Sequence[ClientMetadata]) -> History:
    """Broker-1 is stopped in dual write, after 20 s; these are the other events and what broker-0 answers."""
    stop = stopped(20_000, how="killed", took_ms=0)
    return history((), events=[controller(), *BEFORE, stop, *events, END], client_metadata=answers, samples=LED)


@pytest.mark.parametrize(("start", "row"), [(KRAFT, ROLLED), (ZOOKEEPER, RESTARTED)], ids=["kraft", "zookeeper"])
def test_a_broker_that_stays_out_of_sync_violates(start: list[Event], row: str) -> None:
    """Conforming: one that is in sync again. Violating: one that never is, where it was before."""
    back = brokers_are_rolled_one_by_one.judge(run_of(*start, answers=answered(OUT, BACK)))
    assert looked_at(back) == {row: "CONFORMS"}
    stays = brokers_are_rolled_one_by_one.judge(run_of(*start, answers=answered(OUT)))
    assert (stays.outcome, stays.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert looked_at(stays) == {row: "VIOLATES"}
    assert stays.violations[0].observed.startswith("it is out of sync for 90.0 s, in orders-0 (")
    assert stays.violations[0].awaited == (21_000 * MS, 111_000 * MS)


@pytest.mark.parametrize(
    "run",
    [
        run_of(*KRAFT, answers=answered(OUT, first=OUT)),
        run_of(*KRAFT, *fault(60_000), answers=answered(OUT)),
        run_of(*KRAFT, stopped(60_000, "broker-0"), answers=answered(OUT)),
        run_of(*KRAFT, phase(60_000, "FINALIZED"), phase(70_000, "FINALIZED"), answers=answered(OUT)[:5]),
        run_of(*broker(61_000, mode="kraft"), answers=answered(OUT)),
        run_of(*KRAFT, answers=answered(OUT)[:5]),
    ],
    ids=["never in sync", "under a fault", "another one left", "no dual write", "the run ended", "no answers"],
)
def test_what_may_have_kept_it_out_of_sync_is_not_judged(run: History) -> None:
    """Conforming: it is ready, and no more can be asked of it."""
    assert looked_at(brokers_are_rolled_one_by_one.judge(run)) == {ROLLED: "CONFORMS"}


@pytest.mark.parametrize(("mode", "row"), [("kraft", ROLLED), ("zookeeper", RESTARTED)])
def test_a_broker_that_is_not_ready_after_90_s_violates(mode: str, row: str) -> None:
    """Also if the harness gave up, and ended it; one that was given less time proves nothing."""
    start = broker(21_000, mode=mode, ready_ms=None)
    answers = answered(OUT)
    verdict = brokers_are_rolled_one_by_one.judge(run_of(*start, answers=answers))
    assert looked_at(verdict) == {row: "VIOLATES"}
    assert verdict.violations[0].observed.startswith("it was not ready 104 s later (")
    given_up = brokers_are_rolled_one_by_one.judge(run_of(*start, stopped(120_000, how="killed"), answers=answers))
    assert looked_at(given_up) == {row: "VIOLATES"}
    soon = brokers_are_rolled_one_by_one.judge(run_of(*start, stopped(100_000, how="killed"), answers=answers))
    assert not looked_at(soon)


def test_the_fault_that_ended_a_broker_excuses_nothing_after_its_start() -> None:
    """It is in force until the broker is ready; one of another broker, or of another kind, may have to do with it."""
    start = broker(21_000, ready_ms=None)
    for effect, targets, is_judged in (
        ("kill", ["broker-1"], True),
        ("kill", ["broker-0", "broker-1"], False),
        ("slow", ["broker-1"], False),
    ):
        killed = fault(19_000, "kill(broker-1)", effect=effect)
        applied = event(EventKind.FAULT_APPLIED, 19_500, fault_id="kill(broker-1)", targets=targets)
        verdict = brokers_are_rolled_one_by_one.judge(run_of(*killed, applied, *start, answers=answered(OUT)))
        assert looked_at(verdict) == ({RESTARTED: "VIOLATES"} if is_judged else {})


def test_a_broker_of_a_checkpoint_must_be_ready_and_no_more() -> None:
    """It ran on the cluster before, and was not rolled in this run; without a controller it need not come up."""
    late = [controller(), *broker(2_000, 0, "kraft"), *broker(2_000, 1, "kraft", ready_ms=None)]
    ready = [controller(), *broker(2_000, 0, "kraft"), *broker(2_000, 1, "kraft")]
    phases = [phase(1_500, "ALL_KRAFT"), phase(125_000, "ALL_KRAFT")]
    for events, samples, judged in ((late, LED, {ROLLED: "VIOLATES"}), (late, LED[:120], {}), (ready, LED, {})):
        run = history((), events=[*events, *phases], samples=samples, client_metadata=answered(OUT))
        resumed = replace(run, header=replace(run.header, extra={"scene": {"log_offset": 5}}))
        assert looked_at(brokers_are_rolled_one_by_one.judge(resumed)) == judged


def test_a_start_that_must_fail_is_not_judged() -> None:
    """The test said so."""
    expected = event(
        EventKind.EXPECTED_END, 123_000, nodes=["broker-1"], within_s=120, naming=None, began_ns=20_500 * MS
    )
    start = broker(21_000, mode="kraft", ready_ms=None)
    assert not looked_at(brokers_are_rolled_one_by_one.judge(run_of(*start, expected, answers=answered(OUT))))
