"""Check of meta.properties."""

from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.checks.nodes.identity import node_identity_stays as check
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from tests.unit.checkers.histories import event, history, phase
from tests.unit.documents.kip_866.checks.nodes import broker, controller, stopped
from tests.unit.documents.kip_866.checks.outcomes import looked_at
from tests.unit.documents.kip_866.diagnoses.naming import named

V0_ROW, V1_ROW = "META-v0-accepted", "META-v1-accepted"
KEPT, AFTER = "META-not-modified", "META-rewrite-after-final"
V0 = {"version": "0", "broker.id": "1", "cluster.id": "x"}
V1 = {"version": "1", "node.id": "1", "cluster.id": "x"}
FINALIZED = phase(30_000, "FINALIZED")


def read(at_ms: int, node: str = "broker-1", **files: dict[str, str]) -> Event:
    """What was read of a node."""
    return event(EventKind.NODE_IDENTITY, at_ms, node, files=files)


def changed(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]], *more: Event) -> History:
    """A broker ran in ZooKeeper mode from 10 s on, and its files were read after 40 s, again."""
    events = [controller(), read(9_000, **before), *broker(10_000), read(40_000, **after)]
    return history(events=[*events, *more])


def test_a_broker_whose_file_stays_conforms() -> None:
    """Conforming: while there are controllers."""
    assert looked_at(check.judge(changed({"disk": V0}, {"disk": V0}))) == {KEPT: "CONFORMS"}


@pytest.mark.parametrize(
    ("after", "observed"),
    [
        ({"disk": V1}, "broker-1: broker.id is gone in disk"),
        ({"disk": {**V0, "cluster.id": "y"}}, "broker-1: cluster.id was x and is y in disk"),
        ({"disk": {**V0, "more": "1"}}, "broker-1: more was added in disk"),
        ({"disk": V0, "other": V0}, "broker-1: the file was created in other"),
        ({}, "broker-1: the file in disk is gone"),
    ],
)
def test_a_file_that_changes_during_the_migration_violates(after: dict[str, dict[str, str]], observed: str) -> None:
    """Violating, and not known."""
    run = changed({"disk": V0}, after)
    verdict = check.judge(run)
    assert looked_at(verdict) == {KEPT: "VIOLATES"}
    assert verdict.violations[0].observed.startswith(observed)
    assert named(run, verdict) == ()


def test_a_directory_id_that_is_added_is_a_known_deviation() -> None:
    """And nothing beside it."""
    run = changed({"disk": V0}, {"disk": {**V0, "directory.id": "d"}})
    assert named(run, check.judge(run)) == ("directory-id-added-to-meta-properties",)
    run = changed({"disk": V0}, {"disk": {**V0, "directory.id": "d", "cluster.id": "y"}})
    assert named(run, check.judge(run)) == ()


@pytest.mark.parametrize(
    ("after", "outcome"), [(V0, "CONFORMS"), (V1, "CONFORMS"), ({**V1, "node.id": "2"}, "VIOLATES")]
)
def test_after_finalization_the_file_may_be_of_version_1_with_the_same_ids(after: dict[str, str], outcome: str) -> None:
    """Conforming and violating."""
    assert looked_at(check.judge(changed({"disk": V0}, {"disk": after}, FINALIZED))) == {AFTER: outcome}


@pytest.mark.parametrize(("files", "row"), [(V0, V0_ROW), (V1, V1_ROW)])
def test_a_kraft_node_that_starts_on_either_version_conforms(files: dict[str, str], row: str) -> None:
    """Conforming: it was ready."""
    run = history(events=[read(1, disk=files), *broker(2, mode="kraft")])
    assert looked_at(check.judge(run)) == {row: "CONFORMS"}


def ended(said: str, held: dict[str, str] = V0) -> History:
    """A broker in KRaft mode died before it was ready."""
    died = event(EventKind.NODE_DIED, 3, "broker-1", exit_code=1, said=said)
    return history(events=[read(1, disk=held), *broker(2, mode="kraft", ready_ms=None), died])


def test_a_kraft_node_that_does_not_accept_the_file_violates() -> None:
    """Violating: by its own words; one that dies of something else proves nothing."""
    for held, row in ((V0, V0_ROW), (V1, V1_ROW)):
        assert looked_at(check.judge(ended("unknown version in meta.properties", held))) == {row: "VIOLATES"}
    assert check.judge(ended("no memory left")).is_vacuous


WIPED: dict[str, Any] = {"kind": EventKind.NODE_WIPED, "at_ms": 20_000, "node": "broker-1"}


@pytest.mark.parametrize(
    "events",
    [
        [controller(), read(9_000, disk=V0), read(40_000, disk=V1)],
        [read(9_000, disk=V0), *broker(10_000), read(40_000, disk=V1)],
        [controller(), read(9_000, disk=V0), *broker(10_000), event(**WIPED), read(40_000, disk=V1)],
        [controller(), *broker(10_000), read(40_000, disk=V0)],
        [controller(), read(9_000, disk=V0), stopped(10_000)],
        [],
    ],
    ids=["not started", "no controllers", "wiped", "read once", "stopped", "nothing"],
)
def test_without_a_broker_that_ran_between_two_readings_nothing_is_proved(events: list[Event]) -> None:
    """Vacuous."""
    assert check.judge(history(events=events)).is_vacuous


@pytest.mark.parametrize(
    ("healed_ms", "read_again", "outcome"),
    [
        (60_000, {"dir-1": V0, "dir-2": V0}, "CONFORMS"),
        (60_000, {"dir-1": V0, "dir-2": {**V0, "cluster.id": "y"}}, "VIOLATES"),
        (60_000, {"dir-1": V0}, "VIOLATES"),
        (30_000, {"dir-1": V0, "dir-2": V0}, "VIOLATES"),
    ],
    ids=["as it was", "changed meanwhile", "gone afterwards, too", "gone without the fault"],
)
def test_a_file_on_a_disk_that_a_fault_took_is_looked_at_when_the_disk_is_back(
    healed_ms: int, read_again: dict[str, dict[str, str]], outcome: str
) -> None:
    """A restart in between finds no file there, which is the fault's effect."""
    name = "fail-log-dir(broker-1, 2)"
    taken = event(EventKind.FAULT_APPLIED, 20_000, fault_id=name, targets=["broker-1"], takes="disk")
    healed = event(EventKind.FAULT_HEALED, healed_ms, fault_id=name, fault=name)
    events = [controller(), read(9_000, **{"dir-1": V0, "dir-2": V0}), *broker(10_000), taken]
    events += [healed, read(40_000, **{"dir-1": V0})] if healed_ms < 40_000 else [read(40_000, **{"dir-1": V0}), healed]
    events += [*broker(61_000), read(90_000, **read_again)]
    assert looked_at(check.judge(history(events=events)))[KEPT] == outcome
