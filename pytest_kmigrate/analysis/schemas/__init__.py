"""Every schema of the analysis: what is read from a run folder, and what each written table looks like."""

from pytest_kmigrate.analysis.schemas.causes import CAUSES
from pytest_kmigrate.analysis.schemas.chaos import CHAOS, SCHEDULES
from pytest_kmigrate.analysis.schemas.columns import COUNT, TEXT, TEXTS
from pytest_kmigrate.analysis.schemas.consistency import CONSISTENCY
from pytest_kmigrate.analysis.schemas.exercise import EXERCISE
from pytest_kmigrate.analysis.schemas.facts import ATTEMPTS, FACTS, REQUIREMENT_ATTEMPTS
from pytest_kmigrate.analysis.schemas.flakiness import FLAKINESS
from pytest_kmigrate.analysis.schemas.ingestion import INGESTED, KEPT, OBSERVATIONS
from pytest_kmigrate.analysis.schemas.marts import MARTS
from pytest_kmigrate.analysis.schemas.sources import (
    EVENT_DATA,
    EVENT_JSON,
    EXECUTED_JSON,
    FACTS_MAP,
    FILES,
    FOLDERS,
    IMAGE_JSON,
    LINES,
    LOG_LINES,
    OLDER_RUN_JSON,
    RUN_JSON,
    RUN_SCHEMA_VERSION,
    SAMPLE_JSON,
    VERDICT_JSON,
    ZNODE_JSON,
)
from pytest_kmigrate.analysis.schemas.trends import TRENDS

_TABLES = (FACTS, OBSERVATIONS, CONSISTENCY, MARTS, FLAKINESS, CAUSES, TRENDS, EXERCISE, SCHEDULES, CHAOS)
TABLES = {name: columns for tables in _TABLES for name, columns in tables.items()}
"""Table name -> its columns, in order: the Parquet folders below ``tables/``."""

__all__ = [
    "ATTEMPTS",
    "COUNT",
    "EVENT_DATA",
    "EVENT_JSON",
    "EXECUTED_JSON",
    "FACTS",
    "FACTS_MAP",
    "FILES",
    "FOLDERS",
    "IMAGE_JSON",
    "INGESTED",
    "KEPT",
    "LINES",
    "LOG_LINES",
    "MARTS",
    "OBSERVATIONS",
    "OLDER_RUN_JSON",
    "REQUIREMENT_ATTEMPTS",
    "RUN_JSON",
    "RUN_SCHEMA_VERSION",
    "SAMPLE_JSON",
    "TABLES",
    "TEXT",
    "TEXTS",
    "VERDICT_JSON",
    "ZNODE_JSON",
]
