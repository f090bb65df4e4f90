"""What changed between two Kafka versions: outcomes, tests, durations and failures, each with how sure that is."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypedDict

import numpy as np

from pytest_kmigrate.analysis.statistics.alignment import aligned
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.summary.estimates import corrected, fisher, interval, is_sure, median_interval, rank_sum
from pytest_kmigrate.reports.summary.rows import Row, by, count, grouped, number, release, worst

CHANGES = ("WORSE", "NEW", "BETTER", "GONE", "ONLY_A", "ONLY_B", "UNSURE", "SAME")
"""In the order of the report. UNSURE: the two differ, but so might two nights of one version."""

REAL = ("WORSE", "NEW", "BETTER", "GONE")
"""What two versions answer differently. NEW: a failure that ``a`` never met, or what is red and only ``b`` ran."""

ALONE = ("ONLY_A", "ONLY_B")
"""What one version alone was asked: no change, but often the most rows."""


Stratum = tuple[int, int, int, int]
"""What went wrong of how many on side ``a``, then on side ``b``, under conditions that both had."""


class Comparison(TypedDict):
    """Version ``a`` against version ``b``: a row per requirement, test, measure and failure cluster."""

    a: str
    b: str
    runs_a: int
    runs_b: int
    headline: str
    requirements: list[Row]
    tests: list[Row]
    durations: list[Row]
    clusters: list[Row]


def compare(tables: Mapping[str, list[Row]], a: str, b: str) -> Comparison:
    """Tell what changed from Kafka ``a`` to ``b``; raises WrongUseError when no run is of one of them."""
    attempts = tables.get("attempts", [])
    require_versions((each["kafka"] for each in attempts), a, b)
    of_tests = tables.get("tests", [])
    requirements = _rates(tables.get("requirements", []), tables.get("cells", []), ("requirement", "profile"), a, b)
    tests = _rates(of_tests, of_tests, ("test_id", "profile", "provider", "topology"), a, b)
    durations = _durations(tables.get("trends", []), a, b)
    clusters = _clusters(tables, a, b)
    return {
        "a": a,
        "b": b,
        "runs_a": sum(1 for each in attempts if each["kafka"] == a),
        "runs_b": sum(1 for each in attempts if each["kafka"] == b),
        "headline": _headline(a, b, requirements, tests, durations, clusters),
        "requirements": requirements,
        "tests": tests,
        "durations": durations,
        "clusters": clusters,
    }


def require_versions(seen: Iterable[object], a: str, b: str) -> None:
    """Raises WrongUseError unless ``a`` and ``b`` are two of the Kafka versions that were seen."""
    known = set(seen)
    if a == b or not {a, b} <= known:
        reported = ", ".join(sorted(map(str, known), key=release)) or "none"
        raise WrongUseError(
            f"--compare {a} {b}: expected two of the Kafka versions of these runs, which are: {reported}"
        )


def changed(rows: Sequence[Row], *changes: str) -> list[Row]:
    """The rows that changed so."""
    return [row for row in rows if row["change"] in changes]


def _rates(rows: Sequence[Row], parts: Sequence[Row], keys: tuple[str, ...], a: str, b: str) -> list[Row]:
    """Rows of statistics of both versions side by side, worst change first; compared are the ``parts`` they sum up."""
    reported, parts_of = [], grouped(parts, *keys)
    for key, mine in grouped([row for row in rows if row["kafka"] in (a, b)], *keys).items():
        of = {str(row["kafka"]): row for row in mine}
        sides = {"a": of.get(a), "b": of.get(b)}
        row: Row = dict(zip(keys, key, strict=True))
        for side, statistics in sides.items():
            row |= _side(statistics, side)
        strata = _strata(parts_of.get(key, []), a, b)
        reported.append(row | {"surplus_b": _surplus(strata), "p_value": fisher(*strata) if strata else None})
    return _in_order(_with_q(reported, _change_of_rates), *keys)


def _side(row: Row | None, side: str) -> Row:
    """One version's half of a row; the rate is that of violations among runs with an answer."""
    bad = count(row["violating"]) if row else 0
    answers = bad + (count(row["conforming"]) if row else 0)
    low, high = interval(bad, answers) if answers else (None, None)
    rates = {"rate": bad / answers if answers else None, "rate_low": low, "rate_high": high}
    counts = {
        "worst": worst(row) if row else None,
        "violating": bad,
        "answers": answers,
        "runs": count(row["runs"]) if row else 0,
    }
    return {f"{name}_{side}": value for name, value in {**counts, **rates}.items()}


