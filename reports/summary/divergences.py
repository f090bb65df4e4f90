"""Divergences of the metadata as a report lists them: per version, two sides and family of metadata."""

from collections.abc import Sequence

from pytest_kmigrate.reports.summary.rows import Row, by, grouped, number, release

SIDES = {"zookeeper": "ZooKeeper", "metadata-log": "metadata log", "admin": "brokers"}
"""Where an image came from, in the words of people."""


def divergence_classes(divergences: Sequence[Row], attempts: Sequence[Row]) -> list[Row]:
    """How many differences of which family, in how many runs, how long they lasted, and the one that lasted longest.

    The longest lasted between ``at_least_ms`` and ``at_most_ms``; the longest time is unknown when some are
    ``unended``: the last images still showed them.
    """
    run_of = {attempt["folder"]: attempt for attempt in attempts}
    reported = [
        {**each, "kafka": run["kafka"], "timeline": run["timeline"]}
        for each in divergences
        if (run := run_of.get(each["folder"])) is not None
    ]
    keys = ("kafka", "left", "right", "family")
    rows = [{**dict(zip(keys, key, strict=True)), **_longest(mine)} for key, mine in grouped(reported, *keys).items()]
    return sorted(rows, key=lambda row: (*by("left", "right", "family")(row), release(row["kafka"])))


def _longest(mine: Sequence[Row]) -> Row:
    at_most_ms = [number(row["at_most_ms"]) for row in mine]
    ended = [most for most in at_most_ms if most is not None]
    longest = max(mine, key=lambda row: (row["at_most_ms"] is None, number(row["at_least_ms"]) or 0.0))
    shown = ("subject", "left_value", "right_value", "first_moment", "timeline")
    return {
        "differences": len(mine),
        "runs": len({row["folder"] for row in mine}),
        "unended": len(mine) - len(ended),
        "at_least_ms": max(number(row["at_least_ms"]) or 0.0 for row in mine),
        "at_most_ms": max(ended) if len(ended) == len(mine) else None,
        **{name: longest[name] for name in shown},
    }
