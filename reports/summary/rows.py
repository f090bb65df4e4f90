"""Rows of tables as a report handles them: grouped, in order, and as many as one page can hold."""

import datetime as dt
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from packaging.version import InvalidVersion, Version

from pytest_kmigrate.checkers.grading import grade_of
from pytest_kmigrate.checkers.tally import Word

Row = dict[str, object]

CONDITION = ("profile", "provider", "kafka", "topology")
"""What a cluster was."""

CELL = ("test_id", *CONDITION, "fault", "phase", "role")
"""A test under equal conditions."""


SHAPE = tuple(name for name in ("test_id", *CONDITION) if name != "kafka")
"""A test on a kind of cluster, over all Kafka versions."""


SERIES = tuple(name for name in CELL if name != "kafka")
"""A test under equal conditions, over all Kafka versions."""


def changes_of(row: Row, changes: Iterable[Row]) -> list[Row]:
    """Those change points of a series that a row about one version is about: began with it, or last up to it."""
    return [each for each in changes if row["kafka"] in (each["since_kafka"], each["kafka"])]


def excused(attempt: Row) -> Row:
    """An attempt as it counts: whatever happened in an infra night is without an answer, save what broke SAFETY."""
    return {**attempt, "outcome": "INCONCLUSIVE", "kind": "INFRA"} if attempt.get("is_aside") else attempt


def level_of(attempt: Row) -> str:
    """What a run, or the verdicts of several, is shown as: the outcome as it counts, SAFETY where that was broken.

    Where known bugs explain all that a run violates it is DEFECT, or DEPARTURE where they are no defects.
    """
    counted = excused(attempt)
    bugs = [str(each) for each in listed(counted.get("known_bugs"))]
    if counted["outcome"] == "VIOLATES" and bugs:
        return "DEFECT" if any(grade_of(each) is Word.DEFECT for each in bugs) else "DEPARTURE"
    is_safety = counted["outcome"] == "VIOLATES" and counted["kind"] == "SAFETY"
    return "SAFETY" if is_safety else str(counted["outcome"])


UNKNOWN = "unknown"
"""The tables' value for what no run recorded: results of other tools know of no version, topology or fault."""

_DIGEST = re.compile(r"[0-9a-f]{20}(-\d+)?")


def known(*words: object) -> list[str]:
    """Those of some words that say anything."""
    return [str(word) for word in words if word not in (None, "", UNKNOWN)]


def kafka_of(*versions: object) -> str:
    """Kafka with its versions; nothing where no run recorded one."""
    reported = known(*versions)
    return f"Kafka {', '.join(reported)}" if reported else ""


def clusters_of(attempts: Sequence[Row]) -> Callable[[Row], str]:
    """What names the cluster of a row, whatever its Kafka version, as briefly as these runs allow.

    That is its topology; profile and provider only where the runs are of several.
    """
    several = [name for name in ("profile", "provider") if len({*known(*(each[name] for each in attempts))}) > 1]
    return lambda row: " · ".join(known(*(row.get(name) for name in ("topology", *several))))


def began_with(change: Row) -> str:
    """What was tested when a change began: its version, and its commit where runs have one."""
    commit = change.get("since_commit")
    return ", ".join([*known(kafka_of(change["since_kafka"])), *([f"commit {commit}"] if commit else [])])


def began(change: Row) -> str:
    """When a change began, and with what."""
    return ", ".join(known(day(change["since_at"]), began_with(change)))


def began_in(change: Row) -> str:
    """The run a change began with; nothing for a result of another tool, whose run has a digest for a name."""
    run = str(change["since_run"])
    return "" if _DIGEST.fullmatch(run) else run


def worse_since(change: Row) -> str:
    """With what a change for the worse began: its run, where that has a name, its day, version, commit and fault."""
    run, under = began_in(change), known(change["fault"])
    since = f"{run} ({began(change)})" if run else began(change)
    return f"worse since {since}" + (f" under {under[0]}" if under else "")


def is_worse(change: Row) -> bool:
    """Whether a change of a rate of violations is one for the worse."""
    before, after = number(change["rate_before"]), number(change["rate_after"])
    return before is not None and after is not None and after > before


