"""Check of the time without an active controller: an election, one that does not end, and times that do not count."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.controllers.absence import longest_time_without_an_active_controller as check
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.metrics import RAFT_STATES
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, history, sample

NAMES = ("controller-3000", "controller-3001", "controller-3002")
UP = [
    each
    for name in NAMES
    for each in (event(EventKind.NODE_STARTED, 0, name, role="controller"), event(EventKind.NODE_READY, 10, name))
]
KILLED = event(EventKind.NODE_DIED, 10_000, NAMES[0])


def applied(at_ms: int, *targets: str, healed_ms: int) -> list[Event]:
    """A fault that acts on these nodes."""
    began = event(EventKind.FAULT_APPLIED, at_ms, fault_id="fault-1", targets=list(targets))
    return [began, event(EventKind.FAULT_HEALED, healed_ms, fault_id="fault-1")]


def reported(active: Sequence[tuple[int, str]], until_ms: int, *, nodes: Sequence[str] = NAMES) -> list[Sample]:
    """What each node reports every half second: the controller of the last of these times is active; "" is none."""
    return [
        sample(at, node, ActiveControllerCount=float(node == [who for since, who in active if since <= at][-1]))
        for at in range(500, until_ms, 500)
        for node in nodes
    ]


def run(samples: list[Sample], *events: Event) -> History:
    """Three controllers are up from the beginning."""
    return history(events=sorted([*UP, *events], key=lambda each: each.at_ns), samples=samples)


def test_an_election_in_time_conforms() -> None:
    """Conforming: the active controller dies, and another one is elected 5 s later."""
    verdict = check.judge(run(reported([(0, NAMES[0]), (10_000, ""), (15_000, NAMES[1])], 20_000), KILLED))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.facts["longest_s"] == 5.5
    assert verdict.summary.startswith("longest time without an active controller: 5.5 s, from ")


@pytest.mark.parametrize("ended_ms", [52_000, 90_000], ids=["late", "never"])
def test_an_election_that_takes_too_long_violates(ended_ms: int) -> None:
    """Violating: two of three are up, and none of them is active for 42 s, or any more."""
    verdict = check.judge(run(reported([(0, NAMES[0]), (10_000, ""), (52_000, NAMES[1])], ended_ms), KILLED))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.LIVENESS, 1)
    assert verdict.violations[0].expected == "some controller is active every 30 s while a majority of them is up"
    assert check.judge(run(reported([(0, NAMES[0])], 9_000)), at_most_s=0.1).outcome is Outcome.VIOLATES


@pytest.mark.parametrize(
    ("elected_ms", "outcome"),
    [(200_000, Outcome.VIOLATES), (80_000, Outcome.CONFORMS), (30_000, Outcome.CONFORMS)],
    ids=["never", "late at the first start", "before they are surely up"],
)
def test_a_quorum_that_elects_none_from_the_beginning_violates(elected_ms: int, outcome: Outcome) -> None:
    """No controller is ready then; each has reported for a minute, and for half a minute more."""
    started = [each for each in UP if each.kind is EventKind.NODE_STARTED]
    samples = reported([(0, ""), (elected_ms, NAMES[0])], 100_000)
    assert check.judge(history(events=started, samples=samples)).outcome is outcome


def test_a_controller_that_was_silent_in_between_has_another_minute() -> None:
    """It reported for two seconds, and again a minute and a half later: a pause is no time in which it is up."""
    started = [each for each in UP if each.kind is EventKind.NODE_STARTED]
    samples = [each for each in reported([(0, "")], 140_000) if not 2 < each.at_ns / 1e9 < 90]
    assert check.judge(history(events=started, samples=samples)).outcome is Outcome.NOT_APPLICABLE


def test_a_controller_that_starts_again_has_another_minute() -> None:
    """Nothing can be said of the time before: one of two that are left ended, and reports from its next start on."""
    started = [each for each in UP if each.kind is EventKind.NODE_STARTED]
    again = [event(EventKind.NODE_DIED, 50_000, name) for name in NAMES[:2]]
    again += [event(EventKind.NODE_STARTED, 51_000, name, role="controller") for name in NAMES[:2]]
    samples = reported([(0, "")], 105_000)
    assert check.judge(history(events=[*started, *again], samples=samples)).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    "events",
    [
        [KILLED, event(EventKind.NODE_STOPPED, 10_000, NAMES[1]), event(EventKind.NODE_READY, 60_000, NAMES[1])],
        [KILLED, event(EventKind.NODE_PAUSED, 10_000, NAMES[1]), event(EventKind.NODE_RESUMED, 60_000, NAMES[1])],
        [KILLED, *applied(10_000, NAMES[1], healed_ms=60_000)],
        applied(10_000, *NAMES, healed_ms=60_000),
    ],
    ids=["down", "paused", "hit", "cut from each other"],
)
def test_time_without_a_majority_does_not_count(events: list[Event]) -> None:
    """Conforming: one of three cannot elect itself; 5 s after two are back one of them is active."""
    verdict = check.judge(run(reported([(0, NAMES[0]), (10_000, ""), (65_000, NAMES[2])], 70_000), *events))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.facts["longest_s"] in (5.0, 5.5)


def test_a_controller_that_cannot_be_followed_is_not_active() -> None:
    """Violating: it is cut off, reports on that it leads, and the two others elect none."""
    samples = reported([(0, NAMES[0])], 60_000)
    verdict = check.judge(run(samples, *applied(10_000, NAMES[0], healed_ms=59_000)))
    assert verdict.outcome is Outcome.VIOLATES


def test_a_controller_without_zookeeper_or_brokers_can_lead() -> None:
    """Conforming: only links to other nodes are disturbed. Violating: the same, and none of the three is active."""
    targets = (NAMES[0], "zookeeper-1")
    fault = applied(10_000, *targets, healed_ms=50_000)
    links = {"links": [f"{NAMES[0]}->zookeeper-1:2181"]}
    seen = event(EventKind.FAULT_WITNESSED, 49_000, fault_id="fault-1", witness="severed", facts=links)
    assert check.judge(run(reported([(0, NAMES[0])], 60_000), *fault, seen)).outcome is Outcome.CONFORMS
    gone = reported([(0, NAMES[0]), (10_000, "")], 60_000)
    assert check.judge(run(gone, *fault, seen)).outcome is Outcome.VIOLATES
    between = {"links": [f"{NAMES[0]}->{NAMES[1]}:9093", f"{NAMES[0]}->zookeeper-1:2181"]}
    apart = event(EventKind.FAULT_WITNESSED, 49_000, fault_id="fault-1", witness="severed", facts=between)
    assert check.judge(run(gone, *fault, apart)).outcome is Outcome.CONFORMS


def following(samples: list[Sample], state: str = "follower", epoch: float = 3) -> list[Sample]:
    """The same, and what each is in the quorum: the active one leads epoch 3."""
    return [
        replace(each, values={**each.values, "RaftCurrentState": RAFT_STATES[what], "RaftCurrentEpoch": of})
        for each in samples
        for what, of in [("leader", 3.0) if each.values["ActiveControllerCount"] else (state, epoch)]
    ]


def test_a_controller_with_another_clock_or_a_slow_disk_leads_while_it_is_followed() -> None:
    """Conforming: a fault is aimed at the leader, and both others fetch from it. It needs one of them."""
    fault = applied(10_000, NAMES[0], healed_ms=59_000)
    samples = reported([(0, NAMES[0])], 60_000)
    assert check.judge(run(following(samples), *fault)).outcome is Outcome.CONFORMS
    one = [a if a.node == NAMES[1] else b for a, b in zip(samples, following(samples), strict=True)]
    assert check.judge(run(one, *fault)).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(("state", "epoch"), [("candidate", 3.0), ("follower", 4.0), ("unattached", 3.0)])
def test_a_controller_that_a_fault_hits_and_none_follows_is_not_active(state: str, epoch: float) -> None:
    """Violating: it reports that it leads, and the others look for another leader, or are in another epoch."""
    samples = following(reported([(0, NAMES[0])], 60_000), state, epoch)
    assert check.judge(run(samples, *applied(10_000, NAMES[0], healed_ms=59_000))).outcome is Outcome.VIOLATES


def test_time_in_which_a_controller_was_not_observed_does_not_count() -> None:
    """Conforming: the active one did not answer who asks for its metrics; the others are not active, as they report."""
    samples = [each for each in reported([(0, NAMES[0])], 60_000) if each.node != NAMES[0] or each.at_ns < 10**10]
    verdict = check.judge(run(samples))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.facts["longest_s"] <= 3


def test_without_controllers_or_samples_nothing_is_judged() -> None:
    """Not applicable, and not asked for unasked."""
    for there in (history(), run([]), run(reported([(0, NAMES[0])], 600, nodes=NAMES[:1]))):
        assert check.judge(there).outcome is Outcome.NOT_APPLICABLE
        assert check.in_every_run is not None
        assert not check.in_every_run(there)
