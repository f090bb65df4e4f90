"""Check of /controller and /migration: schema, who writes, and how far ZooKeeper has caught up."""

import json
from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.checks.znodes.controller_znodes import controller_znodes_tell_who_and_how_far
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import About, Kind, Outcome
from pytest_kmigrate.probes.metadata_replay import image_from_records
from tests.unit.checkers.histories import event, fault, history, phase, snapshot, znode
from tests.unit.probes.real_data import records

STARTED = [event(EventKind.NODE_STARTED, 0, f"controller-{number}", role="controller") for number in (3000, 3001)]
COPIED_AT = 54
"""Where the real log that the tests look at records the end of the copy."""


def claim(mzxid: int, controller: int = 3000, epoch: int = 2, **changed: Any) -> ZnodeChange:
    """Somebody took /controller, at the time of its ZooKeeper transaction."""
    held = {"version": 2, "brokerid": controller, "timestamp": "1795259404410", "kraftControllerEpoch": epoch}
    return znode(mzxid, "/controller", json.dumps({**held, **changed}), mzxid, version=0)


def place(
    mzxid: int, offset: int, epoch: int = 2, controller: int = 3000, controller_epoch: int = 2, **changed: Any
) -> ZnodeChange:
    """A KRaft controller wrote to /migration."""
    held = {
        "version": 0,
        "kraft_metadata_offset": offset,
        "kraft_controller_id": controller,
        "kraft_metadata_epoch": epoch,
        "kraft_controller_epoch": controller_epoch,
    }
    return znode(mzxid, "/migration", json.dumps({**held, **changed}), mzxid, version=mzxid - 10)


def gone(at_ms: int) -> ZnodeChange:
    """/migration is not there."""
    return znode(at_ms, "/migration", None)


OF_BROKER = claim(9, 2, -1)
CREATED = place(10, -1, -1, -1, -1)
WAY = [
    gone(1),
    OF_BROKER,
    CREATED,
    claim(20),
    place(21, -1, -1),
    place(22, 55),
    place(23, 60),
    claim(30, 3001, 4),
    place(31, 60, 2, 3001, 4),
    place(32, 70, 4, 3001, 4),
]
"""A migration on 3.9.1: the znode is created, one controller copies and goes on, another one takes over."""


def seen(*znodes: ZnodeChange, events: list[Event] | None = None) -> History:
    """A run that shows these, and the log with the copy."""
    image = image_from_records(records("3.9.1"))
    taken = [*STARTED, snapshot(1_000, "copied-log"), *(events or [])]
    return history(events=taken, znodes=znodes, images={"copied-log": image})


def test_a_whole_migration_conforms() -> None:
    """Conforming: created empty, claimed, a place from the copy on, a successor that begins at the last place."""
    verdict = controller_znodes_tell_who_and_how_far.judge(seen(*WAY))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary.startswith("2 controllers took /controller, 6 contents of /migration")


@pytest.mark.parametrize(
    "wrong",
    [
        place(33, 71, 4, 3001, 4, version=1),
        place(33, 71, 4, 3001, 4, version="0"),
        place(33, 71, 4, 3001, 4, kraft_metadata_offset="71"),
        place(33, 71, 4, 3001, 4, kraft_controller_id=None),
        place(33, 71, 4, 3001, 4, kraft_metadata_epoch=True),
        znode(33, "/migration", "[]"),
        znode(33, "/migration", "{"),
        claim(33, 3000, 5, version=1),
        claim(33, 3000, 5, kraftControllerEpoch="5"),
        claim(33, 3000, 5, timestamp="yesterday"),
    ],
)
def test_another_schema_violates(wrong: ZnodeChange) -> None:
    """Violating: another version, a number that is none, no JSON object; reported with the content."""
    verdict = controller_znodes_tell_who_and_how_far.judge(seen(*WAY, wrong))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    (reported,) = verdict.violations
    assert reported.expected == f"{wrong.path} has its schema"
    assert f"it held {wrong.data}" in reported.observed
    assert reported.evidence[0] == f"znode {wrong.path} version {wrong.version}"


