"""Checks of the gauges: their names, and that they show what the member does."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.ownership import client_of, happened_ns
from pytest_kmigrate.checkers.evidence.spans import owned_at, spans
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_125.evidence.assignments import assigned_at
from pytest_kmigrate.documents.kip_125.evidence.lives import Life, horizon_ns, lives
from pytest_kmigrate.documents.kip_125.evidence.modes import KAFKA, modes_at
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.members import (
    MemberAssigned,
    MemberGauges,
    MemberMode,
    MemberOwns,
    MemberPaused,
    MemberReleased,
    ZnodeWritten,
)
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_TYPE = "kafka.consumer:type=ZookeeperConsumerConnector,name="
ACTIVE = f"{_TYPE}ActiveKafkaCoordinationCount"
_TAGS = ",clientId=([^,]+),groupId=([^,]+)"
KAFKA_OWNED = re.compile(rf"{re.escape(_TYPE)}KafkaOwnedPartitionsCount{_TAGS}")
OWNED = re.compile(rf"{re.escape(_TYPE)}OwnedPartitionsCount{_TAGS}")

_ACTIVE_NAME, _ZERO, _ONE = "K125-MET-active-name", "K125-MET-active-zero", "K125-MET-active-one"
_KAFKA_NAME, _KAFKA_VALUE, _LEGACY = "K125-MET-kafka-owned-name", "K125-MET-kafka-owned-value", "K125-MET-owned-legacy"
_ROWS = (_ACTIVE_NAME, _ZERO, _ONE, _KAFKA_NAME, _KAFKA_VALUE, _LEGACY)
_VALUES = {_ZERO: ACTIVE, _ONE: ACTIVE, _KAFKA_VALUE: _KAFKA_VALUE, _LEGACY: _LEGACY}
"""By requirement about a value, the gauge: one of two values, each of which has a requirement, is one gauge."""
_LAG_NS = 1_500_000_000
"""Gauges are printed when they change, and every second."""


def _has_gauges(history: History) -> bool:
    return bool(history.of(MemberGauges))


@checker(*_ROWS, in_every_run=_has_gauges)
def gauges_show_what_members_do(history: History) -> Verdict:
    """Each member with migration has the gauges of the document, and they follow its mode and what it holds.

    The values are compared with the member's other reports, at moments at which nothing changed for a while. A gauge
    that had to have one value all the time is not judged: a constant would show it, too.
    """
    rows = ByRequirement(*_ROWS)
    known = lives(history)
    reported = 0
    for event in history.of(MemberGauges):
        life = known.get(client_of(event))
        if life is None or not life.is_migrating:
            continue
        reported += 1
        _names(history, rows, life, event)
    compared = [
        each
        for since_ns, at_ns in _quiet_spans(history)
        for life in known.values()
        if life.is_migrating and life.began_ns < at_ns < life.ended_ns
        for each in _compared(history, life, _gauges_in(history, life.client, since_ns, at_ns), at_ns)
    ]
    for row, gauge in _VALUES.items():
        mine = [each for each in compared if each.gauge == gauge]
        is_constant = len({each.expected for each in mine}) < 2
        for each in (one for one in mine if one.row == row):
            rows.looked_at(row, int(not is_constant))
            if each.expected != each.observed:
                sentence = f"the gauge of {each.member} is {each.expected}"
                found = timed_violation(history, sentence, f"it is {each.observed:g}", each.at_ns)
                rows.violated(row, found)
    text = f"{counted(reported, 'report')} of gauges, all by their names and as the members do"
    return rows.verdict(text, "no member with migration reported gauges")


def _names(history: History, rows: ByRequirement, life: Life, event: Recorded[MemberGauges]) -> None:
    gauges = event.what.gauges
    found = {
        _ACTIVE_NAME: ACTIVE in gauges and gauges[ACTIVE] in (0, 1),
        _KAFKA_NAME: [
            each[1] != life.consumer_id and each[2] == life.group
            for name in gauges
            if (each := KAFKA_OWNED.fullmatch(name))
        ]
        == [True],
    }
    for row, is_right in found.items():
        rows.looked_at(row)
        if not is_right:
            expected = f"{life.member} has the gauge of the document"
            rows.violated(row, timed_violation(history, expected, f"it has {sorted(gauges)}", happened_ns(event)))


@dataclass(frozen=True)
class _Compared:
    """What a gauge had to show at a moment, and what it showed."""

    row: str
    gauge: str
    member: str
    expected: int
    observed: float
    at_ns: int


def _compared(history: History, life: Life, gauges: dict[str, float], at_ns: int) -> Iterator[_Compared]:
    mode = modes_at(history, at_ns).get(life.client)
    assigned = assigned_at(history, life.client, at_ns)
    owned = sum(life.client in those for those in owned_at(spans(history), at_ns).values())
    kafka_owned = next((value for name, value in gauges.items() if KAFKA_OWNED.fullmatch(name)), None)
    legacy = next((value for name, value in gauges.items() if OWNED.fullmatch(name)), None)
    active = _ONE if mode == KAFKA else _ZERO
    found: list[tuple[str, int, float | None]] = [(active, int(mode == KAFKA), gauges.get(ACTIVE))]
    found.append((_LEGACY, owned, legacy))
    if assigned is not None:
        found.append((_KAFKA_VALUE, len(assigned), kafka_owned))
    for row, expected, observed in found:
        if observed is not None:
            yield _Compared(row, _VALUES[row], life.member, expected, observed, at_ns)


def _quiet_spans(history: History) -> list[tuple[int, int]]:
    """From a change to just before the next one, or before the members end, if they are not close to one another."""
    changes = [*history.of(MemberMode), *history.of(MemberAssigned, MemberOwns, MemberReleased)]
    moved = sorted(happened_ns(event) for event in changes)
    if history.of(MemberPaused):
        return []
    moved = [0, *moved]
    written = [event.at_ns for event in history.of(ZnodeWritten)]
    moments = [at - 1 for at in {*moved, *written}] + [horizon_ns(history)]
    found = [(moved[bisect_right(moved, at) - 1], at) for at in sorted(moments)]
    return [(since, at) for since, at in found if since < at - _LAG_NS]


def _gauges_in(history: History, client: int, since_ns: int, at_ns: int) -> dict[str, float]:
    """What a member reported last in a span; nothing of one that the machine did not let do anything in it."""
    reports = (event for event in history.of(MemberGauges) if client_of(event) == client)
    mine = [event for event in reports if since_ns <= happened_ns(event) <= at_ns]
    return dict(mine[-1].what.gauges) if mine else {}
