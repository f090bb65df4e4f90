"""Consistency: every class of anomaly against every version, with counterexamples and how much was checked."""

from collections.abc import Sequence

from pytest_kmigrate.reports.pages.charts import rate
from pytest_kmigrate.reports.pages.drawing import (
    Cell,
    amount,
    chip,
    colour,
    cut,
    duration,
    link,
    mark,
    measured,
    short,
    table,
    text,
    unfolding,
)
from pytest_kmigrate.reports.site.views import (
    MOST_ROWS,
    NO_VERSION,
    Site,
    View,
    empty,
    fine,
    number_cell,
    section,
    shown,
    table_of,
)
from pytest_kmigrate.reports.summary.divergences import SIDES
from pytest_kmigrate.reports.summary.estimates import interval
from pytest_kmigrate.reports.summary.rows import Row, count, grouped, kafka_of, known, level_of, listed, number, plural
from pytest_kmigrate.reports.summary.versions import runs_checked

_LASTED = (
    "Images are instants: a difference lasted at least from the first that shows it to the last, at most from the one "
    "before to the one after. The bounds are of the longest; one that was never seen to end has no upper one."
)

_UNITS_OF_TIME = ("_ms", "_s", "_ns")
"""A fact so named is a span or a moment: its largest value means something, its total nothing."""


def consistency(site: Site) -> View:
    """Anomalies by class and version, their counterexamples, and what each check said."""
    lead = "What was found in the histories of all runs, and over how much evidence."
    parts = [_operations(site), _controllers(site), _counterexamples(site), _divergences(site)]
    parts += [_checks(site.summary["consistency"])]
    content = "".join(parts)
    return View("consistency", "Consistency", lead, content)


def _operations(site: Site) -> str:
    """What clients saw go wrong, and nothing else: the first question is whether data is safe."""
    rows, title = [row for row in _anomalies(site) if row["of_clients"]], "Anomalies of client operations"
    checked = sum(count(version["operations"]) for version in site.summary["versions"])
    if not rows:
        reported = (
            f"None in {amount(checked)} operations." if checked else "None, but no operations were counted either."
        )
        return section(title, (fine if checked else empty)(reported) + _allowed(site))
    lead = "How many, and in which share of the runs that would have shown it."
    over = [Cell("<b>operations checked</b>", "", "name"), Cell("")]
    over += [number_cell(version["operations"]) for version in site.summary["versions"]]
    return section(title, _matrix(site, rows, [over]) + _allowed(site), lead)


def _controllers(site: Site) -> str:
    """What else checks found in histories, and nothing known explains: controllers, znodes, metrics, identities."""
    rows = [row for row in _anomalies(site) if not row["of_clients"]]
    return (
        section(
            "Other findings",
            _matrix(site, rows, []),
            "Of controllers, nodes and znodes; what is known is under Requirements.",
        )
        if rows
        else ""
    )


def _matrix(site: Site, rows: Sequence[Row], below: Sequence[Sequence[Cell]]) -> str:
    versions = site.summary["versions"]
    heads = ("Anomaly", "Kind", *(kafka_of(version["kafka"]) or NO_VERSION for version in versions))
    drawn = []
    for (name, kind), mine in grouped(rows, "class", "kind").items():
        of = {row["kafka"]: row for row in mine}
        cells = [_found(of.get(version["kafka"]), runs_checked(version, str(name))) for version in versions]
        drawn.append([Cell(f"<b>{text(name)}</b>", name, "name"), Cell(chip(kind)), *cells])
    return f'<div class="matrix">{table(heads, [*drawn, *below])}</div>'


def _anomalies(site: Site) -> list[Row]:
    return [row for row in site.summary["anomaly_classes"] if row["kind"]]


def _allowed(site: Site) -> str:
    """What was seen and is no anomaly, so that it is not taken for one in the tables."""
    reported = [
        f"{text(row['class'])}: {amount(row['anomalies'])} in {plural(amount(row['runs']), 'run')} "
        f"({text(kafka_of(row['kafka']) or NO_VERSION)})"
        for row in site.summary["anomaly_classes"]
        if not row["kind"]
    ]
    return f'<p class="soft">Seen, and allowed by Kafka: {", ".join(reported)}.</p>' if reported else ""


def _found(row: Row | None, runs: int) -> Cell:
    if row is None:
        if not runs:
            return Cell('<span class="soft">not checked</span>', "")
        said = f"none in {plural(amount(runs), 'run')}"
        return Cell(f'{mark("CONFORMS", "none")} <span class="soft small">{said}</span>', 0)
    bad = count(row["runs"])
    # What was found was checked, even where the run itself had no time to.
    runs = max(runs, bad)
    share = rate(bad / runs, *interval(bad, runs), str(row["kind"]))
    return Cell(
        f"<b>{amount(row['anomalies'])}</b> in {plural(amount(bad), 'run')}<br>{share}", row["anomalies"], "rate"
    )


