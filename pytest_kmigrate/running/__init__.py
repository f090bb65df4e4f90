"""One run: provider, migration, workload, faults and probes make a history; checkers make verdicts of it."""

from pytest_kmigrate.running.checkpoints import Checkpoints
from pytest_kmigrate.running.header import Claim, RunSettings, header_of
from pytest_kmigrate.running.run import Run, open_run
from pytest_kmigrate.running.shared import SharedCluster

__all__ = ["Checkpoints", "Claim", "Run", "RunSettings", "SharedCluster", "header_of", "open_run"]
