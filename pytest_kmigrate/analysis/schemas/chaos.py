"""Nights of schedules: what was carried out, what happened, and what that says of each cell."""

from pyspark.sql.types import StructType

from pytest_kmigrate.analysis.schemas.columns import COUNT, FLAG, NUMBER, TEXT, TEXTS, struct

HAPPENING_JSON = struct(
    id=COUNT,
    act=TEXT,
    fault=struct(kind=TEXT, target=TEXT, source=TEXT, destination=TEXT, groups=TEXTS, point=TEXT, path=TEXT),
    begin=struct(state=TEXT, of=COUNT),
)
"""A happening of a line, as far as cells are made of it."""

SCHEDULE_JSON = struct(document=TEXT, topology=TEXT, starts_at=TEXT, walk=TEXTS, seed=TEXT, happenings=TEXT)
"""``extra.schedule`` of ``run.json``."""

NIGHT_JSON = struct(
    digest=TEXT, seed=TEXT, line=COUNT, lines=COUNT, shard=COUNT, shards=COUNT, shrinks=TEXT, signature=TEXT
)
"""``extra.night`` of ``run.json``."""

_NIGHT = {"night": TEXT, "line": COUNT, "lines": COUNT, "shard": COUNT, "shards": COUNT}

SCHEDULES: dict[str, StructType] = {
    "schedules": struct(
        folder=TEXT,
        document=TEXT,
        topology=TEXT,
        starts_at=TEXT,
        walk=TEXTS,
        happenings=COUNT,
        **_NIGHT,
        shrinks=TEXT,
        signature=TEXT,
        schedule=TEXT,
        test=TEXT,
    ),
    "happenings": struct(
        folder=TEXT,
        number=COUNT,
        effect=TEXT,
        state=TEXT,
        aim=TEXT,
        of=COUNT,
        fault_id=TEXT,
        began_ns=COUNT,
        healed_ns=COUNT,
        is_begun=FLAG,
        is_witnessed=FLAG,
        witness=TEXT,
    ),
}
"""Facts, kept from one analysis to the next. ``state``: of the line, or, where it names none, the one it began in;
empty where the document has no walk. ``test``: how the test of a run ended, missing of one that was cut."""

CHAOS: dict[str, StructType] = {
    "chaos_cells": struct(
        profile=TEXT,
        kafka=TEXT,
        effect=TEXT,
        state=TEXT,
        aim=TEXT,
        runs=COUNT,
        begun=COUNT,
        witnessed=COUNT,
        answered=COUNT,
        conforming=COUNT,
        violating=COUNT,
        new_violating=COUNT,
        safety_violations=COUNT,
        known_bugs=TEXTS,
        low=NUMBER,
        high=NUMBER,
        median_s=NUMBER,
        why_unseen=TEXT,
        example=TEXT,
    ),
    "chaos_pairs": struct(
        profile=TEXT, kafka=TEXT, first=TEXT, second=TEXT, relation=TEXT, runs=COUNT, witnessed=COUNT, violating=COUNT
    ),
    "chaos_nights": struct(
        night=TEXT,
        profile=TEXT,
        lines=COUNT,
        carried_out=COUNT,
        missing=TEXTS,
        shards=COUNT,
        shards_seen=COUNT,
        is_whole=FLAG,
        seconds=NUMBER,
    ),
    "shrinks": struct(
        run_id=TEXT,
        signature=TEXT,
        runs=COUNT,
        replays=COUNT,
        shown=COUNT,
        p_low=NUMBER,
        p_high=NUMBER,
        happenings=COUNT,
        left=COUNT,
        seconds=NUMBER,
        schedule=TEXT,
        folder=TEXT,
    ),
}
"""Marts: ``answered`` are runs that conform or violate in which the fault was seen to bite."""
