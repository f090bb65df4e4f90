"""The consistency mart: every check of client operations, over the histories of all runs.

A run's parts travel as the compressed files they are, not as rows, to the one group that judges the run: there is one
exchange, of bytes, and what is decoded never leaves the process that judges it. A run too large for that is dealt out
in slices, each complete for one aspect of its checks. The checks are those of a single run: ``checkers.kernels``.
"""

from pytest_kmigrate.analysis.consistency.controllers import controller_anomalies, with_anomaly
from pytest_kmigrate.analysis.consistency.tables import anomalies, checked_classes, judged, operation_counts, set_aside
from pytest_kmigrate.analysis.consistency.verdicts import verdicts

__all__ = [
    "anomalies",
    "checked_classes",
    "controller_anomalies",
    "judged",
    "operation_counts",
    "set_aside",
    "verdicts",
    "with_anomaly",
]
