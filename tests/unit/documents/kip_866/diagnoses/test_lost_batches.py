"""Facts about batches that are lost with a partition without a state, as the records of the metadata log have them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Transaction
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation
from pytest_kmigrate.probes.metadata_replay import image_from_records
from tests.unit.checkers.histories import MS, change
from tests.unit.documents.kip_866.diagnoses.naming import BROKERS, CLAIM, explained_by, named, seen_at_last, started
from tests.unit.documents.kip_866.diagnoses.test_leaderless import (
    AGAIN,
    AT,
    BUG,
    DUAL_WRITE,
    KRAFT,
    LOGGED,
    MADE_UP,
    STARTED_AT,
    UNNUMBERED,
    failed,
    position,
)

Record = dict[str, Any]


def record(offset: int, kind: str, **data: object) -> Record:
    """One record of the metadata log."""
    return {"offset": offset, "type": f"{kind}_RECORD", "version": 0, "data": data}


def made(offset: int, topic: str, epoch: int) -> list[Record]:
    """A topic of one partition."""
    state = {"replicas": [1, 2], "isr": [1, 2], "leader": 1, "leaderEpoch": epoch, "partitionEpoch": 0}
    own = {"topicId": f"id-{topic}"}
    return [
        record(offset, "TOPIC", name=topic, **own),
        record(offset + 1, "PARTITION", partitionId=0, **own, **state),
    ]


def moved(offset: int, topic: str, leader: int = 2) -> Record:
    """The partition of a topic gets another leader."""
    return record(offset, "PARTITION_CHANGE", partitionId=0, topicId=f"id-{topic}", leader=leader, isr=[leader])


def allowed(offset: int) -> Record:
    """An ACL is made."""
    names = {"resourceType": 2, "resourceName": "x", "patternType": 4, "principal": "User:alice", "host": "*"}
    return record(offset, "ACCESS_CONTROL_ENTRY", id=f"acl-{offset}", operation=3, permissionType=3, **names)


COPIED = [*made(50, "late", 0), *made(60, "orders", 4)]
LOST = [moved(105, "late"), moved(106, "orders"), allowed(107), record(112, "NO_OP")]
ACL = "Topic:PREFIXED:x"
ENTRY = "User:alice|*|Read|Allow"


def log_of(records: Sequence[Record]) -> MetadataImage:
    """The image of the metadata log, with its records."""
    return replace(image_from_records(records), read_from=records)


def zookeeper(epoch: int = 4, *, has_acl: bool = False) -> MetadataImage:
    """What ZooKeeper has: no state of late-0, and what the log had of the rest before the batch."""
    before = image_from_records(COPIED)
    nothing = {**before.partitions["late-0"], "leader": None, "isr": None, "leader_epoch": None}
    partitions = {"late-0": nothing, "orders-0": {**before.partitions["orders-0"], "leader_epoch": epoch}}
    return replace(before, source="zookeeper", partitions=partitions, acls={ACL: [ENTRY]} if has_acl else {}, extra={})


ACKNOWLEDGED = change(30_050, "set-acl", ACL, wanted={"binding": ENTRY})


def run_with(
    records: Sequence[Record] = (*COPIED, *LOST),
    held: MetadataImage | None = None,
    logged: Sequence[Transaction] = LOGGED,
    said: str = "",
    *more: Event,
) -> History:
    """A run in which a batch was refused up to offset 112, and whose sides were looked at in the end."""
    images = {"log": log_of(records), "after": held or zookeeper()}
    logs = {"controller-3000": MADE_UP + (said or failed())}
    events = [*started("controller-3000"), *started(*BROKERS, mode="zookeeper"), ACKNOWLEDGED, *more]
    run = seen_at_last(images, *events, znodes=[CLAIM], transactions=logged, logs=logs)
    return replace(run, header=replace(run.header, started_at=STARTED_AT))


def without_records(run: History) -> History:
    """The same run in a folder that has the images alone."""
    return replace(run, images={label: replace(each, read_from=()) for label, each in run.images.items()})


AGAIN_IN_CHARGE = run_with(logged=[*LOGGED, AGAIN], said=failed() + AT + DUAL_WRITE)
UNCAUSED = run_with([*COPIED, *LOST[1:]], replace(zookeeper(), partitions={**image_from_records(COPIED).partitions}))


@pytest.mark.parametrize(
    ("run", "bugs"),
    [
        (run_with(), BUG),
        (run_with([*COPIED, *LOST, moved(120, "orders", 1)]), ()),
        (run_with([*COPIED, *LOST[:2], allowed(113)]), ()),
        (run_with([*COPIED, moved(99, "orders"), LOST[0], *LOST[2:]]), ()),
        (run_with(held=zookeeper(3)), ()),
        (run_with(said=UNNUMBERED), ()),
        (run_with(said=failed(106)), ()),
        (run_with(logged=[each for each in LOGGED if not each.error]), ()),
        (AGAIN_IN_CHARGE, ()),
        (UNCAUSED, ()),
        (without_records(run_with()), ()),
    ],
    ids=[
        *("lost", "changed later, too", "the ACL is of a later batch", "the leader is of an earlier batch"),
        *("an older state", "no offset", "the ACL came after the batch", "nothing was refused"),
        *("another take-over", "nothing of a partition without a state", "no records"),
    ],
)
def test_zookeeper_lacks_what_a_lost_batch_had(run: History, bugs: tuple[str, ...]) -> None:
    """Whatever it is, if ZooKeeper has what the log had before it."""
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == bugs


def test_an_acknowledged_change_is_lost_with_its_batch() -> None:
    """An ACL that was acknowledged is not in ZooKeeper; the log that was taken with its image has the record."""
    run = run_with()
    settled = {"label": "end", "images": ["log", "after"], "took_s": 0.5}
    beside = Event(len(run.events), 60_100 * MS, EventKind.SETTLED, None, settled)
    run = replace(run, events=[*run.events, beside])
    verdict = acknowledged_metadata_changes_present.judge(run, "after")
    assert named(run, verdict) == BUG
    assert explained_by(without_records(run), verdict) == ()
    alone = replace(run, events=run.events[:-1])
    assert explained_by(alone, acknowledged_metadata_changes_present.judge(alone, "after")) == ()


def test_what_brokers_lack_as_well_was_not_lost_with_a_batch() -> None:
    """It is compared with ZooKeeper, and has to hold what the log holds."""
    run = run_with()
    brokers = replace(run.images["log"], source="admin", extra={}, read_from=())
    run = replace(run, images={**run.images, "brokers": brokers})
    verdict = metadata_equivalent.judge(run, "after", "brokers")
    settled = Event(len(run.events), 60_100 * MS, EventKind.SETTLED, None, {"label": "", "images": [*run.images]})
    run = replace(run, events=[*run.events, settled])
    assert named(run, verdict) == BUG
    wrong = replace(brokers, partitions={**brokers.partitions, "orders-0": {"leader": 0, "leader_epoch": 9}})
    worse = replace(run, images={**run.images, "brokers": wrong})
    assert explained_by(worse, metadata_equivalent.judge(worse, "after", "brokers")) == ()


def late(check: str, expected: str, observed: str, at_ms: int = 50_000) -> Verdict:
    """Something did not come in time."""
    found = (Violation(expected, observed, at_ms * MS),)
    return Verdict(check, Outcome.VIOLATES, Kind.LIVENESS, "", found, count=1)


NOT_WRITTEN = tuple(replace(each, writes=each.writes[:1]) if each.zxid == 20 else each for each in LOGGED)
"""The controller was refused before it wrote any state of the batch."""


@pytest.mark.parametrize(("topic", "epochs"), [("orders", (4, 5)), ("late", (0, 1))])
def test_brokers_do_not_know_leaders_that_the_log_alone_has_in_a_lost_batch(
    topic: str, epochs: tuple[int, int]
) -> None:
    """The controller was refused before it wrote their states; one that the copy made up has none ever."""
    observed = (
        f"broker-0 in ZooKeeper mode reports 0 replicas=1,2 isr=1,2 leader=1 leader_epoch={epochs[0]}; "
        f"broker-1 in KRaft mode reports 0 replicas=1,2 isr=2 leader=2 leader_epoch={epochs[1]}, for 10 s"
    )
    verdict = late("clients_are_told_the_same", f"both brokers report the same topic {topic}", observed)
    assert named(run_with(logged=NOT_WRITTEN), verdict) == BUG
    assert named(without_records(run_with(logged=NOT_WRITTEN)), verdict) == ()
    earlier = [*COPIED, moved(99, topic), *(each for each in LOST if each["data"].get("topicId") != f"id-{topic}")]
    assert named(run_with(earlier, logged=NOT_WRITTEN), verdict) == ()
    assert named(run_with(logged=NOT_WRITTEN), replace(verdict, kind=Kind.SAFETY)) == ()


def test_a_leader_in_zookeeper_mode_that_does_not_know_it_takes_no_writes_after_a_stop() -> None:
    """By the record of the lost batch; a leader in KRaft mode reads the log itself."""
    expected = "writes to orders-0 are acknowledged again as soon as broker-1 is stopped"
    verdict = late("brokers_are_rolled_one_by_one", expected, "none was for 23.4 s")
    run = run_with(logged=NOT_WRITTEN)
    assert named(run, verdict) == BUG
    assert named(run, late(verdict.check, expected.replace("orders-0", "others-0"), "none was for 23.4 s")) == ()
    assert named(run, late(verdict.check, expected, "none was for 23.4 s", at_ms=29_000)) == ()
    other = "the controllers record that a leader shuts down as soon as broker-1 is stopped"
    assert named(run, late(verdict.check, other, "no record has it")) == ()
    assert named(without_records(run), verdict) == ()
    in_kraft = run_with((*COPIED, *LOST), None, NOT_WRITTEN, "", *started("broker-2", at_ms=40_000, mode="kraft"))
    assert named(in_kraft, verdict) == ()
    followed = run_with([*COPIED, *LOST[:1], moved(106, "orders", 0), *LOST[2:]], logged=NOT_WRITTEN)
    assert named(followed, verdict) == BUG


ONE_BY_ONE = [*COPIED, allowed(103), record(104, "NO_OP"), *LOST[:2], record(112, "NO_OP")]
"""The ACL is of another batch than the change of the partition without a state."""
SAME_BATCH = [*COPIED, allowed(103), moved(104, "late"), moved(106, "orders"), record(112, "NO_OP")]


@pytest.mark.parametrize(
    ("records", "said", "bugs"),
    [
        (ONE_BY_ONE, failed(104) + failed(), ()),
        (ONE_BY_ONE, failed() + failed(104), ()),
        (ONE_BY_ONE, failed(), BUG),
        (SAME_BATCH, failed(104) + failed(), ()),
        (SAME_BATCH[:-2], failed(104) + failed(), BUG),
        ([*SAME_BATCH[:2], *SAME_BATCH[2:4], allowed(103), moved(104, "late")], failed(104) + failed(), BUG),
    ],
)
def test_each_batch_that_failed_has_a_partition_without_a_state(
    records: list[Record], said: str, bugs: tuple[str, ...]
) -> None:
    """Of several that failed between two positions, what a batch without one had is not lost by it."""
    run = run_with(records, said=said)
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == bugs


REFUSED_AGAIN = Transaction(46_000 * MS, 41, KRAFT + 1, is_multi=True, error=-101)
AFTER_IT = Transaction(46_100 * MS, 42, KRAFT + 1, (position(136),))
WITH_POSITION = Transaction(45_500 * MS, 40, KRAFT + 1, (position(120),))


@pytest.mark.parametrize(
    ("own", "bugs"), [((REFUSED_AGAIN, AFTER_IT), ()), ((WITH_POSITION, REFUSED_AGAIN, AFTER_IT), BUG)]
)
def test_a_batch_that_is_not_known_to_begin_anywhere_has_no_record(
    own: tuple[Transaction, ...], bugs: tuple[str, ...]
) -> None:
    """A controller is refused before it puts any position into ``/migration``: what is far earlier is not of it."""
    logged = [*LOGGED[:6], replace(AGAIN, zxid=39), *own]
    said = failed(135)
    acl = 132 if bugs else 103
    records = sorted([*COPIED, moved(131, "late"), allowed(acl), record(135, "NO_OP")], key=lambda each: each["offset"])
    run = run_with(records, logged=logged, said=said)
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == bugs


def test_a_run_with_several_logs_has_no_record_that_counts() -> None:
    """Offsets begin anew after a revert: those of the log that goes furthest may be of another life."""
    expected = "writes to orders-0 are acknowledged again as soon as broker-1 is stopped"
    verdict = late("brokers_are_rolled_one_by_one", expected, "none was for 23.4 s")
    wiped = Event(len(run_with().events), 20_000 * MS, EventKind.NODE_WIPED, "controller-3000", {})
    assert named(run_with(logged=NOT_WRITTEN), verdict) == BUG
    assert named(run_with((*COPIED, *LOST), None, NOT_WRITTEN, "", wiped), verdict) == ()
