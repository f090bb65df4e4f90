"""One run: provider, migration, workload, faults and probes make a history; checkers make verdicts of it."""

from pytest_kmigrate.running.run import Run, RunSettings, open_run

__all__ = ["Run", "RunSettings", "open_run"]
