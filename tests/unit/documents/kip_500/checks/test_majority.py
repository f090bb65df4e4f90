"""Check that nothing is acknowledged without a majority of controllers."""

import pytest

from pytest_kmigrate.documents.kip_500.checks.majority import nothing_is_acknowledged_without_a_majority as check
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.metrics import RAFT_STATES
from pytest_kmigrate.model.verdict import About, Outcome
from tests.unit.checkers.histories import MS, event, history

CONTROLLERS = ("controller-3000", "controller-3001", "controller-3002")
ALONE = CONTROLLERS[0]
STARTED = [event(EventKind.NODE_STARTED, 0, each, role="controller", kafka="3.9.1") for each in CONTROLLERS]
WITHOUT, CUT_OFF = "K500-QRM-majority-required", "K500-QRM-minority-leader-harmless"


def killed(at_ms: int, node: str) -> Event:
    """A node is killed."""
    return event(EventKind.NODE_STOPPED, at_ms, node, how="killed", exit_code=137, took_ms=1, said="")


def requested(began_ms: int, ended_ms: int, outcome: str, node: str | None = ALONE) -> Event:
    """A topic is requested of one controller."""
    data = {"change": "create-topic", "subject": "alone", "wanted": {}, "outcome": outcome, "error": ""}
    return event(EventKind.METADATA_CHANGE, ended_ms, node, began_ns=began_ms * MS, **data)


def isolated(at_ms: int, healed_ms: int, fault: str = "isolate(controller-3000 from controller)") -> list[Event]:
    """The first controller is cut off from others."""
    return [
        event(EventKind.FAULT_BEGAN, at_ms, fault=fault, fault_id="fault-1", effect="isolate"),
        event(EventKind.FAULT_APPLIED, at_ms, fault_id="fault-1", targets=[ALONE], began=1),
        event(EventKind.FAULT_HEALED, healed_ms, fault_id="fault-1", fault=fault),
    ]


def of_states(state: str) -> list[Sample]:
    """What the first controller reported while the request waited there."""
    values = {"RaftCurrentState": RAFT_STATES[state]}
    return [Sample(at_ms * MS, ALONE, values) for at_ms in (2_500, 3_000, 3_500)]


TWO_KILLED = [killed(1_000, CONTROLLERS[1]), killed(1_500, CONTROLLERS[2])]
BACK = event(EventKind.NODE_STARTED, 9_000, CONTROLLERS[1], role="controller", kafka="3.9.1")


def judged(run: History) -> dict[str, Outcome]:
    """The outcome for each of the two requirements."""
    return {about.requirement: about.outcome for about in check.judge(run).about if isinstance(about, About)}


@pytest.mark.parametrize(
    ("events", "row", "other"),
    [([*TWO_KILLED, BACK], WITHOUT, CUT_OFF), (isolated(1_000, 9_000), CUT_OFF, WITHOUT)],
    ids=["two-killed", "cut-off"],
)
def test_a_leader_that_holds_a_request_conforms(events: list[Event], row: str, other: str) -> None:
    """Conforming: it led while the request waited there. The other sentence was not tried."""
    run = history(events=[*STARTED, *events, requested(2_000, 4_000, "indefinite")], samples=of_states("leader"))
    assert judged(run) == {row: Outcome.CONFORMS, other: Outcome.INCONCLUSIVE}


@pytest.mark.parametrize(
    ("events", "row"),
    [
        ([*TWO_KILLED, BACK], WITHOUT),
        (isolated(1_000, 9_000), CUT_OFF),
        (isolated(1_000, 9_000, "isolate(x)"), CUT_OFF),
    ],
    ids=["two-killed", "cut-off", "cut-off-from-all"],
)
@pytest.mark.parametrize("samples", [of_states("leader"), []], ids=["seen-to-lead", "not-seen"])
def test_an_acknowledgement_without_a_majority_violates(events: list[Event], row: str, samples: list[Sample]) -> None:
    """Violating: whatever the controller reports of itself, it acknowledged what no other one could have."""
    run = history(events=[*STARTED, *events, requested(2_000, 2_050, "ok")], samples=samples)
    assert judged(run)[row] is Outcome.VIOLATES
    assert "it acknowledged create-topic of alone" in check.judge(run).violations[0].observed


@pytest.mark.parametrize(
    "change",
    [
        requested(500, 2_000, "ok"),  # it began while most were up
        requested(8_000, 9_500, "ok"),  # a second controller was back
        requested(2_000, 2_050, "ok", node=None),  # a broker was asked, which may know another controller
        requested(2_000, 2_050, "indefinite"),  # it did not lead: refused at once
    ],
)
def test_what_proves_nothing(change: Event) -> None:
    """Vacuous: nothing was requested of a leader in that time."""
    run = history(events=[*STARTED, *TWO_KILLED, BACK, change], samples=of_states("follower"))
    assert set(judged(run).values()) == {Outcome.INCONCLUSIVE}


def test_a_cut_from_brokers_alone_proves_nothing() -> None:
    """Vacuous: the controller still reaches the others."""
    events = isolated(1_000, 9_000, "isolate(controller-3000 from broker)")
    assert set(judged(history(events=[*STARTED, *events, requested(2_000, 2_050, "ok")])).values()) == {
        Outcome.INCONCLUSIVE
    }