def _strata(parts: Sequence[Row], a: str, b: str) -> list[Stratum]:
    """What violated of how many answers on either side, of each test on each kind of cluster that answered on both.

    Not by fault, phase or role: a run that breaks early meets none of them, and would be compared with nothing.
    """
    strata = []
    for mine in grouped(parts, "test_id", "provider", "topology").values():
        bad_a, bad_b = (sum(count(row["violating"]) for row in mine if row["kafka"] == side) for side in (a, b))
        good_a, good_b = (sum(count(row["conforming"]) for row in mine if row["kafka"] == side) for side in (a, b))
        if bad_a + good_a and bad_b + good_b:
            strata.append((bad_a, bad_a + good_a, bad_b, bad_b + good_b))
    return strata


def _surplus(strata: Iterable[Stratum]) -> float:
    """How many more fell to ``b`` than if the versions were alike in every stratum."""
    return sum(bad_b - (bad_a + bad_b) * of_b / (of_a + of_b) for bad_a, of_a, bad_b, of_b in strata)


def _change_of_rates(row: Row) -> str:
    """A first SAFETY violation is worse, however rare: a second lost record is not awaited.

    What is red and was not run before may be no change of Kafka, but an upgrade from ``a`` to ``b`` meets it.
    """
    if row["worst_b"] is None:
        return "ONLY_A"
    if row["worst_a"] is None:
        return "NEW" if count(row["violating_b"]) else "ONLY_B"
    if row["worst_b"] == "SAFETY" and row["worst_a"] != "SAFETY":
        return "WORSE"
    if row["p_value"] is None and row["rate_a"] != row["rate_b"]:
        return "UNSURE"
    if not row["surplus_b"]:
        return "SAME" if row["worst_a"] == row["worst_b"] else "UNSURE"
    return _direction(row, is_worse=(number(row["surplus_b"]) or 0.0) > 0)


def _direction(row: Row, *, is_worse: bool) -> str:
    if not is_sure(row):
        return "UNSURE"
    return "WORSE" if is_worse else "BETTER"


def _durations(trends: Sequence[Row], a: str, b: str) -> list[Row]:
    """Every timed thing of both versions: medians with intervals, and whether one version is slower."""
    keys = ("measure", "name", "profile", "provider", "topology")
    known = [row for row in trends if number(row["value"]) is not None]
    reported = [
        {**dict(zip(keys, key, strict=True)), **_timed(of_both, b)}
        for key, mine in grouped(known, *keys).items()
        if (of_both := _of_both(mine, a, b))
    ]
    return _in_order(_with_q(reported, _change_of_times), *keys)


def _of_both(points: Sequence[Row], a: str, b: str) -> list[list[Row]]:
    """The points of either version, by test; what one version alone has is no base for a comparison."""
    of_either = grouped((point for point in points if point["kafka"] in (a, b)), "test_id")
    return [mine for mine in of_either.values() if {point["kafka"] for point in mine} == {a, b}]


def _timed(of_tests: Sequence[Sequence[Row]], b: str) -> Row:
    """Both sides' medians over the tests both ran; how many times as long is computed test by test."""
    values = np.array([number(row["value"]) for mine in of_tests for row in mine], np.float64)
    is_b = np.array([row["kafka"] == b for mine in of_tests for row in mine])
    test = np.repeat(np.arange(len(of_tests)), [len(mine) for mine in of_tests])
    level = aligned(values, test)
    row: Row = {}
    for side, on_side in (("a", ~is_b), ("b", is_b)):
        median, low, high = median_interval(values[on_side].tolist())
        row |= {f"median_{side}": median, f"low_{side}": low, f"high_{side}": high, f"runs_{side}": int(on_side.sum())}
    ratio = float(np.exp(np.median(level[is_b]) - np.median(level[~is_b])))
    p_value, surplus = rank_sum(level, is_b, test)
    return {**row, "ratio": ratio if row["median_a"] else None, "surplus_b": surplus, "p_value": p_value}


