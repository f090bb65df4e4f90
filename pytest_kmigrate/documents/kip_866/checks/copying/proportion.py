"""Check of the time that a copy takes: in proportion to what is copied, and no time in which clients are not served."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pytest_kmigrate.checkers.controllers.lives import life_starts_ns
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.log_images import has_log_images, log_images
from pytest_kmigrate.documents.kip_866.checks.settled import dual_write_ns, takeover_ns
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.model.verdict import Kind, Verdict

_ROW = "K866-PROC-downtime-proportional"
_BASE_NS, _EACH_NS = 15_000_000_000, 20_000_000
"""What a copy of nothing may take, on the slowest machine, and what each record adds."""
_SERVED_NS = 5_000_000_000
"""While writers try, some write is acknowledged in each time so long."""


@dataclass(frozen=True)
class _Copy:
    """One copy; ``records`` is how much metadata it put into the log."""

    began_ns: int
    ended_ns: int
    records: int


@checker(
    _ROW,
    in_every_run=has_log_images,
    anomaly="copy out of proportion",
    needs=[Capability.METADATA_LOG, Capability.ZNODES],
)
def copy_takes_time_in_proportion(history: History) -> Verdict:
    """From the claim of ``/controller`` to dual write it takes 15 s at most, and 20 ms more for each record copied.

    Where it takes more than 5 s, writes are acknowledged meanwhile. The time of a copy in which a fault was in force is
    not judged, and writes only if that fault did no more than hold a controller.
    """
    rows = ByRequirement(_ROW)
    copies = list(_copies(history))
    for each in copies:
        faults = faults_during(history, each.began_ns, each.ended_ns)
        if not faults:
            _judge_time(history, rows, each)
        if all(fault.startswith("hold(") for fault in faults):
            _judge_service(history, rows, each)
    took = ", ".join(f"{counted(each.records, 'record')} in {span(each.ended_ns - each.began_ns)}" for each in copies)
    return rows.verdict(f"copied were {took}", "no copy was observed that no fault disturbed")


def _copies(history: History) -> Iterator[_Copy]:
    """The copy of each life of the metadata log that began and ended in this run."""
    records = {log.life: sum(sum(of.values()) for of in log.metadata_until.values()) for log in log_images(history)}
    for life in range(len(life_starts_ns(history)) + 1):
        began_ns, ended_ns = takeover_ns(history, life), dual_write_ns(history, life)
        if began_ns is not None and ended_ns is not None and life in records:
            yield _Copy(began_ns, ended_ns, records[life])


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
