"""Checks of the user's listener, each with members that conform and one with a planted defect."""

from collections.abc import Mapping

import pytest

from pytest_kmigrate.documents.kip_125.checks.coordination.listener import (
    listeners_are_called_in_time,
    listeners_get_what_kafka_assigns,
)
from pytest_kmigrate.documents.kip_125.kinds import NEW, TOPIC, WITH
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import MS, event, history
from tests.unit.documents.kip_125.checks.test_znodes import violated
from tests.unit.documents.kip_125.groups import assigned, follows, member, owns, read, released

BY_THREADS = {"0": "c1-0", "1": "c1-1", "2": "c2-0", "3": "c2-1", "4": "c3-0"}


def called(client: int, at_ms: int, what: str, **content: object) -> Event:
    """A member reports that its listener was called."""
    who = {"member": f"{WITH}-{client}", "client": client, "what": what}
    return event(EventKind.MEMBER_REPORTED, at_ms, content=content, member_ns=at_ms * MS, **who)


def starting(client: int, at_ms: int, threads: Mapping[str, str]) -> Event:
    """Its listener is called before it fetches."""
    return called(client, at_ms, "before_starting_fetchers", assignment={TOPIC: threads})


def releasing(client: int, at_ms: int, *partitions: int) -> Event:
    """Its listener is called before it releases."""
    listed = [{"topic": TOPIC, "partition": each} for each in partitions]
    return called(client, at_ms, "before_releasing_partitions", partitions=listed)


OWNED = [member(1), follows(1, 1, "kafka"), starting(1, 9, BY_THREADS), owns(1, 10, 0), released(1, 100, 0)]


@pytest.mark.parametrize(
    ("more", "row"),
    [
        ([releasing(1, 90, 0)], None),
        ([], "K125-LSN-before-release"),
        ([releasing(1, 90, 1)], "K125-LSN-before-release"),
        ([releasing(1, 30, 0)], "K125-LSN-before-release"),
        ([releasing(1, 80, 0), releasing(1, 90, 0)], "K125-LSN-before-release"),
    ],
)
def test_a_listener_is_called_once_after_the_last_record(more: list[Event], row: str | None) -> None:
    """No call, a call about another partition, one before records are read, and two calls are seen."""
    verdict = listeners_are_called_in_time.judge(history(read(1, 50, 1), [*OWNED, *more]))
    assert violated(verdict) == ([row] if row else [])


def test_a_listener_is_called_before_the_first_record() -> None:
    """A call after it is seen, and one that gives the partition to another member."""
    other = {"0": "c2-0"}
    for call in (starting(1, 60, BY_THREADS), starting(1, 9, other)):
        events = [member(1), member(2), follows(1, 1, "kafka"), call, owns(1, 10, 0)]
        verdict = listeners_are_called_in_time.judge(history(read(1, 50, 1), events))
        assert violated(verdict) == ["K125-LSN-before-start"]


@pytest.mark.parametrize(
    ("first", "second", "rows"),
    [
        (BY_THREADS, BY_THREADS, set()),
        (BY_THREADS, {**BY_THREADS, "0": "c1-1", "1": "c1-0"}, {"K125-LSN-thread-split", "K125-LSN-consistent"}),
        (BY_THREADS, {**BY_THREADS, "1": "c2-1"}, {"K125-LSN-client-id-match", "K125-LSN-thread-split"}),
        ({**BY_THREADS, "4": "c3-1"}, BY_THREADS, {"K125-LSN-kc-member", "K125-LSN-consistent"}),
    ],
)
def test_a_listener_gets_what_kafka_assigns(first: dict[str, str], second: dict[str, str], rows: set[str]) -> None:
    """A partition with the wrong thread, with the wrong member, and a plain consumer's with a wrong name are seen."""
    two = {"topics": {TOPIC: 2}}
    members = [member(1), member(2), member(3, NEW)]
    members = [event(each.kind, 0, **{**each.data, **(two if each.data["client"] != 3 else {})}) for each in members]
    events = [
        *members,
        *(follows(each, 1, "kafka") for each in (1, 2)),
        *(assigned(1, 5, 0, 1), assigned(2, 5, 2, 3), owns(3, 5, 4)),
        *(starting(1, 9, first), starting(2, 9, second)),
    ]
    verdict = listeners_get_what_kafka_assigns.judge(history(events=events))
    assert set(violated(verdict)) == rows


def test_without_a_listener_nothing_is_judged() -> None:
    """Members whose user has none report no call."""
    verdict = listeners_are_called_in_time.judge(history(events=[member(1), owns(1, 10, 0)]))
    assert verdict.outcome is Outcome.INCONCLUSIVE
