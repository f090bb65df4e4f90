"""Causes: what goes with each failure more often than chance would have it, and what every fault came to."""

from collections.abc import Callable, Sequence

from pytest_kmigrate.catalogue import find_bug
from pytest_kmigrate.reports.pages.charts import lift
from pytest_kmigrate.reports.pages.drawing import (
    Cell,
    amount,
    breakable,
    chance,
    cut,
    folded,
    table,
    text,
    unfolding,
)
from pytest_kmigrate.reports.site.views import (
    MOST_ROWS,
    Site,
    View,
    below,
    bug_chip,
    empty,
    number_cell,
    rest,
    section,
    shown,
    table_of,
)
from pytest_kmigrate.reports.summary.estimates import is_sure, telling
from pytest_kmigrate.reports.summary.rows import Row, count, grouped, listed, number, plural

MOST_FAILURES = 40
LIFT_HEADS = ("Lift, 95 % interval", "With it", "Without it", "q")
_MOST_LEVELS = 8
_KNOWN = "Known defects and departures of Kafka"
_NOTHING_SURE = "Nothing is sure: whatever goes along may do so by chance, as among so many comparisons some must."
_LEAD = (
    "Lift: how many times more often a failure comes with this than without. The scale doubles; the dashed line is "
    "no difference. q: the share of false alarms if all down to here were called causes; "
    "what has more than 0.05 is grey and folded away. Runs are compared with others of their test where a test that "
    "failed so was run both ways; where none was, it is stated, and for q tests are counted instead of runs."
)


def causes(site: Site) -> View:
    """Failures with what goes along with them, then known bugs, then all faults."""
    ranking = _ranking(site, telling(site.summary["causes"]))
    content = ranking + _bugs(site.summary["bugs"]) + _faults(site.summary["fault_effects"])
    return View("causes", "Causes", _LEAD, content)


def causes_table(rows: Sequence[Row]) -> str:
    """What goes with one failure, likeliest first; what may be chance is folded away."""
    sure, unsure = ([row for row in rows if is_sure(row) is wanted] for wanted in (True, False))
    drawn = _table(sure) if sure else empty(_NOTHING_SURE)
    title = f"{amount(len(unsure))}{' more' * bool(sure)} that may be chance"
    return drawn + (folded(title, _table(unsure)) if unsure else "")


def _table(rows: Sequence[Row]) -> str:
    drawn = [[Cell(_circumstance(row), row["level"], "name"), *lift_cells(row)] for row in rows[:_MOST_LEVELS]]
    return table_of(("With", *LIFT_HEADS), drawn, len(rows) - len(drawn), "causes")


def lift_cells(row: Row) -> list[Cell]:
    """How many times more often a failure comes with a thing, of how many runs, and how surely that is no chance."""
    return [
        Cell(lift(row), row["lift"], "rate"),
        Cell(_share(row["with_failures"], row["with_runs"]), row["with_failures"], "number"),
        Cell(_share(row["without_failures"], row["without_runs"]), row["without_failures"], "number"),
        Cell(_q(row), row["q_value"], "number"),
    ]


def apartness(row: Row) -> str:
    """Whether any test distinguishes a thing from the test itself; nothing where one does."""
    if row["tests_compared"]:
        return ""
    only = f"only ever seen in {row['only_in']}: cannot be distinguished from that test" if row["only_in"] else ""
    return below(only or "no test that failed so was run both with and without it: whole tests are compared")


def _circumstance(row: Row) -> str:
    """What was there, and what else always was when it was: no count can distinguish them."""
    others = ", ".join(str(other) for other in listed(row.get("inseparable")))
    together = f'<br><span class="soft small">always together with {text(others)}</span>' if others else ""
    return (
        f'<b>{text(row["level"])}</b> <span class="soft small">{text(row["factor"])}</span>{together}{apartness(row)}'
    )


def _ranking(site: Site, rows: Sequence[Row]) -> str:
    if not rows:
        return empty("Nothing failed often enough to say what goes along with it.")
    failures = sorted(grouped(rows, "failure").values(), key=_least_q)
    sure = [mine for mine in failures if any(map(is_sure, mine))]
    reported = _headed(site, sure, causes_table) if sure else empty(_NOTHING_SURE)
    unsure = failures[len(sure) :]
    title = f"{plural(len(unsure), 'failure')} of which nothing is sure"
    return reported + (folded(title, _headed(site, unsure, _table)) if unsure else "")


def _headed(site: Site, failures: Sequence[Sequence[Row]], drawn: Callable[[Sequence[Row]], str]) -> str:
    clusters = {row["cluster"]: row for row in site.summary["failure_clusters"]}
    reported = []
    for mine in failures[:MOST_FAILURES]:
        failure = mine[0]["failure"]
        cluster = clusters.get(failure)
        said = text(cut(cluster["representative"])) if cluster else f"<code>{text(failure)}</code>"
        reported.append(f"<h3>{site.about('cluster', failure, said)}</h3>{drawn(mine)}")
    return "".join(reported) + rest(len(failures) - len(reported), len(reported), "causes")


def _least_q(rows: Sequence[Row]) -> float:
    known = [q for row in rows if (q := number(row["q_value"])) is not None]
    return min(known, default=1.0)


def _share(failures: object, runs: object) -> str:
    return f'{amount(count(failures))} <span class="soft small">of {amount(count(runs))}</span>'


def _q(row: Row) -> str:
    said = chance(row["q_value"])
    return f"<b>{said}</b>" if is_sure(row) else f'<span class="soft">{said}</span>'


def _bugs(rows: Sequence[Row]) -> str:
    """Failures with a name, and what the catalogue knows of each."""
    if not rows:
        return ""
    heads = ("Known as", "Kafka", "Runs", "Seen by", "What was seen")
    drawn = [
        [
            Cell(bug_chip(row["bug"]) + _symptom(row["bug"]), row["bug"], "name"),
            Cell(shown(row["kafka"])),
            number_cell(row["runs"]),
            Cell(", ".join(f"<code>{breakable(check)}</code>" for check in listed(row["checks"])), css="fault"),
            Cell(f'<div class="small">{unfolding(row["example"])}</div>', css="said"),
        ]
        for row in rows
    ]
    return section(_KNOWN, table(heads, drawn))


def _symptom(name: object) -> str:
    """What a known bug does; nothing for one that this catalogue does not have."""
    bug = find_bug(str(name))
    return below(bug.symptom) if bug else ""


def _faults(rows: Sequence[Row]) -> str:
    if not rows:
        return section("Faults", empty("No run injected a fault."))
    heads = ("Fault", "Phase", "Kafka", "Injected", "Seen to bite", "Conforming runs", "Violating runs")
    counts = ("injected", "witnessed", "conforming", "violating")
    drawn = [
        [
            Cell(f"<code>{text(row['fault'])}</code>", row["fault"], "name"),
            Cell(shown(row["phase"])),
            Cell(shown(row["kafka"])),
            *[number_cell(row[name]) for name in counts],
        ]
        for row in rows[:MOST_ROWS]
    ]
    content = table_of(heads, drawn, len(rows) - len(drawn), "fault_effects")
    return section("Faults", content, "A fault that was never seen to take effect proves nothing.")