def test_what_a_znode_held_before_any_controller_started_is_a_circumstance() -> None:
    """Conforming: a tool left ``/migration`` without data; vacuous where no controller of KRaft ever started."""
    left = znode(5, "/migration", "")
    late = [replace(each, at_ns=10_000_000) for each in STARTED]
    image = {"copied-log": image_from_records(records("3.9.1"))}
    znodes = [gone(1), OF_BROKER, left, *WAY[3:]]
    begun = history(events=[*late, snapshot(1_000, "copied-log")], znodes=znodes, images=image)
    assert controller_znodes_tell_who_and_how_far.judge(begun).outcome is Outcome.CONFORMS
    broker = event(EventKind.NODE_STARTED, 0, "broker-0", role="broker")
    alone = controller_znodes_tell_who_and_how_far.judge(history(events=[broker], znodes=[gone(1), left]))
    assert (alone.outcome, alone.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    again = controller_znodes_tell_who_and_how_far.judge(seen(*WAY, znode(33, "/migration", "")))
    assert again.outcome is Outcome.VIOLATES


def test_the_time_may_be_a_number_or_a_text() -> None:
    """The document shows a number and Kafka writes a text, which is known."""
    verdict = controller_znodes_tell_who_and_how_far.judge(seen(*WAY, claim(33, 3000, 5, timestamp=1795259404410)))
    assert verdict.outcome is Outcome.CONFORMS


@pytest.mark.parametrize("wrong", [claim(33, 3000, 5), place(33, 71, 4, 3001, 4)], ids=["controller", "migration"])
def test_an_ephemeral_znode_violates(wrong: ZnodeChange) -> None:
    """Violating: it would go with its writer's session, and ZooKeeper brokers would elect one of theirs."""
    verdict = controller_znodes_tell_who_and_how_far.judge(seen(*WAY, replace(wrong, is_ephemeral=True)))
    assert (verdict.outcome, verdict.count) == (Outcome.VIOLATES, 1)
    assert verdict.violations[0].expected == f"{wrong.path} outlives who wrote it"
    persistent = seen(replace(OF_BROKER, is_ephemeral=True), *WAY[2:], replace(wrong, is_ephemeral=False))
    assert controller_znodes_tell_who_and_how_far.judge(persistent).outcome is Outcome.CONFORMS


def test_what_a_zookeeper_controller_writes_is_not_judged() -> None:
    """A broker of an old release has another version of /controller, and no epoch of KRaft."""
    old = znode(15, "/controller", json.dumps({"version": 1, "brokerid": 1, "timestamp": "1"}))
    assert controller_znodes_tell_who_and_how_far.judge(seen(*WAY[:3], old, *WAY[3:])).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    ("wrong", "observed"),
    [
        (place(33, 71, 4, 3000, 4), "names controller 3000 in epoch 4, which is 3001's"),
        (place(33, 71, 2), "3000 wrote in epoch 2 after 3001 had taken /controller in epoch 4"),
        (place(33, -1, -1, -1, -1), "-1 wrote in epoch -1 after 3000 had taken /controller in epoch 2"),
        (place(33, 71, 5, 3001, 4), "it holds offset 71 of epoch 5"),
        (place(33, -1, 4, 3001, 4), "it holds offset -1 of epoch 4"),
    ],
    ids=["not its epoch", "a former controller", "reset", "an epoch to come", "an epoch without an offset"],
)
def test_somebody_not_in_office_or_an_impossible_place_violates(wrong: ZnodeChange, observed: str) -> None:
    """Violating: who writes must hold /controller, and none can be further than his own epoch."""
    verdict = controller_znodes_tell_who_and_how_far.judge(seen(*WAY, wrong))
    assert verdict.outcome is Outcome.VIOLATES
    assert observed in [each.observed.partition(" (")[0] for each in verdict.violations]


def test_zookeeper_says_what_was_first_and_not_the_watch() -> None:
    """The watches of two znodes come in any order, and may miss a claim: neither makes anybody a former controller."""
    late = [*WAY[:6], *WAY[7:], replace(WAY[6], at_ns=WAY[9].at_ns)]
    missed = [each for each in WAY if each is not WAY[7]]
    assert controller_znodes_tell_who_and_how_far.judge(seen(*late)).outcome is Outcome.CONFORMS
    assert controller_znodes_tell_who_and_how_far.judge(seen(*missed)).outcome is Outcome.CONFORMS


def test_a_place_before_the_copy_violates() -> None:
    """Violating: the znode is created with a place, or holds one that is before the end of the copy in the log."""
    pretended = controller_znodes_tell_who_and_how_far.judge(seen(place(10, 3, 1, -1, 1)))
    assert "/migration is created without a place in the log" in [each.expected for each in pretended.violations]
    early = controller_znodes_tell_who_and_how_far.judge(seen(*WAY[:5], place(22, COPIED_AT - 1), *WAY[6:]))
    assert early.count == 1
    assert early.violations[0].observed.startswith("it holds offset 53 of epoch 2, and the copy ended at offset 54")


def test_a_znode_of_a_former_migration_holds_its_place() -> None:
    """Who left /migration when reverting finds it as it was, with a place of another log: reported elsewhere."""
    forgotten = place(11, 3, 5, controller_epoch=1)
    assert controller_znodes_tell_who_and_how_far.judge(seen(forgotten)).outcome is Outcome.CONFORMS


