"""Checks of the controllers: one per epoch, and epochs that only rise."""

from collections import Counter
from collections.abc import Iterable, Mapping

from pytest_kmigrate.checkers.controllers.claims import (
    CONTROLLER,
    CONTROLLER_EPOCH,
    Claim,
    Epoch,
    LoneClaim,
    claims,
    epochs,
    lone_claims,
)
from pytest_kmigrate.checkers.controllers.quorum import quorum_claims
from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import when
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates


def _has_znodes(history: History) -> bool:
    """Whether a ZooKeeper was watched."""
    return bool(history.znodes)


def _is_claimed(history: History) -> bool:
    """Whether there are znodes to claim, or a quorum whose leader is known."""
    return _has_znodes(history) or any(quorum_claims(history))


@checker(in_every_run=_is_claimed, anomaly="two controllers in one epoch")
def one_active_controller_per_epoch(history: History) -> Verdict:
    """No epoch has two active controllers.

    Judged in the controller znodes, which are written together: by ``/controller_epoch``, and by KRaft's own epoch
    within each life of the metadata log, for which controllers also report whether they lead the quorum. A
    controller that takes ``/controller`` without raising ``/controller_epoch`` shares the epoch of the one before.
    """
    seen = sorted([*claims(history), *quorum_claims(history)], key=lambda each: each.at_ns)
    alone = [_without_epoch(history, each) for each in lone_claims(history)]
    if not seen and not alone:
        text = "no controller was ever seen to hold the controller znodes, or to lead the quorum in a known epoch"
        return inconclusive(Kind.VACUOUS, text)
    holders = _holders(seen)
    found = _second_holders(history, holders)
    if found or alone:
        second = [f"{counted(len(found), 'epoch')} with a second active controller"] if found else []
        without = [f"{counted(len(alone), 'controller')} without an epoch of its own"] if alone else []
        text = "; ".join([*second, *without, (found + alone)[0].observed])
        return violates(Kind.SAFETY, found + alone, text, epochs=len(holders))
    text = f"{counted(len(holders), 'epoch')} seen, each with one active controller"
    return conforms(text, epochs=len(holders), sightings=len(seen))


@checker(anomaly="two leaders in one epoch")
def one_quorum_leader_per_epoch(history: History) -> Verdict:
    """No epoch of the quorum has two leaders, by what controllers report of themselves; znodes are not looked at.

    A general claim about any quorum, also one that is migrated to.
    """
    seen = sorted(quorum_claims(history), key=lambda each: each.at_ns)
    if not seen:
        return inconclusive(Kind.VACUOUS, "no controller was ever seen to lead the quorum in a known epoch")
    holders = _holders(seen)
    if found := _second_holders(history, holders):
        text = f"{counted(len(found), 'epoch')} with a second leader; {found[0].observed}"
        return violates(Kind.SAFETY, found, text, epochs=len(holders))
    return conforms(f"{counted(len(holders), 'epoch')} seen, each with one leader", epochs=len(holders))


def _holders(seen: Iterable[Claim]) -> dict[tuple[str, int], list[Claim]]:
    """By series and epoch, the first sighting of each controller that was active in it."""
    holders: dict[tuple[str, int], list[Claim]] = {}
    for claim in seen:
        of_epoch = holders.setdefault((claim.series, claim.epoch), [])
        if all(claim.controller != other.controller for other in of_epoch):
            of_epoch.append(claim)
    return holders


def _second_holders(history: History, holders: Mapping[tuple[str, int], list[Claim]]) -> list[Violation]:
    return [_two_holders(history, of[0], other) for of in holders.values() for other in of[1:]]


@checker(in_every_run=_has_znodes, anomaly="falling controller epoch", needs=[Capability.ZNODES])
def controller_epoch_never_falls(history: History) -> Verdict:
    """The controller epoch, in each place that shows it, never goes down; of one that was seen once nothing is said.

    A revert begins a new life of the metadata log, whose epochs start again; ``/controller_epoch`` goes on unless it
    was deleted for the revert.
    """
    seen = epochs(history)
    if not seen:
        return inconclusive(Kind.VACUOUS, "no controller epoch was ever seen")
    highest: dict[str, Epoch] = {}
    found = []
    for each in seen:
        before = highest.get(each.series)
        if before is not None and each.epoch < before.epoch:
            found.append(_fallen(history, before, each))
        if before is None or each.epoch > before.epoch:
            highest[each.series] = each
    if found:
        text = f"the controller epoch fell {counted(len(found), 'time')}; {found[0].observed}"
        return violates(Kind.SAFETY, found, text, sightings=len(seen))
    if all(count < 2 for count in Counter(each.series for each in seen).values()):
        return inconclusive(Kind.VACUOUS, f"no epoch was seen to follow another: {_highest(highest)}")
    return conforms(f"{counted(len(seen), 'sighting')} of epochs, none below one before ({_highest(highest)})")


def _highest(highest: Mapping[str, Epoch]) -> str:
    return "; ".join(f"{series} up to {epoch.epoch}" for series, epoch in sorted(highest.items()))


def _two_holders(history: History, first: Claim, second: Claim) -> Violation:
    expected = f"epoch {first.epoch} ({first.series}) has one active controller"
    observed = (
        f"epoch {first.epoch} had controller {first.controller} ({when(history, first.at_ns)}) "
        f"and controller {second.controller} ({when(history, second.at_ns)})"
    )
    return violation_at(history, expected, observed, second.at_ns, first.evidence, second.evidence)


def _without_epoch(history: History, claim: LoneClaim) -> Violation:
    expected = f"who takes {CONTROLLER} takes {CONTROLLER_EPOCH} with it"
    observed = (
        f"controller {claim.controller} took {CONTROLLER} {when(history, claim.at_ns)}, "
        f"and {CONTROLLER_EPOCH} stayed {claim.epoch} for {span(claim.stayed_ns)}"
    )
    return violation_at(history, expected, observed, claim.at_ns, claim.evidence)


def _fallen(history: History, before: Epoch, after: Epoch) -> Violation:
    expected = f"the epoch ({after.series}) stays at {before.epoch} or above"
    observed = f"{after.series} fell from {before.epoch} to {after.epoch} {when(history, after.at_ns)}"
    return violation_at(history, expected, observed, after.at_ns, before.evidence, after.evidence)
