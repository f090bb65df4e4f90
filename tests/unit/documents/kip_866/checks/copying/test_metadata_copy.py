"""Check of the copy in the metadata log, on the real logs of two releases and on what broken ones would look like."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.checks.copying.metadata_copy import copy_is_one_transaction
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome
from pytest_kmigrate.probes.metadata_replay import image_from_records
from tests.unit.checkers.histories import event, fault, history, snapshot
from tests.unit.documents.kip_866.checks.nodes import controller, stopped
from tests.unit.probes.real_data import records

Log = list[dict[str, Any]]
REAL = records("3.9.1")
BEGIN, STATE, END = (next(at for at, each in enumerate(REAL) if each["offset"] == of) for of in (11, 54, 55))
ABORT = {"offset": 12, "type": "ABORT_TRANSACTION_RECORD", "version": 0, "data": {"reason": "Controller failover"}}
TOO_LATE = {**REAL[STATE], "offset": 56}
FINALIZED = {**REAL[STATE], "offset": 56, "data": {"zkMigrationState": 3}}


def seen(*logs: Log, at_ms: Sequence[int] = (1_000, 40_000), more: Sequence[Any] = ()) -> History:
    """A run with an image of each log."""
    images = {f"image-{number}-log": image_from_records(log) for number, log in enumerate(logs)}
    taken = [snapshot(at, label) for at, label in zip(at_ms, images, strict=False)]
    return history(events=[*taken, *more], images=images)


@pytest.mark.parametrize(("kafka", "offsets"), [("3.6.0", "11 to 57"), ("3.9.1", "11 to 55")])
def test_the_copy_of_a_real_migration_is_one_transaction(kafka: str, offsets: str) -> None:
    """Conforming: bootstrap in one transaction, the copy with its state in another, nothing copied between them."""
    verdict = copy_is_one_transaction.judge(seen(records(kafka)))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary == f"the copy is one transaction of the metadata log: offsets {offsets}"


def test_an_aborted_copy_and_a_second_one_conform() -> None:
    """The successor of a controller that died in the copy aborts it and copies anew; then all is finalized."""
    again = [*REAL[: BEGIN + 1], REAL[BEGIN + 1], ABORT, *REAL[BEGIN : END + 1], FINALIZED]
    assert copy_is_one_transaction.judge(seen(again)).outcome is Outcome.CONFORMS


def from_checkpoint(of: History, offset: int) -> History:
    """The same run, begun from a checkpoint that held the metadata log up to there."""
    return replace(of, header=replace(of.header, extra={"checkpoint": {"log_offset": offset, "zxid": 7}}))


@pytest.mark.parametrize("log", [REAL, [*REAL[:BEGIN], *REAL[BEGIN + 1 :]]], ids=["right", "wrong"])
def test_a_copy_that_came_with_a_checkpoint_says_nothing(log: Log) -> None:
    """Vacuous: the run that made the checkpoint is judged for it, or every clone would be evidence of one copy."""
    verdict = copy_is_one_transaction.judge(from_checkpoint(seen(log), 60))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_what_comes_after_the_checkpoint_is_judged() -> None:
    """Violating: a second copy in the same log; conforming: that of a second life, which began with an empty one."""
    verdict = copy_is_one_transaction.judge(from_checkpoint(seen([*REAL[: END + 1], TOO_LATE]), 55))
    assert verdict.outcome is Outcome.VIOLATES
    deprovisioned = event(EventKind.STEP_ENDED, 20_000, step="deprovision-controllers", outcome="done")
    verdict = copy_is_one_transaction.judge(from_checkpoint(seen(REAL, REAL, more=[deprovisioned]), 60))
    assert verdict.summary == "the copy is one transaction of the metadata log: offsets 11 to 55"


@pytest.mark.parametrize(
    ("broken", "observed"),
    [
        ([*REAL[:BEGIN], *REAL[BEGIN + 1 :]], ["end at 55: none was open", "MIGRATION was recorded", "outside of any"]),
        ([*REAL[:BEGIN], REAL[BEGIN + 1], *REAL[BEGIN:]], ["outside of any transaction: 1 TOPIC_RECORD"]),
        ([*REAL[:STATE], REAL[END], TOO_LATE], ["MIGRATION was recorded at offset 56, in no transaction"]),
        ([*REAL[:STATE], {**REAL[BEGIN], "offset": 53}, *REAL[STATE:]], ["begin at 53: the one begun at offset 11"]),
        ([*REAL[: END + 1], TOO_LATE], ["after MIGRATION (offset 54) came MIGRATION", "MIGRATION was recorded"]),
        ([*REAL[:BEGIN], FINALIZED], ["after PRE_MIGRATION (offset 3) came POST_MIGRATION (offset 56)"]),
    ],
    ids=["no begin", "one topic before it", "state after the end", "nested", "begun twice", "never begun"],
)
def test_a_copy_that_is_no_transaction_of_its_own_violates(broken: Log, observed: list[str]) -> None:
    """Violating: each way in which half a copy could become visible, or be taken for a whole one."""
    verdict = copy_is_one_transaction.judge(seen(broken))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.SAFETY)
    for text in observed:
        assert any(text in each.observed for each in verdict.violations), text
    assert verdict.violations[0].evidence[0] == "metadata/image-0-log.json"


def _record(kind: str, offset: int, **data: Any) -> dict[str, Any]:
    return {"offset": offset, "type": f"{kind}_RECORD", "version": 0, "data": data}


def _part(offset: int, kind: str, **data: Any) -> Log:
    """A transaction of three records."""
    begin, end = _record("BEGIN_TRANSACTION", offset, name="ZK Migration"), _record("END_TRANSACTION", offset + 2)
    return [begin, _record(kind, offset + 1, **data), end]


VERSION = _record("FEATURE_LEVEL", 0, name="metadata.version", featureLevel=20)
WAITING = _record("ZK_MIGRATION_STATE", 1, zkMigrationState=2)
TOPIC: dict[str, Any] = {"name": "orders", "topicId": "x1"}
CONFIG: dict[str, Any] = {"resourceType": 2, "resourceName": "orders", "name": "retention.ms", "value": "1"}
IN_PARTS = [*_part(2, "TOPIC", **TOPIC), *_part(5, "CONFIG", **CONFIG)]
COPIED = _part(8, "ZK_MIGRATION_STATE", zkMigrationState=1)


def test_a_copy_in_several_transactions_violates() -> None:
    """Violating: each part was true before the next one; the last transaction holds nothing but the state."""
    verdict = copy_is_one_transaction.judge(seen([VERSION, WAITING, *IN_PARTS, *COPIED]))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 2)
    first, second = (each.observed for each in verdict.violations)
    assert first.startswith("1 TOPIC_RECORD in one that ended at 4, before that of MIGRATION began at 8 (seen ")
    assert second.startswith("1 CONFIG_RECORD in one that ended at 7, ")


def test_what_controllers_were_formatted_with_is_not_of_the_copy() -> None:
    """Conforming: credentials come with the first state; what was aborted, and what no copy holds, counts neither."""
    begin, end = _record("BEGIN_TRANSACTION", 0, name="Bootstrap records"), _record("END_TRANSACTION", 5)
    secret = _record("USER_SCRAM_CREDENTIAL", 2, name="a", mechanism=1, iterations=4096, digest="d")
    bootstrap = [begin, {**VERSION, "offset": 1}, secret, {**WAITING, "offset": 3}, end]
    aborted = [*_part(6, "TOPIC", **TOPIC)[:2], {**ABORT, "offset": 8}]
    other = _part(9, "FEATURE_LEVEL", name="kraft.version", featureLevel=1)
    copy = [_record("BEGIN_TRANSACTION", 12, name="x"), _record("TOPIC", 13, **TOPIC)]
    copy += [_record("ZK_MIGRATION_STATE", 14, zkMigrationState=1), _record("END_TRANSACTION", 15)]
    verdict = copy_is_one_transaction.judge(seen([*bootstrap, *aborted, *other, *copy]))
    assert verdict.outcome is Outcome.CONFORMS, verdict.violations


def test_an_image_of_before_transactions_were_counted_is_judged_by_the_rest() -> None:
    """An older run does not say what its transactions hold: nothing is held against it."""
    run = seen([VERSION, WAITING, *IN_PARTS, *COPIED])
    for each in run.images["image-0-log"].extra["transactions"]:  # type: ignore[attr-defined]
        each.pop("copied", None)
    assert copy_is_one_transaction.judge(run).outcome is Outcome.CONFORMS


def test_a_log_that_begins_with_the_migration_violates() -> None:
    """Violating: the state before the copy was never recorded; NONE before it is no mistake."""
    verdict = copy_is_one_transaction.judge(seen([VERSION, *COPIED]))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    assert verdict.violations[0].observed.startswith("MIGRATION (offset 9) is the first state of the log")
    never = _record("ZK_MIGRATION_STATE", 1, zkMigrationState=0)
    anew = [VERSION, never, {**WAITING, "offset": 2}, *COPIED]
    assert copy_is_one_transaction.judge(seen(anew)).outcome is Outcome.CONFORMS


def test_what_two_images_of_one_log_show_is_told_once() -> None:
    """A log keeps its mistakes; it was seen first when it was first seen."""
    broken = [*REAL[:STATE], REAL[END], TOO_LATE]
    verdict = copy_is_one_transaction.judge(seen(broken, broken))
    assert (verdict.count, verdict.violations[0].at_ns) == (1, 1_000_000_000)


OPEN = REAL[:STATE]


def test_a_transaction_that_stays_open_violates() -> None:
    """Violating: it is neither ended nor aborted, with a leader there whose log could be read."""
    verdict = copy_is_one_transaction.judge(seen(OPEN, OPEN))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.LIVENESS, 1)
    assert verdict.violations[0].observed == "the one begun at offset 11 is still open 38.5 s later"


@pytest.mark.parametrize(
    "run",
    [
        seen(OPEN),
        seen(OPEN, OPEN, at_ms=(1_000, 9_000)),
        seen(OPEN, REAL),
        seen(REAL, REAL),
        seen(OPEN, OPEN, more=fault(9_000, "hold(controller)")),
        seen(OPEN, OPEN, more=[event(EventKind.STEP_ENDED, 9_000, step="deprovision-controllers", outcome="done")]),
        seen(OPEN, OPEN, more=[controller(0), stopped(9_000, "controller-3000"), controller(35_000)]),
    ],
    ids=[
        "seen once",
        "seen twice in a short time",
        "ended later",
        "ended before",
        "under a fault",
        "of another log",
        "no controller ran",
    ],
)
def test_a_copy_under_way_is_none_that_stays_open(run: History) -> None:
    """An image is an instant: the copy may have been going on, or a fault may have held it."""
    assert copy_is_one_transaction.judge(run).outcome is not Outcome.VIOLATES


@pytest.mark.parametrize(
    "run",
    [
        seen(REAL[:BEGIN]),
        seen([{**REAL[1], "data": {"name": "metadata.version", "featureLevel": 11}}, *REAL[BEGIN + 1 :]]),
        seen([*({**each, "snapshot": True} for each in (REAL[1], REAL[STATE])), *REAL[END + 1 :]]),
    ],
    ids=["before the copy", "a version without transactions", "only a snapshot is left"],
)
def test_a_log_that_cannot_tell_is_not_judged(run: History) -> None:
    """Not applicable: nothing was copied yet, there are no transactions, or their beginning is gone."""
    assert copy_is_one_transaction.judge(run).outcome is Outcome.NOT_APPLICABLE
