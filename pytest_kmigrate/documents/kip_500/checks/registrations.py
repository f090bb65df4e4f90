"""Check of the epochs that starts of a broker are registered with: those of its earlier starts are old."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.metadata.registrations import AnnouncedLog, announced_logs
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_ROW = "K500-API-alter-isr-fencing"


@dataclass(frozen=True)
class _CameAgain:
    """A broker that was registered before was registered by another process of it."""

    registration: Mapping[str, Any]
    before: int
    """The largest epoch of its earlier processes."""
    log: AnnouncedLog

    @property
    def epoch(self) -> int:
        """The epoch that it has got."""
        return int(self.registration["data"]["brokerEpoch"])

    @property
    def key(self) -> tuple[int, str, int]:
        """The same registration in the log of another node has the same."""
        data = self.registration["data"]
        return data["brokerId"], data["incarnationId"], self.epoch


def _came_again(history: History) -> Iterator[_CameAgain]:
    """Each such registration of the run's own, in every log that holds it."""
    for log in announced_logs(history):
        epochs: dict[int, dict[str, int]] = {}
        for each in log.registrations():
            data = each["data"]
            by_process = epochs.setdefault(data["brokerId"], {})
            others = [epoch for process, epoch in by_process.items() if process != data["incarnationId"]]
            if others and data["incarnationId"] not in by_process and each["offset"] > log.inherited:
                yield _CameAgain(each, max(others), log)
            by_process[data["incarnationId"]] = data["brokerEpoch"]


@checker(
    _ROW,
    in_every_run=lambda history: any(_came_again(history)),
    anomaly="broker epoch given again",
    needs=[Capability.METADATA_LOG],
)
def brokers_come_again_with_a_larger_epoch(history: History) -> Verdict:
    """A broker that starts again is registered with a larger epoch than all its earlier processes.

    Otherwise no request of an earlier process could be rejected for its old epoch. By images of the metadata log, and
    by the log of each node at the end of the run. A process that registers again keeps its epoch.

    Source: K500-API-alter-isr-fencing.
    """
    rows, seen = ByRequirement(_ROW), set[tuple[int, str, int]]()
    for each in _came_again(history):
        if each.key in seen:
            continue
        seen.add(each.key)
        if each.epoch > each.before:
            rows.looked_at(_ROW)
            continue
        broker, _, epoch = each.key
        expected = f"broker {broker} starts again with a larger epoch than {each.before}"
        observed = f"it is registered with {epoch} at offset {each.registration['offset']}"
        rows.violated(_ROW, timed_violation(history, expected, observed, each.log.at_ns, each.log.evidence))
    text = f"{counted(len(seen), 'registration')} of brokers that started again, each with a larger epoch"
    return rows.verdict(text, "no metadata log of the run has a broker that was registered by two processes")
