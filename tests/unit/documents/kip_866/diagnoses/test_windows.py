"""Facts about the times in which known bugs are at work."""

import json
from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.diagnoses.windows import are_within, unwritten
from pytest_kmigrate.model.document import Window
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import ZnodeChange
from pytest_kmigrate.probes.metadata_replay import image_from_records
from tests.unit.checkers.histories import MS, change, event, history, znode


def written(at_ms: int) -> ZnodeChange:
    """A controller writes ``/migration``."""
    return znode(at_ms, "/migration", json.dumps({"kraft_metadata_offset": at_ms, "kraft_controller_id": 3000}))


LAST = [written(10_000), *(written(at_ms) for at_ms in range(40_000, 60_001, 1_000))]
CUT = event(EventKind.FAULT_APPLIED, 30_000, fault_id="cut", targets=["zookeeper-1"])
HEALED = event(EventKind.FAULT_HEALED, 35_000, fault_id="cut")


@pytest.mark.parametrize(
    ("at_ms", "faults", "is_unwritten"),
    [
        (2_000, [], False),
        (20_000, [], True),
        (39_000, [], False),
        (50_000, [], False),
        (57_000, [], True),
        (90_000, [], True),
        (38_000, [], False),
        (38_000, [CUT, HEALED], False),
        (50_000, [CUT, HEALED], False),
    ],
    ids=[
        "before the first write",
        "long before the next write",
        "shortly before a write",
        "while writes go on",
        "shortly before the last write",
        "after the last write",
        "just before the first of many",
        "the same after a fault",
        "many writes were seen after the fault",
    ],
)
def test_what_no_write_follows_soon_is_not_written(at_ms: int, faults: list[Event], *, is_unwritten: bool) -> None:
    """By ``/migration``, which every change is followed by."""
    windows = unwritten(history(events=faults, znodes=LAST))
    assert any(each.from_ns <= at_ms * MS <= each.to_ns for each in windows) is is_unwritten


@pytest.mark.parametrize(("step", "is_unwritten"), [(0, True), (1, False)], ids=["left as it was", "raised"])
def test_a_write_that_leaves_the_offset_ends_nothing(step: int, *, is_unwritten: bool) -> None:
    """Each batch of a full sync that fails and begins again makes one; a raise follows what ZooKeeper has."""
    held = [{"kraft_metadata_offset": 10_000 + step * each, "kraft_controller_id": 3001} for each in range(11)]
    batches = [znode(20_000 + 1_000 * at, "/migration", json.dumps(each)) for at, each in enumerate(held, start=1)]
    windows = unwritten(history(znodes=[written(10_000), *batches, written(60_000)]))
    assert any(each.from_ns <= 22_000 * MS <= each.to_ns for each in windows) is is_unwritten


def test_a_run_in_which_nothing_was_written_has_no_such_time() -> None:
    """Nobody knows what was there then."""
    assert unwritten(history()) == []


def test_what_was_changed_out_of_time_is_not_within() -> None:
    """The last change that was not refused counts; of what no client changed nothing is known."""
    events = [
        change(1_000, "create-topic", "early"),
        change(5_000, "create-topic", "late"),
        change(6_000, "create-topic", "early", outcome="failed"),
    ]
    windows = [Window(4_000 * MS, 7_000 * MS)]
    run = history(events=events)
    assert are_within(run, ["late", "unheard-of"], windows)
    assert not are_within(run, ["late", "early"], windows)


@pytest.mark.parametrize(("faults", "is_unwritten"), [([], False), ([CUT, HEALED], True)])
def test_a_last_write_that_was_seen_after_a_fault_may_be_older(faults: list[Event], *, is_unwritten: bool) -> None:
    """A watcher loses ZooKeeper, too."""
    (window,) = unwritten(history(events=faults, znodes=[written(45_000)]))
    assert (window.from_ns <= 27_000 * MS) is is_unwritten


