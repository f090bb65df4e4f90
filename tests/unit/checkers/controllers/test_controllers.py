"""Checks of the controllers: who was active, and epochs."""

import json

import pytest

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER_EPOCH
from pytest_kmigrate.checkers.controllers.controllers import (
    controller_epoch_never_falls,
    one_active_controller_per_epoch,
    one_quorum_leader_per_epoch,
)
from pytest_kmigrate.checkers.controllers.lives import life_starts_ns, processes
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.controllers.quorums import FOLLOWER, LEADER, QUORUM, reported, two_leaders
from tests.unit.checkers.histories import event, fault, history, phase, sample, znode


def test_combined_nodes_are_among_the_controllers() -> None:
    """Their samples are those of processes with the role, and a wipe of all of them begins another life."""
    events = [event(EventKind.NODE_STARTED, 1, f"combined-{number}", role="combined") for number in (1, 2)]
    events += [event(EventKind.NODE_WIPED, 5, f"combined-{number}") for number in (1, 2)]
    samples = [sample(2, "combined-1", ActiveControllerCount=1)]
    combined = history(events=events, samples=samples)
    assert [len(each) for role in ("controller", "broker", "zookeeper") for each in processes(combined, role)] == [1, 1]
    assert life_starts_ns(combined) == [5_000_000]


def _take_over(at_ms: int, controller: int, epoch: int, kraft_epoch: int, mzxid: int) -> list[ZnodeChange]:
    held = json.dumps({"version": 2, "brokerid": controller, "timestamp": "1", "kraftControllerEpoch": kraft_epoch})
    return [znode(at_ms, "/controller", held, mzxid), znode(at_ms + 1, CONTROLLER_EPOCH, str(epoch), mzxid)]


def test_one_controller_at_a_time_conforms() -> None:
    """Conforming: each epoch has one controller, and epochs rise; seeing the same claim again changes nothing."""
    znodes = [*_take_over(1, 0, 1, -1, 10), *_take_over(2, 3000, 2, 1, 11), *_take_over(9, 3001, 3, 2, 12)]
    one = one_active_controller_per_epoch.judge(history(znodes=[*znodes, *_take_over(11, 3001, 3, 2, 12)]))
    assert (one.outcome, one.summary) == (Outcome.CONFORMS, "5 epochs seen, each with one active controller")
    assert controller_epoch_never_falls.judge(history(znodes=znodes)).outcome is Outcome.CONFORMS


def test_two_controllers_in_one_epoch_violate() -> None:
    """Violating: two transactions made another controller that of one epoch; the message says which and when."""
    events = [phase(0, "HYBRID"), *fault(200, "isolate(active-controller)")]
    znodes = [*_take_over(100, 3000, 4, 1, 10), *_take_over(1400, 3001, 4, 2, 11)]
    verdict = one_active_controller_per_epoch.judge(history(events=events, znodes=znodes))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    assert verdict.violations[0].observed == (
        "epoch 4 had controller 3000 (100 ms after the run began, in HYBRID) and controller 3001 "
        "(1.2 s after isolate(active-controller) began, in HYBRID)"
    )
    assert verdict.violations[0].evidence[0] == "znode /controller version -1"


def test_two_claims_with_one_epoch_of_kraft_violate() -> None:
    """Violating: /controller itself names two controllers with the same epoch of the quorum."""
    znodes = [*_take_over(1, 3000, 5, 7, 10), *_take_over(5, 3001, 6, 7, 11)]
    assert one_active_controller_per_epoch.judge(history(znodes=znodes)).count == 1


def test_a_torn_reading_of_the_two_znodes_is_no_second_controller() -> None:
    """The watcher reads the znodes one by one; only what one transaction wrote is taken together."""
    old, new = _take_over(1, 3000, 5, 1, 10), _take_over(5, 3001, 6, 2, 11)
    torn = [*old, new[1], old[0], new[0]]
    assert one_active_controller_per_epoch.judge(history(znodes=torn)).outcome is Outcome.CONFORMS


def test_no_sighting_is_inconclusive() -> None:
    """Inconclusive: no controller and no epoch was ever seen, or only that there was none."""
    nothing = history(znodes=[znode(1, "/controller", None), znode(1, "/x", "{}")])
    assert one_active_controller_per_epoch.judge(nothing).outcome is Outcome.INCONCLUSIVE
    assert controller_epoch_never_falls.judge(nothing).outcome is Outcome.INCONCLUSIVE