def test_a_znode_that_vanishes_violates() -> None:
    """Violating: /migration is deleted while KRaft is in charge, and before the end."""
    verdict = controller_znodes_tell_who_and_how_far.judge(seen(*WAY, gone(40), events=[phase(5, "HYBRID")]))
    assert (verdict.outcome, verdict.count) == (Outcome.VIOLATES, 1)
    assert verdict.violations[0].observed.startswith("it was gone while controller 3001 held /controller")


@pytest.mark.parametrize(
    "events",
    [[phase(35, "FINALIZED")], [event(EventKind.STEP_ENDED, 35, step="deprovision-controllers", outcome="done")]],
    ids=["finalized", "reverted"],
)
def test_a_znode_may_go_once_nobody_needs_it(events: list[Event]) -> None:
    """After the end, or when the controllers are gone, and a second migration may follow."""
    again = [gone(40), place(50, -1, -1, -1, -1), claim(60, 3001, 2), place(61, 55, 2, 3001, 2)]
    verdict = controller_znodes_tell_who_and_how_far.judge(
        seen(*WAY, *(again if events[0].data.get("step") else again[:1]), events=events)
    )
    assert verdict.outcome is Outcome.CONFORMS


def test_a_znode_that_a_test_tampered_with_is_judged_up_to_then() -> None:
    """What the harness wrote itself is no evidence, and neither is what came of it."""
    ours = znode(34, "/migration", "ours")
    assert controller_znodes_tell_who_and_how_far.judge(seen(*WAY, ours)).outcome is Outcome.VIOLATES
    tampered = seen(*WAY, ours, events=fault(33, "tamper(/migration)"))
    assert controller_znodes_tell_who_and_how_far.judge(tampered).outcome is Outcome.CONFORMS


@pytest.mark.parametrize("znodes", [[], [gone(1), OF_BROKER]], ids=["nothing", "a ZooKeeper controller"])
def test_a_run_without_kraft_shows_nothing(znodes: list[ZnodeChange]) -> None:
    """Vacuous: no KRaft controller wrote anything."""
    verdict = controller_znodes_tell_who_and_how_far.judge(seen(*znodes))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_each_requirement_has_its_own_outcome() -> None:
    """Violating: that of the schema alone; the others hold as they did."""
    (wrong,) = [
        each.requirement for each in _judged(place(33, 71, 4, 3001, 4, version=1)) if each.outcome.name == "VIOLATES"
    ]
    assert wrong == "K866-ZNODE-migration-schema"
    (wrong,) = [each.requirement for each in _judged(claim(33, 3000, 5, version=1)) if each.outcome.name == "VIOLATES"]
    assert wrong == "K866-ZNODE-controller-schema-v2"


def test_what_a_watch_did_not_tell_is_not_looked_at() -> None:
    """Vacuous: whether a znode is ephemeral; a successor's predecessor that had ended; a place that was never there."""
    seen_of = {each.requirement.removeprefix("K866-ZNODE-"): each.seen for each in _judged()}
    assert seen_of["migration-exists"] == seen_of["controller-persistent"] == 0
    assert seen_of["migration-conditional"] == 1
    ended = event(EventKind.NODE_STOPPED, 25, "controller-3000", how="killed", exit_code=137, took_ms=0, said="")
    about = controller_znodes_tell_who_and_how_far.judge(seen(*WAY, events=[ended])).about
    assert {each.requirement: each.seen for each in about}["K866-ZNODE-migration-conditional"] == 0
    run = seen(*WAY)
    cloned = replace(run, header=replace(run.header, extra={"checkpoint": {"log_offset": 99}}))
    from_a_checkpoint = controller_znodes_tell_who_and_how_far.judge(cloned).about
    assert {each.requirement: each.seen for each in from_a_checkpoint}["K866-ZNODE-migration-conditional"] == 0
    created = controller_znodes_tell_who_and_how_far.judge(seen(CREATED)).about
    assert {each.requirement: each.seen for each in created}["K866-ZNODE-migration-values"] == 0


def _judged(*more: ZnodeChange) -> tuple[About, ...]:
    return controller_znodes_tell_who_and_how_far.judge(seen(*WAY, *more)).about


def test_a_position_that_never_moves_is_none_of_what_was_written_last() -> None:
    """Vacuous for that row alone: the schema is right, and the controller is the one in office."""
    same = [CREATED, claim(20), place(22, 55), place(30, 55)]
    seen_of = {each.requirement: each.seen for each in controller_znodes_tell_who_and_how_far.judge(seen(*same)).about}
    assert seen_of["K866-ZNODE-migration-values"] == 0
    assert seen_of["K866-ZNODE-migration-schema"] > 0
    moved = controller_znodes_tell_who_and_how_far.judge(seen(*same, place(31, 56))).about
    assert {each.requirement: each.seen for each in moved}["K866-ZNODE-migration-values"] == 1
