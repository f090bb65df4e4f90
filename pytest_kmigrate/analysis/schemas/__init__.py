"""Every schema of the analysis: what is read from a run folder, and what each written table looks like."""

from pytest_kmigrate.analysis.schemas.columns import COUNT, TEXT, TEXTS
from pytest_kmigrate.analysis.schemas.facts import FACTS
from pytest_kmigrate.analysis.schemas.marts import MARTS
from pytest_kmigrate.analysis.schemas.sources import (
    EVENT_DATA,
    EVENT_JSON,
    FACTS_MAP,
    FILES,
    FOLDERS,
    RUN_JSON,
    RUN_SCHEMA_VERSION,
    VERDICT_JSON,
)

TABLES = {**FACTS, **MARTS}
"""Table name -> its columns, in order: the Parquet folders below ``tables/``."""

__all__ = [
    "COUNT",
    "EVENT_DATA",
    "EVENT_JSON",
    "FACTS",
    "FACTS_MAP",
    "FILES",
    "FOLDERS",
    "MARTS",
    "RUN_JSON",
    "RUN_SCHEMA_VERSION",
    "TABLES",
    "TEXT",
    "TEXTS",
    "VERDICT_JSON",
]
