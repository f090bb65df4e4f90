"""Errors that a node has reported: of its log those about something, of its metric and of its end all."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pytest_kmigrate.model.events.nodes import NodeDied
from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.running.reported_errors import reported_errors
from tests.unit.fakes import MemoryRecorder

LOG = """\
2026-11-27 04:20:08,346 INFO an error that is none: ERROR of a migration (o.a.k.A)
2026-11-27 04:20:08,347 ERROR [Driver id=3000] KRaft controller indicates a completed Migration (o.a.k.A)
java.lang.IllegalStateException: the migration
2026-11-27 04:20:08,348 ERROR [Apis] Unexpected error: zkMigrationReady=true (o.a.k.B)
2026-11-27 04:20:08,349 WARN a migration without the flag (o.a.k.A)
"""


@dataclass
class Reporting:
    """A cluster of one controller with this log, whose metric counts so many errors; None: it does not answer."""

    log: Path
    counted: float | None

    def node(self, _name: str) -> "Reporting":
        """The only one."""
        return self

    def metrics(self, _node: str, names: Iterable[str]) -> Mapping[str, float | None]:
        """The one metric."""
        return dict.fromkeys(names, self.counted)


def reported(log: Path, recorder: MemoryRecorder, counted: float | None = None) -> int:
    """Errors of controller-3000 about the migration."""
    return reported_errors(cast("Cluster", Reporting(log, counted)), recorder, "controller-3000", about="migration")


def test_errors_are_those_of_log_metric_and_end(tmp_path: Path) -> None:
    """Of the log only lines at that level with the whole word; of other nodes none."""
    recorder, log = MemoryRecorder(), tmp_path / "server.log"
    assert reported(log, recorder) == 0
    log.write_text(LOG, encoding="utf-8")
    assert reported(log, recorder) == 1
    assert reported(log, recorder, counted=2) == 3
    recorder.record(NodeDied(1, ""), "controller-3001")
    recorder.record(NodeDied(1, ""), "controller-3000")
    assert reported(log, recorder, counted=2) == 4
