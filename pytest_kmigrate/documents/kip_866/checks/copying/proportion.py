"""Check of the time that a copy takes: in proportion to what is copied, and no time in which clients are not served."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.log_images import has_log_images, log_images
from pytest_kmigrate.documents.kip_866.checks.settled import dual_write_ns, takeover_ns
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.evidence import StartConditionMade
from pytest_kmigrate.model.events.steps import ActiveControllerChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.model.verdict import Kind, Verdict

_ROW = "K866-PROC-downtime-proportional"
_BASE_NS, _EACH_NS = 15_000_000_000, 20_000_000
"""What a copy of nothing may take, on the slowest machine, and what each record adds."""
_SERVED_NS = 5_000_000_000
"""While writers try, some write is acknowledged in each time so long."""
_NEVER_NS = 120_000_000_000
"""A copy that has no end by then never has one; a driver may wait for 60 s between two looks."""
_TURNS = (
    EventKind.NODE_STARTED,
    EventKind.NODE_STOPPED,
    EventKind.NODE_DIED,
    EventKind.NODE_PAUSED,
)
_SEEN_NS = 10_000_000_000
"""So long after its claim the controller that made it may be seen to be active."""


@dataclass(frozen=True)
class _Copy:
    """One copy; ``records`` is how much metadata it put into the log."""

    began_ns: int
    ended_ns: int
    records: int


def _is_asked(history: History) -> bool:
    return has_log_images(history) or _without_end(history) is not None


@checker(
    _ROW,
    in_every_run=_is_asked,
    anomaly="copy out of proportion",
    needs=[Capability.METADATA_LOG, Capability.ZNODES],
)
def copy_takes_time_in_proportion(history: History) -> Verdict:
    """From the claim of ``/controller`` to dual write it takes 15 s at most, and 20 ms more for each record copied.

    Where it takes more than 5 s, writes are acknowledged meanwhile. The time of a copy in which a fault was in force is
    not judged, and writes only if that fault did no more than hold a controller. A copy without an end is judged after
    120 s and 20 ms for each record of the log, if all nodes ran on and the test had changed no znode.
    """
    rows = ByRequirement(_ROW)
    copies = list(_copies(history))
    for each in copies:
        faults = faults_during(history, each.began_ns, each.ended_ns)
        if not faults:
            _judge_time(history, rows, each)
        if all(fault.startswith("hold(") for fault in faults):
            _judge_service(history, rows, each)
    if (endless := _without_end(history)) is not None:
        expected = f"the copy comes to its end within {span(_NEVER_NS)}"
        observed = f"it did not within {span(endless[1] - endless[0])}"
        rows.violated(_ROW, timed_violation(history, expected, observed, endless[1], awaited=endless), Kind.LIVENESS)
    took = ", ".join(f"{counted(each.records, 'record')} in {span(each.ended_ns - each.began_ns)}" for each in copies)
    return rows.verdict(f"copied were {took}", "no copy was observed that no fault disturbed")


def _copies(history: History) -> Iterator[_Copy]:
    """The copy of each life of the metadata log that began and ended in this run."""
    records = {log.life: sum(sum(of.values()) for of in log.metadata_until.values()) for log in log_images(history)}
    for life in range(len(life_starts_ns(history)) + 1):
        began_ns, ended_ns = takeover_ns(history, life), dual_write_ns(history, life)
        if began_ns is not None and ended_ns is not None and life in records:
            yield _Copy(began_ns, ended_ns, records[life])


def _without_end(history: History) -> tuple[int, int] | None:
    """From when to when the last copy was under way, if it came to no end in that time, and nothing disturbed it."""
    starts, to_ns = life_starts_ns(history), history.end_ns
    life = life_at(starts, to_ns)
    from_ns = takeover_ns(history, life)
    if from_ns is None or dual_write_ns(history, life) is not None:
        return None
    records = max(
        (sum(sum(of.values()) for of in log.metadata_until.values()) for log in log_images(history)), default=0
    )
    turns = [event for event in history.events if event.kind in _TURNS and event.at_ns > from_ns]
    others = [each for each in history.of(ActiveControllerChanged) if each.at_ns > from_ns + _SEEN_NS]
    is_disturbed = bool(turns or others or history.of(StartConditionMade) or faults_during(history, from_ns, to_ns))
    is_due = to_ns - from_ns > _NEVER_NS + _EACH_NS * records
    return (from_ns, to_ns) if is_due and not is_disturbed else None


def _judge_time(history: History, rows: ByRequirement, copy: _Copy) -> None:
    most_ns, took_ns = _BASE_NS + _EACH_NS * copy.records, copy.ended_ns - copy.began_ns
    if took_ns <= most_ns:
        rows.looked_at(_ROW)
        return
    expected = f"the copy of {counted(copy.records, 'record')} takes {span(most_ns)} at most"
    awaited = (copy.began_ns, copy.ended_ns)
    violation = timed_violation(history, expected, f"it took {span(took_ns)}", copy.ended_ns, awaited=awaited)
    rows.violated(_ROW, violation, Kind.LIVENESS)


def _judge_service(history: History, rows: ByRequirement, copy: _Copy) -> None:
    sends = history.operations.of(OperationKind.PRODUCE)
    tried = sends.began_ns[(sends.began_ns >= copy.began_ns) & (sends.began_ns <= copy.ended_ns)]
    if copy.ended_ns - copy.began_ns <= _SERVED_NS or not tried.size:
        return
    acked = np.sort(sends.ended_ns[sends.outcome == OperationOutcome.OK])
    inside = acked[(acked > copy.began_ns) & (acked < copy.ended_ns)]
    longest_ns = int(np.diff([copy.began_ns, *inside.tolist(), copy.ended_ns]).max())
    if longest_ns <= _SERVED_NS:
        rows.looked_at(_ROW)
        return
    expected = f"some write is acknowledged every {span(_SERVED_NS)} during the copy"
    awaited = (copy.began_ns, copy.ended_ns)
    violation = timed_violation(history, expected, f"none was for {span(longest_ns)}", copy.ended_ns, awaited=awaited)
    rows.violated(_ROW, violation, Kind.LIVENESS)