def _change_of_times(row: Row) -> str:
    """By ranks, as sure as it is: medians may stay where they are, or even fall, while a half takes much longer."""
    surplus = number(row["surplus_b"]) or 0.0
    return _direction(row, is_worse=surplus > 0) if surplus else "SAME"


def _clusters(tables: Mapping[str, list[Row]], a: str, b: str) -> list[Row]:
    """Every failure cluster that one of the two versions met, over the runs of those tests that met it and both ran.

    One that was met only in tests which one version alone ran is listed for that version, and compared with nothing.
    """
    counted = (run for run in tables.get("attempts", []) if not run["is_aside"])
    of_either = (run for run in counted if run["kafka"] in (a, b))
    of_tests = grouped(of_either, "test_id", "profile", "provider", "topology").values()
    place_of = {run["folder"]: (test, run["kafka"]) for test, mine in enumerate(of_tests) for run in mine}
    runs = Counter(place_of.values())
    members = grouped(tables.get("failure_members", []), "cluster")
    reported = []
    for cluster in tables.get("failure_clusters", []):
        folders = {member["folder"] for member in members.get((cluster["cluster"],), [])}
        met = Counter(place_of[folder] for folder in folders if folder in place_of)
        strata = [
            (met[test, a], runs[test, a], met[test, b], runs[test, b]) for test in sorted({test for test, _ in met})
        ]
        of_both = [each for each in strata if each[1] and each[3]]
        if strata:
            named = {name: cluster[name] for name in ("cluster", "representative")}
            reported.append({**named, **_met(of_both or strata), "p_value": fisher(*of_both) if of_both else None})
    return _in_order(_with_q(reported, _change_of_cluster), "cluster")


def _met(strata: Sequence[Stratum]) -> Row:
    """In how many runs of how many on each side."""
    sums = (sum(each) for each in zip(*strata, strict=True))
    counts: Row = dict(zip(("runs_a", "of_a", "runs_b", "of_b"), sums, strict=True))
    return {**counts, "surplus_b": _surplus(strata)}


def _change_of_cluster(row: Row) -> str:
    if row["p_value"] is None and not (row["runs_a"] and row["runs_b"]):
        return "ONLY_A" if row["runs_a"] else "ONLY_B"
    if is_sure(row) and not row["runs_a"]:
        return "NEW"
    if is_sure(row) and not row["runs_b"]:
        return "GONE"
    return _direction(row, is_worse=(number(row["surplus_b"]) or 0.0) > 0)


def _with_q(rows: Sequence[Row], change: Callable[[Row], str]) -> list[Row]:
    """Correct the p-values of one family for their number, then say of each row what changed."""
    tested = [row for row in rows if row["p_value"] is not None]
    q_values = iter(corrected([number(row["p_value"]) or 0.0 for row in tested]))
    reported = [{**row, "q_value": None if row["p_value"] is None else next(q_values)} for row in rows]
    return [{**row, "change": change(row)} for row in reported]


def _in_order(rows: Sequence[Row], *keys: str) -> list[Row]:
    return sorted(rows, key=lambda row: (CHANGES.index(str(row["change"])), *by("q_value", *keys)(row)))


def _headline(
    a: str, b: str, requirements: Sequence[Row], tests: Sequence[Row], durations: Sequence[Row], clusters: Sequence[Row]
) -> str:
    """The one sentence to take away."""
    said = []
    for noun, rows in (("requirement", requirements), ("test", tests), ("duration", durations)):
        for change in ("WORSE", "BETTER"):
            found = len(changed(rows, change))
            said += [f"{found} {noun}{'s' * (found != 1)} {change.lower()}"] if found else []
    for noun, rows in (("requirement", requirements), ("test", tests)):
        found = len(changed(rows, "NEW"))
        said += [f"{found} {noun}{'s' * (found != 1)} violated that only {b} ran"] if found else []
    for change in ("NEW", "GONE"):
        found = len(changed(clusters, change))
        said += [f"{found} failure{'s' * (found != 1)} {change.lower()}"] if found else []
    return f"Kafka {a} to {b}: {', '.join(said) or 'nothing changed that is more than chance'}"
