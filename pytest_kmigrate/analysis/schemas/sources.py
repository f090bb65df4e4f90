"""What lies in a run folder, as it is read."""

from pyspark.sql.types import ArrayType, BooleanType, IntegerType, MapType

from pytest_kmigrate.analysis.schemas.columns import COUNT, NUMBER, TEXT, TEXTS, struct

RUN_SCHEMA_VERSION = 1
"""The newest ``schema`` of a run folder that this version reads."""

FOLDERS = struct(folder=TEXT, is_complete=BooleanType(), timeline=TEXT, digest=TEXT)
"""One row per run folder: its path below the analyzed one, whether its manifest is there, its timeline's path, and what
its content is known by."""

FILES = struct(folder=TEXT, file=TEXT, text=TEXT)
"""One row per file that was read whole: ``run.json``, metadata images. ``file`` is its path inside the run folder."""

LINES = struct(folder=TEXT, file=TEXT, line=COUNT, text=TEXT)
"""One row per line that is not blank, numbered from 1; a row of a log may be many lines, numbered like the first."""

LOG_LINES = struct(folder=TEXT, file=TEXT, level=TEXT, line=COUNT, lines=COUNT, text=TEXT, normal_form=TEXT)
"""One row per line of a log whose words are kept, and one for all lines of another level of a text."""

RUN_JSON = struct(
    schema=IntegerType(),
    run_id=TEXT,
    test_id=TEXT,
    # An identity, never calculated with: as text it may have any size.
    seed=TEXT,
    kafka=TEXT,
    topology=TEXT,
    provider=TEXT,
    profile=TEXT,
    requirements=TEXTS,
    started_at=TEXT,
    reproduce=TEXT,
    extra=struct(
        reproduce=TEXT,
        byteman=TEXT,
        commit=TEXT,
        exercise=TEXTS,
        mutant=struct(id=TEXT),
        distribution_digests=MapType(TEXT, TEXT),
    ),
)
"""``run.json``. What a header does not define lies under ``extra`` in folders written by the recorder."""

OLDER_RUN_JSON: dict[int, dict[str, str]] = {}
"""Older versions of ``run.json`` that are still read: version -> key of today -> where it was (SQL over ``text``)."""

ABOUT = ArrayType(struct(requirement=TEXT, outcome=TEXT, kind=TEXT, seen=COUNT, known_bugs=TEXTS))
"""What a verdict says of each requirement it speaks for; ``seen`` 0: nothing that could have violated it.

Older folders have no ``known_bugs`` there: those of the verdict count for each requirement that it violates.
"""

VERDICT_JSON = struct(
    check=TEXT,
    outcome=TEXT,
    kind=TEXT,
    summary=TEXT,
    count=COUNT,
    requirements=TEXTS,
    violations=ArrayType(struct(expected=TEXT, observed=TEXT, at_ns=COUNT, evidence=TEXTS)),
    # Each check has its own facts, so they stay JSON until the one mart that reads them.
    facts=TEXT,
    known_bugs=TEXTS,
    anomaly=TEXT,
    standing=BooleanType(),
    about=ABOUT,
)
"""One line of ``verdicts.jsonl``; version 0.1 wrote neither ``anomaly`` nor ``standing`` nor ``about``."""

EVENT_JSON = struct(seq=COUNT, at_ns=COUNT, kind=TEXT, node=TEXT, data=TEXT)
"""One line of ``history.jsonl``; ``data`` differs by kind and is read by the fact that needs it."""

EVENT_DATA = struct(
    fault=TEXT,
    fault_id=TEXT,
    effect=TEXT,
    targets=TEXTS,
    trigger=TEXT,
    witness=TEXT,
    of=TEXT,
    state=TEXT,
    step=TEXT,
    label=TEXT,
    began_ns=COUNT,
    took_s=NUMBER,
    measure=TEXT,
    measured=NUMBER,
    unit=TEXT,
    size=NUMBER,
    test=TEXT,
)
"""The keys of ``data`` that facts use (kinds fault-*, state, step-*, snapshot, settled, figure, run-ended)."""

SAMPLE_JSON = struct(at_ns=COUNT, node=TEXT, values=MapType(TEXT, NUMBER))
"""One line of ``metrics.jsonl``; a metric that a node does not have yet is null."""

EXECUTED_JSON = struct(node=TEXT, class_name=TEXT, class_id=TEXT, executed=ArrayType(COUNT))
"""One line of ``exercise.jsonl``."""

ZNODE_JSON = struct(at_ns=COUNT, path=TEXT, data=TEXT, version=COUNT, mzxid=COUNT)
"""One line of ``znodes.jsonl``; a znode that is not there has version -1."""

IMAGE_JSON = struct(source=TEXT, known=TEXTS, topics=MapType(TEXT, TEXT), partitions=MapType(TEXT, TEXT))
"""``metadata/<label>.json``; of topics and partitions only the number is used."""

FACTS_MAP = MapType(TEXT, TEXT)
"""A verdict's facts by name."""
