"""Facts about what brokers write to ZooKeeper while controllers copy it: kmigrate-37."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.documents.kip_866.checks.transactions.others import nobody_else_writes_during_the_copy
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import MS, change, event
from tests.unit.checkers.images import FULL
from tests.unit.documents.kip_866.checks.transactions.logged import BROKER, FIRST, SECOND, claim, logged, place
from tests.unit.documents.kip_866.diagnoses.naming import CONTROLLERS, named, seen_at_last, started

_SUBJECT, _ENTRY = "Topic:PREFIXED:one", "User:alice|*|Alter|Allow"
_PATH = "/kafka-acl-extended/prefixed/Topic/one"
ASKED = change(10_600, "set-acl", _SUBJECT, wanted={"binding": _ENTRY}, began_ns=10_400 * MS)
WRITTEN = Write("create", _PATH, "{}", 0)
NOTIFIED = Write("create", "/kafka-acl-extended-changes/acl_changes_01", '{"name":"one"}', 0)
BY_BROKER = [logged(10_500, BROKER, WRITTEN), logged(10_510, BROKER, NOTIFIED)]
UNDONE = logged(11_100, FIRST, place(100), Write("delete", _PATH, None, -1))
_EMPTY = {"log": MetadataImage("metadata-log", known=FULL.known), "tree": MetadataImage("zookeeper", known=FULL.known)}


def copied(
    during: Sequence[Transaction] = BY_BROKER,
    after: Sequence[Transaction] = (UNDONE,),
    asked: Sequence[Event] = (ASKED,),
    images: Mapping[str, MetadataImage] = _EMPTY,
) -> History:
    """A copy from 10 to 11 s, what was logged during and after it, and what clients had asked for."""
    begun = [claim(10_000), logged(10_100, FIRST, place(-1))]
    logs = [*begun, *during, logged(11_000, FIRST, place(100)), *after]
    return seen_at_last(images, *started(*CONTROLLERS), *asked, transactions=logs)


@pytest.mark.parametrize(
    ("subject", "kind", "path", "operation"),
    [
        ("Topic:PREFIXED:one", "set-acl", _PATH, "create"),
        ("Topic:LITERAL:a:b", "remove-acl", "/kafka-acl/Topic/a:b", "set-data"),
        ("a:SCRAM-SHA-256", "remove-scram", "/config/users/a", "delete"),
        ("topic:a", "alter-config", "/config/topics/a", "create"),
        ("a", "create-topic", "/brokers/topics/a", "create"),
        ("a", "create-topic", "/config/topics/a", "create"),
        ("a", "delete-topic", "/admin/delete_topics/a", "create"),
        ("user=a,client-id=b", "set-quota", "/config/users/a/clients/b", "set-data"),
        ("my-topic", "add-partitions", "/brokers/topics/my-topic", "set-data"),
        ("a", "create-token", "/delegation_token/tokens/a", "create"),
    ],
)
def test_what_a_client_had_asked_for_is_known(subject: str, kind: str, path: str, operation: str) -> None:
    """The write is of the znode that the request is about, and came while it was under way."""
    wanted = {"binding": _ENTRY} if kind.endswith("acl") else {"x": "1"}
    asked = replace(ASKED, data={**ASKED.data, "change": kind, "subject": subject, "wanted": wanted})
    run = copied([logged(10_500, BROKER, Write(operation, path, "{}", 0))], asked=[asked])
    assert named(run, nobody_else_writes_during_the_copy.judge(run)) == ("kmigrate-37",)


LONG_AGO = replace(ASKED, at_ns=-50_000 * MS, data={**ASKED.data, "began_ns": -60_000 * MS, "outcome": "indefinite"})
OTHER_NAME = replace(NOTIFIED, data='{"name":"other"}')


@pytest.mark.parametrize(
    ("during", "asked"),
    [
        (BY_BROKER, []),
        (BY_BROKER, [change(10_600, "set-acl", "Topic:PREFIXED:b", wanted={"binding": _ENTRY})]),
        (BY_BROKER, [change(10_300, "set-acl", _SUBJECT, wanted={"binding": _ENTRY})]),
        (BY_BROKER, [change(12_000, "set-acl", _SUBJECT, wanted={"binding": _ENTRY})]),
        (BY_BROKER, [replace(ASKED, data={**ASKED.data, "outcome": "failed", "error": "NOT_CONTROLLER"})]),
        ([*BY_BROKER, logged(10_520, 0x11, NOTIFIED)], [ASKED]),
        ([*BY_BROKER, logged(10_520, BROKER, OTHER_NAME)], [ASKED]),
        ([*BY_BROKER, logged(10_520, BROKER, Write("set-data", "/brokers/topics/a", "{}", 1))], [ASKED]),
        (
            [logged(10_500, BROKER, WRITTEN, replace(WRITTEN, path=f"{_PATH}-longer"))],
            [ASKED],
        ),
        (BY_BROKER, [LONG_AGO]),
    ],
    ids=[
        "no request",
        "a request for another",
        "a request that had its answer",
        "a request of later",
        "a request that was refused",
        "a notification by another",
        "a notification of another",
        "a write beside",
        "a longer name in the same transaction",
        "a request that was given up long ago",
    ],
)
def test_any_other_write_during_the_copy_stays_red(during: Sequence[Transaction], asked: Sequence[Event]) -> None:
    """Brokers of a defect write what no request is about."""
    run = copied(during, asked=asked)
    assert named(run, nobody_else_writes_during_the_copy.judge(run)) == ()


def test_a_request_without_an_answer_may_be_carried_out_later() -> None:
    """The client gave up on it before it reached the broker."""
    gave_up = replace(ASKED, at_ns=10_450 * MS, data={**ASKED.data, "outcome": "indefinite"})
    answered = replace(ASKED, at_ns=10_440 * MS)
    for asked, bugs in ((gave_up, ("kmigrate-37",)), (answered, ())):
        run = copied(asked=[asked])
        assert named(run, nobody_else_writes_during_the_copy.judge(run)) == bugs


def test_what_the_controller_took_out_after_its_copy_is_lost() -> None:
    """It was acknowledged, is not in the log, and is taken out of ZooKeeper with the first place in /migration."""
    run = copied()
    for label in _EMPTY:
        verdict = acknowledged_metadata_changes_present.judge(run, label)
        assert (verdict.outcome, named(run, verdict)) == (Outcome.VIOLATES, ("kmigrate-37",))


def test_what_comes_back_after_the_copy_was_taken_away_in_vain() -> None:
    """The log has what a broker had taken out of ZooKeeper during the copy, and ZooKeeper gets it again."""
    before = change(5_000, "set-acl", _SUBJECT, wanted={"binding": _ENTRY})
    away = replace(ASKED, data={**ASKED.data, "change": "remove-acl"})
    taken, again = Write("delete", _PATH, None, -1), Write("create", _PATH, "{}", 0)
    there = {label: replace(each, acls={_SUBJECT: [_ENTRY]}) for label, each in _EMPTY.items()}
    run = copied([logged(10_500, BROKER, taken)], [logged(11_100, FIRST, place(100), again)], [before, away], there)
    for label in there:
        assert named(run, acknowledged_metadata_changes_present.judge(run, label)) == ("kmigrate-37",)


def test_what_the_log_has_was_not_lost_with_the_copy() -> None:
    """The controller then took something out of ZooKeeper that its own log has, which is another defect."""
    images = {**_EMPTY, "log": replace(_EMPTY["log"], acls={_SUBJECT: [_ENTRY]})}
    run = copied(images=images)
    assert named(run, metadata_equivalent.judge(run, "log", "tree")) == ()
    together = event(EventKind.SETTLED, 60_000, images=["log", "tree"], took_s=0.5)
    run = replace(run, events=[*run.events, together])
    assert named(run, acknowledged_metadata_changes_present.judge(run, "tree")) == ()


KEPT = logged(11_100, FIRST, place(100), Write("set-data", _PATH, '{"acls":[]}', 1))
_NEXT = logged(11_050, FIRST, place(101))


@pytest.mark.parametrize(
    ("during", "after", "asked"),
    [
        ([], [UNDONE], [ASKED]),
        (BY_BROKER, [], [ASKED]),
        (BY_BROKER, [_NEXT, replace(UNDONE, writes=(place(101), *UNDONE.writes[1:]))], [ASKED]),
        (BY_BROKER, [replace(UNDONE, session=BROKER)], [ASKED]),
        (BY_BROKER, [KEPT, logged(90_000, FIRST, place(900), Write("delete", _PATH, None, -1))], [ASKED]),
        (BY_BROKER, [logged(11_100, FIRST, place(100), replace(WRITTEN, path="/config/topics/a"))], [ASKED]),
        ([*BY_BROKER, logged(10_900, SECOND, WRITTEN)], [UNDONE], [ASKED]),
        (BY_BROKER, [UNDONE], [ASKED, change(20_000, "set-acl", _SUBJECT, wanted={"binding": _ENTRY})]),
        ([], [logged(11_020, BROKER, WRITTEN), UNDONE], [replace(ASKED, at_ns=11_030 * MS)]),
    ],
    ids=[
        "never written",
        "never undone",
        "undone in dual write",
        "undone by a broker",
        "written again by the sync, and lost later",
        "another znode",
        "undone by another client",
        "made again in dual write",
        "written after the copy",
    ],
)
def test_any_other_loss_stays_red(
    during: Sequence[Transaction], after: Sequence[Transaction], asked: Sequence[Event]
) -> None:
    """The change was not written in the copy, or it is not the end of the copy that lost it."""
    run = copied(during, after, asked)
    verdict = acknowledged_metadata_changes_present.judge(run, "log")
    assert (verdict.outcome, named(run, verdict)) == (Outcome.VIOLATES, ())


def test_what_differs_beside_the_lost_change_stays_red() -> None:
    """The two sides are to agree about everything else."""
    images = {**_EMPTY, "tree": replace(_EMPTY["tree"], acls={"Topic:LITERAL:other": [_ENTRY]})}
    run = copied(images=images)
    assert named(run, metadata_equivalent.judge(run, "log", "tree")) == ()