def _counterexamples(site: Site) -> str:
    rows = _anomalies(site)
    if not rows:
        return ""
    drawn = []
    for row in rows:
        reported = "".join(_counterexample(site, each) for each in listed(row["examples"]) if isinstance(each, dict))
        drawn.append(
            f'<article class="concern" style="--colour: {colour(row["kind"])}">'
            f"<header><h3>{text(row['class'])}</h3>{chip(row['kind'])}"
            f'<span class="soft small">{text(kafka_of(row["kafka"]))} · {amount(row["anomalies"])} in '
            f"{plural(amount(row['runs']), 'run')} · last {text(row['newest'])}</span></header>{reported}</article>"
        )
    return section("Counterexamples", "".join(drawn), "The shortest of each class and version.")


def _counterexample(site: Site, example: Row) -> str:
    partition = "" if example["partition"] is None else f"-{example['partition']}"
    moment = "" if example["at_ns"] is None else f"at {measured('at_ns', example['at_ns'])}"
    where = [text(each) for each in known(f"{example['topic'] or ''}{partition}", moment, example["evidence"])]
    where += [link(example["timeline"], "timeline")] if example["timeline"] else []
    test = site.about("test", example["test_id"], short(example["test_id"]))
    return f'<pre>{text(example["counterexample"])}</pre><p class="soft small">{" · ".join([test, *where])}</p>'


def _divergences(site: Site) -> str:
    """Where the sides of the metadata differed, and how long."""
    rows = site.summary["divergence_classes"]
    if not rows:
        return section("Metadata", empty(_agreed(site)))
    heads = ("What", "Sides", "Kafka", "Differences", "Runs", "Lasted at least", "At most", "Never seen to end")
    drawn = [
        [
            Cell(_difference(row), row["family"], "name"),
            Cell(text(" and ".join(_sides(row)))),
            Cell(shown(row["kafka"])),
            number_cell(row["differences"]),
            number_cell(row["runs"]),
            Cell(duration(row["at_least_ms"]), row["at_least_ms"], "number"),
            Cell(duration(row["at_most_ms"]) or "unknown", row["at_most_ms"], "number"),
            number_cell(row["unended"]),
        ]
        for row in rows[:MOST_ROWS]
    ]
    left_out = len(rows) - len(drawn)
    return section("Metadata", table_of(heads, drawn, left_out, "metadata_divergences"), f"{_LASTED} {_agreed(site)}")


def _agreed(site: Site) -> str:
    """How often runs waited for the sides to agree, and how long at most."""
    settlings = [row for row in site.summary["duration_statistics"] if row["what"] == "settling"]
    if not settlings:
        return "No run waited for the sides of the metadata to agree."
    times = sum(count(row["times"]) for row in settlings)
    longest = max(number(row["largest_ms"]) or 0.0 for row in settlings)
    return f"Runs waited {plural(times, 'time')} for all sides to agree, {duration(longest)} at most."


def _sides(row: Row) -> list[str]:
    return [SIDES.get(str(row[side]), str(row[side])) for side in ("left", "right")]


def _difference(row: Row) -> str:
    left, right = _sides(row)
    seen = [
        f"{side} {'nothing' if row[f'{name}_value'] is None else row[f'{name}_value']}"
        for side, name in ((left, "left"), (right, "right"))
    ]
    run = f" · {link(row['timeline'], 'timeline')}" if row["timeline"] else ""
    reported = f"{row['subject']} in {row['first_moment']}: {', '.join(seen)}"
    return f'<b>{text(row["family"])}</b><br><span class="soft small">{text(cut(reported))}{run}</span>'


def _checks(rows: Sequence[Row]) -> str:
    """What each check said in all runs together; the worst verdict wins."""
    if not rows:
        return section("Checks", empty("No check gave a verdict."))
    heads = ("Check", "Kafka", "Topology", "Merged verdict", "Findings", "Verdicts", "Inconclusive", "Evidence")
    drawn = [
        [
            Cell(
                f'<code>{text(row["check"])}</code><div class="soft small">{unfolding(row["example"])}</div>',
                row["check"],
                "name",
            ),
            Cell(shown(row["kafka"])),
            Cell(shown(row["topology"])),
            Cell(chip(level_of(row)), place),
            number_cell(row["anomalies"]),
            number_cell(row["verdicts"]),
            number_cell(row["inconclusive"]),
            Cell(_evidence(row["facts"])),
        ]
        for place, row in enumerate(rows[:MOST_ROWS])
    ]
    lead = "What each check said in all runs together; the worst verdict wins. Findings are what its verdicts count."
    return section("Checks", table_of(heads, drawn, len(rows) - len(drawn), "consistency"), lead)


def _evidence(facts: object) -> str:
    reported = []
    for name, values in facts.items() if isinstance(facts, dict) else ():
        unit = next((unit for unit in _UNITS_OF_TIME if name.endswith(unit)), "")
        said = f"up to {measured(name, values['largest'])}" if unit else amount(values["total"])
        reported.append(f"{name.removesuffix(unit).replace('_', ' ')} {said}")
    return f'<span class="small">{text(" · ".join(reported))}</span>'
