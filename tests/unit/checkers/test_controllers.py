"""Checks of the controllers: who was active, and epochs."""

import json

import pytest

from pytest_kmigrate.checkers.claims import CONTROLLER_EPOCH
from pytest_kmigrate.checkers.controllers import (
    controller_epoch_never_falls,
    one_active_controller_per_epoch,
)
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, fault, history, phase, znode


def _take_over(at_ms: int, controller: int, epoch: int, kraft_epoch: int, mzxid: int) -> list[ZnodeChange]:
    held = json.dumps({"version": 2, "brokerid": controller, "timestamp": "1", "kraftControllerEpoch": kraft_epoch})
    return [znode(at_ms, "/controller", held, mzxid), znode(at_ms + 1, CONTROLLER_EPOCH, str(epoch), mzxid)]


def test_one_controller_at_a_time_conforms() -> None:
    """Conforming: each epoch has one controller, and epochs rise; seeing the same claim again changes nothing."""
    znodes = [*_take_over(1, 0, 1, -1, 10), *_take_over(2, 3000, 2, 1, 11), *_take_over(9, 3001, 3, 2, 12)]
    one = one_active_controller_per_epoch(history(znodes=[*znodes, *_take_over(11, 3001, 3, 2, 12)]))
    assert (one.outcome, one.summary) == (Outcome.CONFORMS, "5 epochs seen, each with one active controller")
    assert controller_epoch_never_falls(history(znodes=znodes)).outcome is Outcome.CONFORMS


def test_two_controllers_in_one_epoch_violate() -> None:
    """Violating: two transactions made another controller that of one epoch; the message says which and when."""
    events = [phase(0, "HYBRID"), *fault(200, "isolate(active-controller)")]
    znodes = [*_take_over(100, 3000, 4, 1, 10), *_take_over(1400, 3001, 4, 2, 11)]
    verdict = one_active_controller_per_epoch(history(events=events, znodes=znodes))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    assert verdict.violations[0].observed == (
        "epoch 4 had controller 3000 (100 ms after the run began, in HYBRID) and controller 3001 "
        "(1.2 s after isolate(active-controller) began, in HYBRID)"
    )
    assert verdict.violations[0].evidence[0] == "znode /controller version -1"


def test_two_claims_with_one_epoch_of_kraft_violate() -> None:
    """Violating: /controller itself names two controllers with the same epoch of the quorum."""
    znodes = [*_take_over(1, 3000, 5, 7, 10), *_take_over(5, 3001, 6, 7, 11)]
    assert one_active_controller_per_epoch(history(znodes=znodes)).count == 1


def test_a_torn_reading_of_the_two_znodes_is_no_second_controller() -> None:
    """The watcher reads the znodes one by one; only what one transaction wrote is taken together."""
    old, new = _take_over(1, 3000, 5, 1, 10), _take_over(5, 3001, 6, 2, 11)
    torn = [*old, new[1], old[0], new[0]]
    assert one_active_controller_per_epoch(history(znodes=torn)).outcome is Outcome.CONFORMS


def test_no_sighting_is_inconclusive() -> None:
    """Inconclusive: no controller and no epoch was ever seen, or only that there was none."""
    nothing = history(znodes=[znode(1, "/controller", None), znode(1, "/x", "{}")])
    assert one_active_controller_per_epoch(nothing).outcome is Outcome.INCONCLUSIVE
    assert controller_epoch_never_falls(nothing).outcome is Outcome.INCONCLUSIVE


def test_unreadable_znodes_are_passed_over() -> None:
    """A tampered znode that holds no JSON, or no object, claims nothing."""
    znodes = [znode(1, "/controller", "{"), znode(2, "/controller", "[]"), znode(3, CONTROLLER_EPOCH, "many")]
    assert controller_epoch_never_falls(history(znodes=znodes)).outcome is Outcome.INCONCLUSIVE


def test_a_falling_epoch_violates() -> None:
    """Violating: in the znode, and in KRaft's own epoch within /controller."""
    in_epoch = [znode(1, CONTROLLER_EPOCH, "7"), znode(2, CONTROLLER_EPOCH, "2")]
    in_claim = [*_take_over(1, 3000, 7, 4, 10), *_take_over(2, 3001, 8, 3, 11)]
    for znodes in (in_epoch, in_claim):
        verdict = controller_epoch_never_falls(history(znodes=znodes))
        assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    text = controller_epoch_never_falls(history(znodes=in_epoch)).violations[0].observed
    assert text == "/controller_epoch fell from 7 to 2 2 ms after the run began"


def test_a_revert_begins_epochs_of_the_metadata_log_anew() -> None:
    """KRaft's epochs restart with a new log; /controller_epoch does not, unless it was deleted for the revert."""
    before, after = _take_over(1, 3000, 5, 1, 10), _take_over(20, 3001, 6, 1, 30)
    revert = event(EventKind.STEP_ENDED, 9, step="deprovision-controllers", outcome="done")
    reverted = history(events=[revert], znodes=[*before, *after])
    assert controller_epoch_never_falls(reverted).outcome is Outcome.CONFORMS
    assert one_active_controller_per_epoch(reverted).outcome is Outcome.CONFORMS
    assert one_active_controller_per_epoch(history(znodes=[*before, *after])).outcome is Outcome.VIOLATES
    reset = [znode(12, CONTROLLER_EPOCH, "1", 29), *_take_over(20, 3001, 5, 1, 30)]
    kept = history(events=[revert], znodes=[*before, *reset])
    assert controller_epoch_never_falls(kept).outcome is Outcome.VIOLATES
    deletion = znode(10, CONTROLLER_EPOCH, None)
    deleted = history(events=[revert], znodes=[*before, deletion, *reset])
    assert controller_epoch_never_falls(deleted).outcome is Outcome.CONFORMS
    assert one_active_controller_per_epoch(deleted).outcome is Outcome.CONFORMS
    without_revert = history(znodes=[*before, deletion, *reset])
    assert controller_epoch_never_falls(without_revert).outcome is Outcome.VIOLATES


@pytest.mark.parametrize("version", [0, 3])
def test_an_epoch_that_was_deleted_between_two_looks_begins_anew(version: int) -> None:
    """A broker creates the znode before the watcher looks: that its version did not rise tells of the deletion."""
    revert = event(EventKind.STEP_ENDED, 9, step="deprovision-controllers", outcome="done")
    before = znode(1, CONTROLLER_EPOCH, "3", 10, version=3)
    anew = [znode(10, CONTROLLER_EPOCH, "0", 20, version=version), znode(11, CONTROLLER_EPOCH, "1", 21, version=4)]
    assert controller_epoch_never_falls(history(events=[revert], znodes=[before, *anew])).outcome is Outcome.CONFORMS
    assert controller_epoch_never_falls(history(znodes=[before, *anew])).count == 2
    written = [znode(10, CONTROLLER_EPOCH, "0", 20, version=4)]
    assert controller_epoch_never_falls(history(events=[revert], znodes=[before, *written])).count == 1
