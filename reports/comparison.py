"""What changed between two Kafka versions: outcomes, tests, durations and failures, each with how sure that is."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.estimates import corrected, fisher, is_sure, median_interval, rank_sum, wilson
from pytest_kmigrate.reports.rows import Row, by, count, grouped, number, release, worst

CHANGES = ("WORSE", "NEW", "BETTER", "GONE", "ONLY_A", "ONLY_B", "UNSURE", "SAME")
"""In the order they are told. UNSURE: the two differ, but so might two nights of one version."""

REAL = ("WORSE", "NEW", "BETTER", "GONE")
"""What two versions answer differently."""

ALONE = ("ONLY_A", "ONLY_B")
"""What one version alone was asked: no change, but often the most rows."""


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
    runs = {version: [each for each in attempts if each["kafka"] == version] for version in (a, b)}
    if a == b or not (runs[a] and runs[b]):
        seen = ", ".join(sorted({str(each["kafka"]) for each in attempts}, key=release)) or "none"
        raise WrongUseError(f"--compare {a} {b}: expected two of the Kafka versions of these runs, which are: {seen}")
    requirements = _rates(tables.get("requirements", []), ("requirement", "profile"), a, b)
    tests = _rates(tables.get("tests", []), ("test_id", "profile", "provider", "topology"), a, b)
    durations = _durations(tables.get("trends", []), a, b)
    clusters = _clusters(tables, runs[a], runs[b])
    return {
        "a": a,
        "b": b,
        "runs_a": len(runs[a]),
        "runs_b": len(runs[b]),
        "headline": _headline(a, b, requirements, tests, durations, clusters),
        "requirements": requirements,
        "tests": tests,
        "durations": durations,
        "clusters": clusters,
    }


def changed(rows: Sequence[Row], *changes: str) -> list[Row]:
    """The rows that changed so."""
    return [row for row in rows if row["change"] in changes]


def _rates(rows: Sequence[Row], keys: tuple[str, ...], a: str, b: str) -> list[Row]:
    """Rows of statistics of both versions side by side, worst change first."""
    told = []
    for key, mine in grouped([row for row in rows if row["kafka"] in (a, b)], *keys).items():
        of = {str(row["kafka"]): row for row in mine}
        sides = {"a": of.get(a), "b": of.get(b)}
        row: Row = dict(zip(keys, key, strict=True))
        for side, statistics in sides.items():
            row |= _side(statistics, side)
        told.append(row | {"p_value": _p_of_rates(row) if all(sides.values()) else None})
    return _in_order(_with_q(told, _change_of_rates), *keys)


def _side(row: Row | None, side: str) -> Row:
    """One version's half of a row; the rate is that of violations among runs with an answer."""
    bad = count(row["violating"]) if row else 0
    answers = bad + (count(row["conforming"]) if row else 0)
    low, high = wilson(bad, answers) if answers else (None, None)
    rates = {"rate": bad / answers if answers else None, "rate_low": low, "rate_high": high}
    counts = {
        "worst": worst(row) if row else None,
        "violating": bad,
        "answers": answers,
        "runs": count(row["runs"]) if row else 0,
    }
    return {f"{name}_{side}": value for name, value in {**counts, **rates}.items()}


def _p_of_rates(row: Row) -> float:
    return fisher(*(count(row[name]) for name in ("violating_a", "answers_a", "violating_b", "answers_b")))


def _change_of_rates(row: Row) -> str:
    """A first SAFETY violation is worse, however rare: nobody waits for a second lost record."""
    if row["worst_a"] is None or row["worst_b"] is None:
        return "ONLY_B" if row["worst_a"] is None else "ONLY_A"
    if row["worst_b"] == "SAFETY" and row["worst_a"] != "SAFETY":
        return "WORSE"
    rate_a, rate_b = number(row["rate_a"]), number(row["rate_b"])
    if rate_a is None or rate_b is None or rate_a == rate_b:
        return "SAME" if row["worst_a"] == row["worst_b"] else "UNSURE"
    return _direction(row, is_worse=rate_b > rate_a)


def _direction(row: Row, *, is_worse: bool) -> str:
    if not is_sure(row):
        return "UNSURE"
    return "WORSE" if is_worse else "BETTER"


def _durations(trends: Sequence[Row], a: str, b: str) -> list[Row]:
    """Every timed thing of both versions: medians with intervals, and whether one version is slower."""
    keys = ("measure", "name", "profile", "provider", "topology")
    told = []
    for key, mine in grouped([row for row in trends if row["kafka"] in (a, b)], *keys).items():
        values = {side: _values(mine, version) for side, version in (("a", a), ("b", b))}
        if not all(values.values()):
            continue
        row: Row = dict(zip(keys, key, strict=True))
        for side, taken in values.items():
            median, low, high = median_interval(taken)
            row |= {f"median_{side}": median, f"low_{side}": low, f"high_{side}": high, f"runs_{side}": len(taken)}
        before, after = number(row["median_a"]), number(row["median_b"])
        row["ratio"] = after / before if before and after is not None else None
        told.append(row | {"p_value": rank_sum(values["a"], values["b"])})
    return _in_order(_with_q(told, _change_of_medians), *keys)


def _values(rows: Sequence[Row], version: str) -> list[float]:
    return [value for row in rows if row["kafka"] == version and (value := number(row["value"])) is not None]


def _change_of_medians(row: Row) -> str:
    before, after = number(row["median_a"]), number(row["median_b"])
    if before is None or after is None or before == after:
        return "SAME"
    return _direction(row, is_worse=after > before)


def _clusters(tables: Mapping[str, list[Row]], runs_a: Sequence[Row], runs_b: Sequence[Row]) -> list[Row]:
    """Every failure cluster that one of the two versions met: in how many of its runs."""
    folders = {"a": {run["folder"] for run in runs_a}, "b": {run["folder"] for run in runs_b}}
    members = grouped(tables.get("failure_members", []), "cluster")
    told = []
    for cluster in tables.get("failure_clusters", []):
        mine = {member["folder"] for member in members.get((cluster["cluster"],), [])}
        met = {side: len(mine & of_version) for side, of_version in folders.items()}
        if not any(met.values()):
            continue
        row: Row = {"cluster": cluster["cluster"], "representative": cluster["representative"]}
        row |= {f"runs_{side}": runs for side, runs in met.items()}
        row |= {f"of_{side}": len(of_version) for side, of_version in folders.items()}
        told.append(row | {"p_value": fisher(met["a"], len(folders["a"]), met["b"], len(folders["b"]))})
    return _in_order(_with_q(told, _change_of_cluster), "cluster")


def _change_of_cluster(row: Row) -> str:
    in_a, in_b = count(row["runs_a"]), count(row["runs_b"])
    if not in_a:
        return "NEW"
    if not in_b:
        return "GONE"
    return _direction(row, is_worse=in_b / count(row["of_b"]) > in_a / count(row["of_a"]))


def _with_q(rows: Sequence[Row], change: Callable[[Row], str]) -> list[Row]:
    """Correct the p-values of one family for their number, then say of each row what changed."""
    tested = [row for row in rows if row["p_value"] is not None]
    q_values = iter(corrected([number(row["p_value"]) or 0.0 for row in tested]))
    told = [{**row, "q_value": None if row["p_value"] is None else next(q_values)} for row in rows]
    return [{**row, "change": change(row)} for row in told]


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
    for change in ("NEW", "GONE"):
        found = len(changed(clusters, change))
        said += [f"{found} failure{'s' * (found != 1)} {change.lower()}"] if found else []
    return f"Kafka {a} to {b}: {', '.join(said) or 'nothing changed that is more than chance'}"
