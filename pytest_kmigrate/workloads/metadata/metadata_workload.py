"""The metadata workload: a seeded stream of metadata changes at a steady rate while the cluster is migrated."""

import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Protocol

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.model.events.workloads import MetadataWorkloadBegan, MetadataWorkloadEnded
from pytest_kmigrate.workloads.metadata.metadata_change import NAME, MetadataChange, Scope, operations
from pytest_kmigrate.workloads.metadata.metadata_invocation import Completion, MetadataAdmin, recorded


@dataclass(frozen=True)
class MetadataWorkload:
    """Changes of each family in scope, one after another: a first round at once, then ``per_s`` of them each second."""

    per_s: float = 2
    scope: Scope = field(default_factory=Scope)
    seed: int | str = 0
    request_timeout_s: float = 10
    needs = frozenset({Capability.CHANGE})

    def __post_init__(self) -> None:
        if self.per_s <= 0:
            raise WrongUseError(f"metadata workload: expected per_s above 0; got {self.per_s:g}")


class Invoker(Protocol):
    """What carries changes out."""

    def invoke(self, change: MetadataChange) -> Completion:
        """Carry out one change."""
        ...


class RunningMetadata:
    """The workload in a thread of its own."""

    def __init__(self, workload: MetadataWorkload, invoker: Invoker, recorder: Recorder) -> None:
        self.workload = workload
        self._invoker = invoker
        self._recorder = recorder
        self._counts: Counter[str] = Counter()
        self._stopping = threading.Event()
        self._trouble = ""
        self._thread = threading.Thread(target=self._run, name="metadata-workload", daemon=True)

    def start(self) -> None:
        """Begin to change."""
        self._recorder.record(MetadataWorkloadBegan(NAME, **asdict(self.workload)))
        self._thread.start()

    def stop(self, within_s: float | None = None) -> Mapping[str, int]:
        """Let the change under way end and stop: the counts by outcome; safe to call twice."""
        if not self._stopping.is_set():
            self._stopping.set()
            self._thread.join(within_s if within_s is not None else self.workload.request_timeout_s + 5)
            self._recorder.record(MetadataWorkloadEnded(NAME, dict(self._counts)))
        return self.counts()

    def counts(self) -> Mapping[str, int]:
        """Changes so far by outcome: ok, failed, indefinite."""
        return dict(self._counts)

    def raise_trouble(self) -> None:
        """ClusterError if the workload ended by an error of its own: no more changes will come."""
        if self._trouble:
            raise ClusterError(f"the metadata workload ended: {self._trouble}")

    def _run(self) -> None:
        try:
            self._change_until_stopped()
        except Exception as error:  # noqa: BLE001  # ours, whatever it is: a dead thread alone would go unnoticed
            self._trouble = repr(error)
            self._recorder.record(HarnessTrouble("metadata workload", self._trouble))

    def _change_until_stopped(self) -> None:
        stream = operations(Random(self.workload.seed), self.workload.scope)
        at_once = len(self.workload.scope.first_round)
        due = time.monotonic()
        for number, change in enumerate(stream, start=1):
            if self._stopping.wait(max(0.0, due - time.monotonic())):
                return
            interval_s = 1 / self.workload.per_s if number >= at_once else 0.0
            # A change that took long is not made up for: the next one comes a full interval later.
            due = max(due, time.monotonic() - interval_s) + interval_s
            began_ns = self._recorder.now_ns()
            completion = self._invoker.invoke(change)
            recorded(self._recorder, change, completion, began_ns)
            self._counts[completion.outcome.name.lower()] += 1


def run_metadata(workload: MetadataWorkload, connection: Mapping[str, str], recorder: Recorder) -> RunningMetadata:
    """The workload against the cluster behind ``connection`` (librdkafka properties), not started yet."""
    return RunningMetadata(workload, MetadataAdmin(connection, workload.request_timeout_s), recorder)