RECORD = {"offset": 20_000, "type": "CONFIG_RECORD", "version": 0}
CONFIG = {"resourceType": 4, "resourceName": "1", "name": "a", "value": "1"}
EARLY = change(3_000, "alter-config", "broker:1", wanted={"a": "1"})
TAKEN = znode(1_000, "/controller", json.dumps({"brokerid": 3000, "kraftControllerEpoch": 1}))


@pytest.mark.parametrize(
    ("offset", "events", "znodes", "is_unwritten"),
    [
        (10_001, [EARLY], [TAKEN, written(10_000)], True),
        (10_000, [EARLY], [TAKEN, written(10_000)], False),
        (10_001, [EARLY], [TAKEN, written(10_000), written(12_000)], False),
        (
            10_001,
            [EARLY, change(4_000, "alter-config", "broker:1", wanted={"b": "1"})],
            [TAKEN, written(10_000)],
            False,
        ),
        (10_001, [EARLY], [written(10_000)], False),
        (10_001, [EARLY], [replace(TAKEN, at_ns=3_500 * MS), written(10_000)], False),
        (10_001, [replace(EARLY, data={**EARLY.data, "subject": "broker:2"})], [TAKEN, written(10_000)], False),
        (10_001, [EARLY, event(EventKind.NODE_WIPED, 4_000, "controller-3000")], [TAKEN, written(10_000)], False),
        (None, [EARLY], [TAKEN, written(10_000)], False),
    ],
    ids=[
        *("behind", "at the position", "before a later position", "not the last change there", "no take-over"),
        *("before the take-over", "another place", "another log", "no records"),
    ],
)
def test_a_change_whose_record_no_position_came_up_to_is_not_written(
    offset: int | None, events: list[Event], znodes: list[ZnodeChange], *, is_unwritten: bool
) -> None:
    """However long before the last position it was acknowledged: a controller may be far behind."""
    records = [] if offset is None else [{**RECORD, "offset": offset, "data": CONFIG}]
    image = replace(image_from_records(records), read_from=records)
    nodes = [event(EventKind.NODE_STARTED, 0, "controller-3000", role="controller")]
    windows = unwritten(history(events=[*nodes, *events], znodes=znodes, images={"log": image}))
    assert any(each.from_ns <= EARLY.at_ns <= each.to_ns for each in windows) is is_unwritten


SECOND = change(4_000, "alter-config", "broker:1", wanted={"a": "2"}, outcome="indefinite")
LONG = change(4_000, "alter-config", "broker:1", wanted={"b": "2"}, began_ns=2_500 * MS)
SHORT = change(4_000, "alter-config", "broker:1", wanted={"b": "2"}, began_ns=3_500 * MS)


@pytest.mark.parametrize(
    ("events", "at_ms", "is_unwritten"),
    [
        ([EARLY, SECOND], 3_000, False),
        ([replace(SECOND, at_ns=2_000 * MS), EARLY], 3_000, False),
        ([EARLY, replace(SECOND, data={**SECOND.data, "wanted": {"b": "2"}})], 3_000, False),
        ([EARLY, replace(SECOND, data={**SECOND.data, "subject": "broker:2"})], 3_000, True),
        ([EARLY, replace(SECOND, data={**SECOND.data, "outcome": "failed"})], 3_000, True),
        ([EARLY, LONG], 4_000, False),
        ([EARLY, SHORT], 4_000, True),
    ],
    ids=["later", "earlier", "another value", "another place", "refused", "at the same time", "one after the other"],
)
def test_a_last_record_that_may_be_of_another_change_says_nothing(
    events: list[Event], at_ms: int, *, is_unwritten: bool
) -> None:
    """One without an answer may have the record behind the positions, while that of the acknowledged one is written."""
    records = [{**RECORD, "offset": offset, "data": CONFIG} for offset in (9_000, 10_001)]
    image = replace(image_from_records(records), read_from=records)
    znodes = [TAKEN, written(10_000)]
    windows = unwritten(history(events=events, znodes=znodes, images={"log": image}))
    assert any(each.from_ns <= at_ms * MS <= each.to_ns for each in windows) is is_unwritten