def test_an_epoch_that_was_seen_once_is_inconclusive() -> None:
    """Inconclusive: nothing came after it, and epochs of two series say nothing of each other."""
    verdict = controller_epoch_never_falls.judge(history(znodes=_take_over(2, 3000, 2, 1, 11)))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert verdict.summary.startswith("no epoch was seen to follow another: /controller_epoch up to 2; ")


def test_unreadable_znodes_are_passed_over() -> None:
    """A tampered znode that holds no JSON, or no object, claims nothing."""
    znodes = [znode(1, "/controller", "{"), znode(2, "/controller", "[]"), znode(3, CONTROLLER_EPOCH, "many")]
    assert controller_epoch_never_falls.judge(history(znodes=znodes)).outcome is Outcome.INCONCLUSIVE


def test_a_falling_epoch_violates() -> None:
    """Violating: in the znode, and in KRaft's own epoch within /controller."""
    in_epoch = [znode(1, CONTROLLER_EPOCH, "7"), znode(2, CONTROLLER_EPOCH, "2")]
    in_claim = [*_take_over(1, 3000, 7, 4, 10), *_take_over(2, 3001, 8, 3, 11)]
    for znodes in (in_epoch, in_claim):
        verdict = controller_epoch_never_falls.judge(history(znodes=znodes))
        assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    text = controller_epoch_never_falls.judge(history(znodes=in_epoch)).violations[0].observed
    assert text == "/controller_epoch fell from 7 to 2 2 ms after the run began"


def test_an_epoch_that_a_test_put_there_is_none() -> None:
    """What /controller holds from the first tampering on is not a claim of KRaft's."""
    znodes = [*_take_over(1, 3000, 7, 4, 10), *_take_over(20, 3000, 8, 1000, 11), *_take_over(30, 3001, 9, 5, 12)]
    events = fault(15, "tamper(/controller)")
    assert controller_epoch_never_falls.judge(history(events=events, znodes=znodes)).outcome is Outcome.CONFORMS
    assert controller_epoch_never_falls.judge(history(znodes=znodes)).outcome is Outcome.VIOLATES


def test_a_revert_begins_epochs_of_the_metadata_log_anew() -> None:
    """KRaft's epochs restart with a new log; /controller_epoch does not, unless it was deleted for the revert."""
    before, after = _take_over(1, 3000, 5, 1, 10), _take_over(20, 3001, 6, 1, 30)
    revert = event(EventKind.STEP_ENDED, 9, step="deprovision-controllers", outcome="done")
    reverted = history(events=[revert], znodes=[*before, *after])
    assert controller_epoch_never_falls.judge(reverted).outcome is Outcome.CONFORMS
    assert one_active_controller_per_epoch.judge(reverted).outcome is Outcome.CONFORMS
    assert one_active_controller_per_epoch.judge(history(znodes=[*before, *after])).outcome is Outcome.VIOLATES
    reset = [znode(12, CONTROLLER_EPOCH, "1", 29), *_take_over(20, 3001, 5, 1, 30)]
    kept = history(events=[revert], znodes=[*before, *reset])
    assert controller_epoch_never_falls.judge(kept).outcome is Outcome.VIOLATES
    deletion = znode(10, CONTROLLER_EPOCH, None)
    deleted = history(events=[revert], znodes=[*before, deletion, *reset])
    assert controller_epoch_never_falls.judge(deleted).outcome is Outcome.CONFORMS
    assert one_active_controller_per_epoch.judge(deleted).outcome is Outcome.CONFORMS
    without_revert = history(znodes=[*before, deletion, *reset])
    assert controller_epoch_never_falls.judge(without_revert).outcome is Outcome.VIOLATES


