"""Staging: one function per source turns raw text into typed rows; what cannot be read keeps a ``reason`` and is shown.

Every function gives one row per thing found, good or bad. ``good`` and ``set_aside`` part them, so nothing is ever
dropped silently. No joins between sources here, except with the list of folders itself. Log lines are the exception:
nothing there can be wrong, and what has no level is no row.
"""

from pytest_kmigrate.analysis.staging.judged import (
    HISTORY_FILE,
    RUN_FILE,
    VERDICTS_FILE,
    counted_once,
    staged_events,
    staged_runs,
    staged_verdicts,
)
from pytest_kmigrate.analysis.staging.observed import (
    EXERCISE_FILE,
    IMAGES_FOLDER,
    LOGS_FOLDER,
    METRICS_FILE,
    ZNODES_FILE,
    harmless,
    message,
    moment,
    staged_executions,
    staged_images,
    staged_log_lines,
    staged_samples,
    staged_znodes,
)
from pytest_kmigrate.analysis.staging.reading import good, set_aside, shortened

__all__ = [
    "EXERCISE_FILE",
    "HISTORY_FILE",
    "IMAGES_FOLDER",
    "LOGS_FOLDER",
    "METRICS_FILE",
    "RUN_FILE",
    "VERDICTS_FILE",
    "ZNODES_FILE",
    "counted_once",
    "good",
    "harmless",
    "message",
    "moment",
    "set_aside",
    "shortened",
    "staged_events",
    "staged_executions",
    "staged_images",
    "staged_log_lines",
    "staged_runs",
    "staged_samples",
    "staged_verdicts",
    "staged_znodes",
]
