"""Check of how KRaft controllers take both controller znodes."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.znodes.elections import kraft_takes_both_controller_znodes
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Sample, ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, fault, history, phase, sample, znode
from tests.unit.documents.kip_866.checks.nodes import broker, controller, stopped, with_flag
from tests.unit.documents.kip_866.checks.outcomes import looked_at
from tests.unit.documents.kip_866.checks.znodes.test_controller_znodes import claim

OF_BROKER = claim(9, 2, -1)


def epoch(mzxid: int, value: int, version: int) -> ZnodeChange:
    """/controller_epoch as it was written in a transaction."""
    return znode(mzxid, "/controller_epoch", str(value), mzxid, version)


EPOCHS = [epoch(9, 1, 0), epoch(2_000, 2, 1), epoch(3_000, 3, 2)]
CLAIMS = [OF_BROKER, claim(2_000), claim(3_000, 3001, 4)]


def taken(*changes: ZnodeChange, events: tuple[Event, ...] = ()) -> History:
    """Broker-2 was the controller, and KRaft took over."""
    nodes = [*broker(1, 2), controller(), controller(0, 3001), *events]
    return history(events=nodes, znodes=sorted(changes, key=lambda each: each.at_ns))


def test_each_claim_with_its_epoch_conforms() -> None:
    """Conforming: the first one overwrites who lives, the second one is of an election."""
    verdict = kraft_takes_both_controller_znodes.judge(taken(*CLAIMS, *EPOCHS))
    assert looked_at(verdict) == dict.fromkeys(
        ("ZNODE-controller-epoch-bump", "ZNODE-controller-overwrite", "ZNODE-controller-every-election"), "CONFORMS"
    )


@pytest.mark.parametrize("wrong", [epoch(2_000, 1, 1), epoch(2_000, 2, 0)])
def test_an_epoch_that_does_not_rise_violates(wrong: ZnodeChange) -> None:
    """Violating: by value, or by version."""
    verdict = kraft_takes_both_controller_znodes.judge(taken(*CLAIMS[:2], EPOCHS[0], wrong))
    assert looked_at(verdict)["ZNODE-controller-epoch-bump"] == "VIOLATES"
    assert looked_at(verdict)["ZNODE-controller-overwrite"] == "CONFORMS"


def test_an_election_that_leaves_the_epoch_as_it_was_violates() -> None:
    """Violating: the first claim raised it, and that of the next election did not."""
    verdict = kraft_takes_both_controller_znodes.judge(taken(*CLAIMS, *EPOCHS[:2], epoch(3_000, 2, 1)))
    assert looked_at(verdict)["ZNODE-controller-every-election"] == "VIOLATES"
    first = kraft_takes_both_controller_znodes.judge(taken(*CLAIMS[:2], EPOCHS[0], epoch(2_000, 1, 1)))
    assert "ZNODE-controller-every-election" not in looked_at(first)


def test_a_znode_that_stood_empty_was_not_overwritten() -> None:
    """Violating: KRaft waited until who was in office had gone, though it lived; a moment is no wait."""
    for empty_ms, outcome in ((500, "VIOLATES"), (1_900, "CONFORMS")):
        gone = znode(empty_ms, "/controller", None)
        verdict = kraft_takes_both_controller_znodes.judge(taken(OF_BROKER, gone, *CLAIMS[1:], *EPOCHS))
        assert looked_at(verdict)["ZNODE-controller-overwrite"] == outcome


def test_what_was_not_seen_is_not_judged() -> None:
    """Vacuous: no claim; a claim whose epoch was not seen; a former controller that had gone by itself."""
    assert kraft_takes_both_controller_znodes.judge(taken(OF_BROKER)).outcome is Outcome.INCONCLUSIVE
    apart = [OF_BROKER, replace(claim(2_000), mzxid=-1), *EPOCHS]
    assert looked_at(kraft_takes_both_controller_znodes.judge(taken(*apart))) == {
        "ZNODE-controller-overwrite": "CONFORMS"
    }
    away = (stopped(1_000, "broker-2"),)
    verdict = kraft_takes_both_controller_znodes.judge(taken(*CLAIMS[:2], *EPOCHS[:2], events=away))
    assert looked_at(verdict) == {"ZNODE-controller-epoch-bump": "CONFORMS"}


def healed(at_ms: int, name: str = "kill(active-controller)") -> list[Event]:
    """The end of a fault."""
    return [event(EventKind.FAULT_HEALED, at_ms, fault=name, fault_id=name)]


def led(
    *events: Event,
    epoch: float | None = 5,
    until_ms: int = 130_000,
    in_phase: str = "HYBRID",
    claims: tuple[ZnodeChange, ...] = (claim(5_000, 3001, 4),),
    others: tuple[Sample, ...] = (),
    is_enabled: bool = True,
) -> History:
    """Controller-3000 has led since 10 s, in epoch 5; the znode holds the claim of epoch 4."""
    nodes = [*([with_flag(0, "controller-3000")] if is_enabled else []), controller(), controller(0, 3001)]
    reported = {"ActiveControllerCount": 1.0, "RaftCurrentEpoch": epoch}
    samples = [sample(at, "controller-3000", **reported) for at in range(10_000, until_ms, 1_000)]
    zookeeper = event(EventKind.NODE_STARTED, 0, "zookeeper-1", role="zookeeper", mode=None, kafka="3.9.1")
    all_events = sorted([phase(0, in_phase), zookeeper, *nodes, *events], key=lambda each: each.at_ns)
    in_order = sorted([*samples, *others], key=lambda each: each.at_ns)
    return history(events=all_events, znodes=list(claims), samples=in_order)


@pytest.mark.parametrize("in_phase", ["HYBRID", "ALL_KRAFT"])
def test_a_leader_that_never_takes_the_znode_violates(in_phase: str) -> None:
    """Violating by time: one that leads for so long, and nothing kept it from it."""
    for there in (led(in_phase=in_phase), led(*fault(5_500), *healed(8_000), in_phase=in_phase)):
        verdict = kraft_takes_both_controller_znodes.judge(there)
        assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.LIVENESS, 1)
        assert looked_at(verdict) == {"ZNODE-controller-every-election": "VIOLATES"}
        assert verdict.violations[0].observed.startswith(
            "controller-3000 led for 119 s, and it held the claim of epoch 4 ("
        )


@pytest.mark.parametrize(
    "there",
    [
        led(until_ms=109_000),
        led(claims=(claim(5_000, 3001, 4), claim(11_000, 3000, 5))),
        led(claims=(claim(5_000, 3001, 4), claim(109_000, 3000, 5))),
        led(claims=()),
        led(*fault(30_000)),
        led(*fault(2_000, "tamper(/controller)"), *healed(3_000, "tamper(/controller)")),
        led(event(EventKind.START_CONDITION, 5, path="/controller", data="mine")),
        led(event(EventKind.NODE_STARTED, 40_000, "zookeeper-1", role="zookeeper", mode=None, kafka="3.9.1")),
        led(event(EventKind.NODE_PAUSED, 40_000, "zookeeper-1")),
        led(others=(sample(60_000, "controller-3001", ActiveControllerCount=1.0, RaftCurrentEpoch=6.0),)),
        led(in_phase="PREPARING"),
        led(phase(60_000, "FINALIZED")),
        led(is_enabled=False),
        led(epoch=None),
        led(claims=(claim(5_000, 3001, 4), znode(6_000, "/controller", None, 6_000))),
    ],
    ids=[
        "not for long",
        "taken",
        "taken late",
        "nothing known",
        "a fault",
        "tampered with",
        "a start condition",
        "ZooKeeper was started",
        "ZooKeeper was paused",
        "another leader",
        "before dual write",
        "finalized",
        "no migration",
        "no epoch",
        "taken back",
    ],
)
def test_a_leader_that_took_it_or_was_kept_from_it_does_not(there: History) -> None:
    """Who keeps it from it is judged elsewhere."""
    assert looked_at(kraft_takes_both_controller_znodes.judge(there)).get("ZNODE-controller-every-election") is None