@pytest.mark.parametrize("version", [0, 3])
def test_an_epoch_that_was_deleted_between_two_looks_begins_anew(version: int) -> None:
    """A broker creates the znode before the watcher looks: that its version did not rise shows the deletion."""
    revert = event(EventKind.STEP_ENDED, 9, step="deprovision-controllers", outcome="done")
    before = znode(1, CONTROLLER_EPOCH, "3", 10, version=3)
    anew = [znode(10, CONTROLLER_EPOCH, "0", 20, version=version), znode(11, CONTROLLER_EPOCH, "1", 21, version=4)]
    assert (
        controller_epoch_never_falls.judge(history(events=[revert], znodes=[before, *anew])).outcome is Outcome.CONFORMS
    )
    assert controller_epoch_never_falls.judge(history(znodes=[before, *anew])).count == 2
    written = [znode(10, CONTROLLER_EPOCH, "0", 20, version=4)]
    assert controller_epoch_never_falls.judge(history(events=[revert], znodes=[before, *written])).count == 1


def _alone(at_ms: int, controller: int, mzxid: int) -> ZnodeChange:
    held = json.dumps({"version": 2, "brokerid": controller, "timestamp": "1", "kraftControllerEpoch": -1})
    return znode(at_ms, "/controller", held, mzxid)


def _zookeeper(at_ms: int, kind: EventKind) -> Event:
    started = {"role": "zookeeper"} if kind is EventKind.NODE_STARTED else {}
    return event(kind, at_ms, "zookeeper-1", **started)


END = event(EventKind.CHECKS, 100_000)
FIRST = _take_over(1_000, 0, 1, -1, 10)


def test_who_takes_the_controller_znode_alone_violates() -> None:
    """Violating: two more brokers were active in the epoch of the first; each is reported with how long that stood."""
    gone = znode(20_000, "/controller", None)
    znodes = [*FIRST, gone, _alone(20_001, 1, 30), _alone(40_000, 2, 40), _alone(41_000, 2, 40)]
    verdict = one_active_controller_per_epoch.judge(history(events=[END], znodes=znodes))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 2)
    reported = "controller 1 took /controller 20.0 s after the run began, and /controller_epoch stayed 1 for 80.0 s"
    assert verdict.violations[0].observed == reported
    assert verdict.summary == f"2 controllers without an epoch of its own; {reported}"


def test_a_second_controller_of_an_epoch_and_one_without_are_both_told() -> None:
    """Violating twice over: the summary counts each in words of its own."""
    znodes = [*FIRST, *_take_over(2_000, 3000, 1, 1, 20), _alone(30_000, 1, 30)]
    verdict = one_active_controller_per_epoch.judge(history(events=[END], znodes=znodes))
    assert verdict.count == 2
    assert verdict.summary.startswith("1 epoch with a second active controller; 1 controller without an epoch")


@pytest.mark.parametrize(
    ("more", "events"),
    [
        ([], [event(EventKind.CHECKS, 29_000)]),
        ([znode(21_000, CONTROLLER_EPOCH, "3", 40)], [END]),
        ([znode(21_000, CONTROLLER_EPOCH, None)], [END]),
        ([znode(90_000, CONTROLLER_EPOCH, "2", 30)], [END]),
        ([], [_zookeeper(0, EventKind.NODE_STARTED), _zookeeper(22_000, EventKind.NODE_PAUSED), END]),
        (
            [],
            [
                *(_zookeeper(0, EventKind.NODE_STARTED), _zookeeper(19_000, EventKind.NODE_STOPPED)),
                *(_zookeeper(60_000, EventKind.NODE_STARTED), END),
            ],
        ),
        ([], [*fault(15_000, "tamper(/controller)"), END]),
        ([], [*fault(15_000, "tamper(/controller_epoch)"), END]),
    ],
    ids=[
        *("the run ended", "overtaken", "deleted for a rollback", "seen late", "ZooKeeper paused", "ZooKeeper away"),
        *("tampered with", "epoch tampered with"),
    ],
)
def test_a_claim_whose_epoch_was_missed_proves_nothing(more: list[ZnodeChange], events: list[Event]) -> None:
    """The watch of the epoch saw something else, was blind, or had not been there for long enough."""
    znodes = [*FIRST, _alone(20_000, 1, 30), *more]
    assert one_active_controller_per_epoch.judge(history(events=events, znodes=znodes)).outcome is Outcome.CONFORMS


def test_a_claim_without_any_epoch_proves_nothing() -> None:
    """Whoever goes back deletes both znodes, and a tampered epoch is no number: it is not known what stood there."""
    for epoch in (znode(10_000, CONTROLLER_EPOCH, None), znode(10_000, CONTROLLER_EPOCH, "many", 20)):
        run = history(events=[END], znodes=[*FIRST, epoch, _alone(20_000, 1, 30)])
        assert one_active_controller_per_epoch.judge(run).outcome is Outcome.CONFORMS


