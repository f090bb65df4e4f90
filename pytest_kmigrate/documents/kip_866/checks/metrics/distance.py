"""Check of ``ZkWriteBehindLag``: it is how many records ``/migration`` is behind what is committed."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.leaderships import terms
from pytest_kmigrate.checkers.controllers.znode_changes import untampered
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import FEWEST, LACKED_BY
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import (
    MIGRATION,
    has_place,
    healed_since_ns,
    offset_in,
    writer_in,
)
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History, Sample, ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Verdict

_ROW, _LAG, _COMMITTED = "K866-METRIC-ZkWriteBehindLag", "ZkWriteBehindLag", "LastCommittedRecordOffset"
_AROUND_NS = 1_500_000_000
"""What is committed and written is compared over so long around a sample, whose values are of no one moment."""
_BEGINS_NS = 10_000_000_000
"""By then what was copied is in ZooKeeper as well, and dual write has begun."""
_SLACK = 2
"""No-op records may be committed between two readings."""


def _was_asked_for(history: History) -> bool:
    return any(_COMMITTED in each.values for each in history.samples)


@checker(_ROW, in_every_run=_was_asked_for, anomaly="lag is no distance", needs=[Capability.METRICS, Capability.ZNODES])
def lag_is_the_distance(history: History) -> Verdict:
    """The active controller's lag is the distance between its last committed record and the offset in ``/migration``.

    Judged from the first time on that the controller wrote an offset to ``/migration`` in dual write since it was
    elected; before, it reports 0, or the distance to what it had written when it was active before. The offset at the
    end of the copy is not of dual write: writes of what was copied follow, until ZooKeeper has it as well; 10 s are
    given for that where no offset follows, since the last fault was healed that may keep it from ZooKeeper. Three
    samples in a row have to differ from every distance that there was around them.
    """
    rows = ByRequirement(_ROW)
    if history.header.kafka.startswith(LACKED_BY[_LAG]):
        rows.not_applicable(_ROW, f"this release has no {_LAG}")
    else:
        judge_distance(history, rows, _ROW, _LAG)
    return rows.verdict(
        "the lag is the distance to the last committed record", f"no controller in dual write reported its {_LAG}"
    )


def judge_distance(history: History, rows: ByRequirement, row: str, metric: str) -> None:
    """Judge a requirement by whether this metric of each active controller is that distance."""
    places = [each for each in untampered(history, MIGRATION) if offset_in(each) is not None]
    for term in terms(history):
        reported = [each for each in term if _is_reported(each, metric)]
        if reported and places:
            _judge(history, rows, row, metric, reported, places)


def _is_reported(sample: Sample, metric: str) -> bool:
    return all(sample.values.get(each) is not None for each in (metric, _COMMITTED))


def _judge(
    history: History,
    rows: ByRequirement,
    row: str,
    metric: str,
    reported: Sequence[Sample],
    places: Sequence[ZnodeChange],
) -> None:
    # The claim itself leaves the offset as it was: -1 before the copy, and what the controller before has written.
    begun = [(places[0], 0)] if has_place(places[0]) else []
    begun += [
        (each, later_ns)
        for before, each in pairwise(places)
        if (offset_in(each) or 0) > (offset_in(before) or 0)
        and (later_ns := 0 if has_place(before) else _begins_after_ns(history, each)) is not None
    ]
    own = [(each, later_ns) for each, later_ns in begun if writer_in(each) == reported[0].node]
    since_ns = min((e.at_ns + later_ns for e, later_ns in own if e.at_ns >= reported[0].at_ns), default=None)
    if since_ns is None:
        return
    wrong, compared = 0, 0
    for number, sample in enumerate(reported):
        around = _distances(reported, number, places)
        if sample.at_ns < since_ns + _AROUND_NS or around is None:
            continue
        compared += 1
        low, high = around
        lag = sample.values[metric] or 0
        wrong = 0 if low - _SLACK <= lag <= high + _SLACK else wrong + 1
        if wrong == FEWEST:
            expected = f"{metric} is {low:g}" + (f" to {high:g}" if high > low else "")
            observed = f"{sample.node} reports {lag:g} in {counted(wrong, 'sample')} in a row"
            rows.violated(
                row, timed_violation(history, expected, observed, sample.at_ns, "metrics/metrics.jsonl"), Kind.LIVENESS
            )
    rows.looked_at(row, compared if compared >= FEWEST else 0)


def _begins_after_ns(history: History, copied: ZnodeChange) -> int | None:
    """How long after the copy dual write has begun: as soon as no fault keeps from ZooKeeper what was copied."""
    since_ns = healed_since_ns(history, writer_in(copied), copied.at_ns, copied.at_ns + _BEGINS_NS)
    return None if since_ns is None else since_ns - copied.at_ns + _BEGINS_NS


def _distances(reported: Sequence[Sample], number: int, places: Sequence[ZnodeChange]) -> tuple[float, float] | None:
    """The least and the greatest distance around a sample; None where the offset is not known."""
    at_ns = reported[number].at_ns
    begin = bisect_left(reported, at_ns - _AROUND_NS, key=lambda each: each.at_ns)
    end = bisect_right(reported, at_ns + _AROUND_NS, key=lambda each: each.at_ns)
    committed = [each.values[_COMMITTED] or 0 for each in reported[begin:end]]
    first = bisect_right(places, at_ns - _AROUND_NS, key=lambda each: each.at_ns) - 1
    # Up to the next one: what was written just before ZooKeeper went down is seen only when it is back.
    last = bisect_right(places, at_ns + _AROUND_NS, key=lambda each: each.at_ns) + 1
    offsets = [offset_in(each) for each in places[max(0, first) : last]]
    known = [each for each in offsets if each is not None]
    if first < 0 or not known:
        return None
    return max(0, min(committed) - max(known)), max(0, max(committed) - min(known))