def went_wrong(night: Row) -> str:
    """Of what an infra night had far too much, and out of how many runs."""
    wrong = "violating" if night["wrong"] == "violating" else "without an answer"
    return f"{night['wrong_runs']} of {night['judged_runs']} {wrong}"


def grouped(rows: Iterable[Row], *keys: str) -> dict[tuple[object, ...], list[Row]]:
    """Rows by the values of some columns, each group in the order of the rows."""
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return dict(groups)


def by(*keys: str) -> Callable[[Row], tuple[tuple[bool, float, str], ...]]:
    """Sort by these columns: numbers as numbers, all else as text, nulls last (not reversed: ``newest_first``)."""

    def order(value: object) -> tuple[bool, float, str]:
        known = number(value)
        return (value is None, 0.0 if known is None else known, "" if known is not None else str(value))

    return lambda row: tuple(order(row[key]) for key in keys)


def newest_first(rows: Iterable[Row], moment: str) -> list[Row]:
    """Rows by a column of moments, the newest first, and those without one last."""
    listed = list(rows)
    known = [row for row in listed if row[moment] is not None]
    return sorted(known, key=by(moment), reverse=True) + [row for row in listed if row[moment] is None]


def release(version: object) -> tuple[bool, Version, str]:
    """Sort Kafka versions as people do: 3.10 after 3.9, what is no version last."""
    try:
        return (False, Version(str(version)), "")
    except InvalidVersion:
        return (True, Version("0"), str(version))


def number(value: object) -> float | None:
    """A value as a number; None for what is none, and for what Spark calls not a number."""
    if not isinstance(value, int | float):
        return None
    return None if math.isnan(value) else float(value)


def count(value: object) -> int:
    """A count; nothing counted is none."""
    return int(number(value) or 0)


COUNTED_IN = {
    "SAFETY": "safety_violations",
    "VIOLATES": "violating",
    "INCONCLUSIVE": "inconclusive",
    "CONFORMS": "conforming",
    "NOT_APPLICABLE": "not_applicable",
}
"""What a run is shown as, worst first -> the column of a row of statistics that counts such runs."""


def worst(row: Row) -> str:
    """The worst outcome among the runs that a row of statistics counts; a SAFETY violation is worse than any other."""
    return next((level for level, column in COUNTED_IN.items() if count(row[column])), "NOT_APPLICABLE")


def worst_runs(row: Row) -> int:
    """In how many of the runs that a row of statistics counts the worst outcome came."""
    return count(row[COUNTED_IN[worst(row)]])


def answers(row: Row) -> int:
    """How many of the runs that a row of statistics counts gave an answer: of these every share is one."""
    return count(row["conforming"]) + count(row["violating"])


def worst_of(row: Row) -> int:
    """Of how many runs those with the worst outcome are a share: of those with an answer, if it is one."""
    return answers(row) if worst(row) in ("SAFETY", "VIOLATES", "CONFORMS") else count(row["runs"])


def silent_beside(row: Row) -> str:
    """Runs without an answer beside a share of those with one; nothing where there are none."""
    return f"{count(row['inconclusive'])} inconclusive" if row["inconclusive"] and worst(row) != "INCONCLUSIVE" else ""


def listed(value: object) -> list[object]:
    """A column of lists; null is empty."""
    return list(value) if isinstance(value, list | tuple) else []


def day(moment: object) -> str:
    """The day of a moment, as text."""
    return iso(moment)[:10]


def iso(moment: object) -> str:
    """A moment as ISO 8601 text."""
    return moment.isoformat() if isinstance(moment, dt.date) else str(moment or "")


def plural(amount: object, noun: str) -> str:
    """``1 run``, ``2 runs``."""
    return f"{amount} {noun}{'s' * (str(amount) != '1')}"


def plain(value: object) -> object:
    """A value as JSON can say it: moments as text, and null for what no number is."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dt.date):
        return value.isoformat()
    return value if value is None or isinstance(value, str | int) else str(value)