def test_a_claim_is_judged_though_zookeeper_was_away_before() -> None:
    """Violating: the server had come back, and the watch with it."""
    away = [_zookeeper(0, EventKind.NODE_STARTED), _zookeeper(5_000, EventKind.NODE_PAUSED)]
    events = [*away, _zookeeper(8_000, EventKind.NODE_RESUMED), _zookeeper(50_000, EventKind.NODE_STOPPED), END]
    znodes = [*FIRST, _alone(20_000, 1, 30)]
    assert one_active_controller_per_epoch.judge(history(events=events, znodes=znodes)).count == 1


def test_where_there_are_no_znodes_the_quorum_tells() -> None:
    """Conforming: one leader in each epoch; what was read while the epoch changed belongs to neither."""
    first = reported("controller-3000", (4, LEADER), (4, LEADER), (4, LEADER), (5, LEADER), (5, FOLLOWER))
    second = reported("controller-3001", (4, FOLLOWER), (4, FOLLOWER), (5, FOLLOWER), (5, LEADER), (5, LEADER))
    verdict = one_active_controller_per_epoch.judge(history(events=QUORUM, samples=[*first, *second]))
    assert (verdict.outcome, verdict.summary) == (Outcome.CONFORMS, "2 epochs seen, each with one active controller")


def test_two_leaders_of_the_quorum_in_one_epoch_violate() -> None:
    """Violating: both say that they lead, and neither's epoch changed around that."""
    verdict = one_active_controller_per_epoch.judge(history(events=QUORUM, samples=two_leaders()))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    assert verdict.violations[0].expected == "epoch 5 (epochs of the quorum, life 1) has one active controller"


def test_a_leader_of_the_quorum_that_another_one_calls_itself_in_the_znode_violates() -> None:
    """Violating: /controller names a controller for the epoch in which another one led the quorum."""
    znodes = _take_over(1, 3001, 5, 7, 10)
    samples = reported("controller-3000", *[(7, LEADER)] * 3)
    assert one_active_controller_per_epoch.judge(history(events=QUORUM, znodes=znodes, samples=samples)).count == 1


def test_a_quorum_of_a_new_life_begins_its_epochs_again() -> None:
    """Conforming: after a revert another controller leads in an epoch that the former quorum had, too."""
    gone = event(EventKind.STEP_ENDED, 5000, step="deprovision-controllers", outcome="done")
    again = [event(EventKind.NODE_STARTED, 6000, "controller-3001", role="controller")]
    samples = [
        *reported("controller-3000", *[(1, LEADER)] * 3),
        *reported("controller-3001", *[(1, LEADER)] * 3, from_ms=7000),
    ]
    verdict = one_active_controller_per_epoch.judge(history(events=[*QUORUM, gone, *again], samples=samples))
    assert verdict.outcome is Outcome.CONFORMS


def test_a_controller_that_tells_no_state_proves_nothing() -> None:
    """Inconclusive: an epoch alone names no node, and two looks at it do not frame a third."""
    samples = [
        sample(0, "controller-3000", RaftCurrentEpoch=1),
        *reported("controller-3001", (1, LEADER), (1, LEADER)),
    ]
    assert (
        one_active_controller_per_epoch.judge(history(events=QUORUM, samples=samples)).outcome is Outcome.INCONCLUSIVE
    )


def test_of_a_quorum_alone_znodes_are_not_looked_at() -> None:
    """One leader an epoch conforms whatever /controller names; two violate, and none that was seen says nothing."""
    znodes = _take_over(1, 3001, 5, 7, 10)
    samples = reported("controller-3000", *[(7, LEADER)] * 3)
    one = one_quorum_leader_per_epoch.judge(history(events=QUORUM, znodes=znodes, samples=samples))
    assert (one.outcome, one.summary) == (Outcome.CONFORMS, "1 epoch seen, each with one leader")
    two = one_quorum_leader_per_epoch.judge(history(events=QUORUM, samples=two_leaders()))
    assert (two.outcome, two.count) == (Outcome.VIOLATES, 1)
    none = one_quorum_leader_per_epoch.judge(history(events=QUORUM, znodes=znodes))
    assert none.outcome is Outcome.INCONCLUSIVE
