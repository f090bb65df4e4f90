"""Markdown: a report as a comment on a pull request. GitHub flavoured, and always short enough."""

from collections.abc import Callable, Sequence

from pytest_kmigrate.reports.pages.drawing import WORDS, amount, chance, measured
from pytest_kmigrate.reports.pages.markdown_comparison import compared
from pytest_kmigrate.reports.pages.markup import (
    MOST_ROWS,
    cell_code,
    code,
    escaped,
    in_percent,
    left_out,
    placed,
    share,
    short,
    table,
)
from pytest_kmigrate.reports.summary.estimates import is_sure, telling
from pytest_kmigrate.reports.summary.rows import (
    Row,
    began,
    clusters_of,
    day,
    is_worse,
    kafka_of,
    known,
    listed,
    number,
    plural,
    silent_beside,
    went_wrong,
    worst,
    worst_of,
    worst_runs,
)
from pytest_kmigrate.reports.summary.summary import Summary
from pytest_kmigrate.reports.summary.versions import safety_claim

Clusters = Callable[[Row], str]

MOST_BYTES = 60_000
"""GitHub refuses a comment of more than 65,536 characters."""

MOST_OF_A_KIND = 5
"""Violated requirements, anomalies and causes that a comment lists; the report has all."""


def report_markdown(summary: Summary) -> str:
    """The headline, what changed if versions were compared, what needs a human; then of all else the worst."""
    comparison, on_cluster = summary["comparison"], clusters_of(summary["attempts"])
    return _within_limit(
        [
            f"# {escaped(summary['headline'])}",
            _counts(summary),
            *(compared(comparison, on_cluster) if comparison else []),
            _attention(summary["attention"]),
            _versions(summary["versions"]),
            _requirements(summary["requirements"], on_cluster),
            _anomalies(summary["anomaly_classes"]),
            _flakes(summary["flakiness"], on_cluster),
            *_changes(summary["change_points"], summary["trend_changes"], on_cluster),
            _causes(summary),
            _nights(summary["infra_nights"]),
            f"Made by {code(summary['about']['command'])}; more is in `index.html` and `report.json`.",
        ]
    )


def _within_limit(parts: Sequence[str]) -> str:
    """As many parts as fit: the last ones are the least urgent, and one is never cut in the middle."""
    kept, size = [], 0
    reported = "More than fits here is in the report itself."
    for part in parts:
        size += len(part.encode()) + 2
        if size > MOST_BYTES - len(reported) - 2:
            kept.append(reported)
            break
        kept += [part] if part else []
    return "\n\n".join(kept) + "\n"


def _counts(summary: Summary) -> str:
    totals = summary["totals"]
    ends = totals["outcomes"]
    rows = [
        [
            amount(totals["runs"]),
            amount(ends["CONFORMS"]),
            amount(ends["VIOLATES"]),
            amount(totals["safety_violations"]),
            amount(ends["INCONCLUSIVE"]),
            amount(totals["flaky_tests"]),
            amount(totals["set_aside"]),
        ]
    ]
    heads = ("Runs", "Conform", "Violate", "Of these safety", "Inconclusive", "Flaky tests", "Set aside")
    kafka = kafka_of(*totals["kafka"])
    return "\n\n".join([*([escaped(kafka)] if kafka else []), table(heads, rows)])


def _attention(concerns: Sequence[Row]) -> str:
    if not concerns:
        return "## Needs a human\n\nNothing. Every test that gave an answer conforms."
    listed = [
        f"- **{WORDS[str(row['level'])]}** {code(short(row['title']))}{_in(row)}: "
        f"{escaped(row['detail'])}{_example(row)}"
        for row in concerns[:MOST_ROWS]
    ]
    return "## Needs a human\n\n" + "\n".join(listed) + left_out(len(concerns))


def _in(concern: Row) -> str:
    return f" ({escaped(concern['condition'])})" if concern["condition"] else ""


def _example(concern: Row) -> str:
    return f"\n  {code(concern['example'])}" if concern["example"] else ""


def _flakes(flakiness: Sequence[Row], on_cluster: Clusters) -> str:
    flaky = [row for row in flakiness if row["standing"] == "FLAKY"]
    if not flaky:
        return ""
    heads = ("Test", "Kafka", "Fault, phase", "Fails, 95 % interval", "Runs", "Decision", "Clean runs still needed")
    rows = [
        [
            cell_code(placed(short(row["test_id"]), on_cluster(row))),
            escaped("".join(known(row["kafka"]))),
            cell_code(" ".join(dict.fromkeys(known(row["fault"], row["phase"], row["role"])))),
            share(row["shrunk_rate"], row["shrunk_low"], row["shrunk_high"]),
            amount(row["runs"]),
            WORDS.get(str(row["decision"]), escaped(row["decision"])),
            amount(row["more_runs_needed"]),
        ]
        for row in flaky[:MOST_ROWS]
    ]
    return f"## Flakes\n\n{table(heads, rows)}{left_out(len(flaky))}"


def _versions(versions: Sequence[Row]) -> str:
    reported = [row for row in versions if known(row["kafka"])]
    if not reported:
        return ""
    heads = ("Kafka", "Runs", "Violating, 95 % interval", "Safety", "Operations checked")
    rows = [
        [
            escaped(row["kafka"]),
            amount(row["runs"]),
            "no answer" if row["rate"] is None else share(row["rate"], row["rate_low"], row["rate_high"]),
            escaped(safety_claim(row)),
            amount(row["operations"]),
        ]
        for row in reported[:MOST_ROWS]
    ]
    return f"## Versions\n\n{table(heads, rows)}{left_out(len(reported))}"


def _requirements(requirements: Sequence[Row], on_cluster: Clusters) -> str:
    violated = [row for row in requirements if worst(row) in ("SAFETY", "VIOLATES")]
    reported = [
        f"- {code(row['requirement'])} **{WORDS[worst(row)]}** in {_worst_of_all(row)} "
        f"({escaped(' · '.join(known(kafka_of(row['kafka']), on_cluster(row))))}), "
        f"by {', '.join(code(check) for check in listed(row['violated_by']))}"
        for row in violated
    ]
    return _few("Requirements violated", reported)


def _worst_of_all(row: Row) -> str:
    """In how many runs the worst was seen, and where that broke SAFETY how many violated at all."""
    all_red = f", {amount(row['violating'])} violate" if worst(row) == "SAFETY" else ""
    beside = f"; {silent_beside(row)}" if silent_beside(row) else ""
    return f"{amount(worst_runs(row))} of {plural(amount(worst_of(row)), 'run')}{all_red}{beside}"


def _anomalies(classes: Sequence[Row]) -> str:
    reported = [
        f"- {escaped(row['class'])}, {escaped(str(row['kind']))}: {amount(row['anomalies'])} in "
        f"{plural(amount(row['runs']), 'run')} ({escaped(kafka_of(row['kafka']))})"
        + "".join(
            f"\n  {code(each['counterexample'])}" for each in listed(row["examples"])[:1] if isinstance(each, dict)
        )
        for row in classes
        # What Kafka allows has no kind.
        if row["kind"] and row["of_clients"]
    ]
    return _few("Anomalies of client operations", reported)


def _causes(summary: Summary) -> str:
    """The likeliest cause of each failure that has a sure one."""
    said = {row["cluster"]: row["representative"] for row in summary["failure_clusters"]}
    likeliest = {row["failure"]: row for row in reversed(telling(summary["causes"]))}
    sure = [row for row in likeliest.values() if is_sure(row)]
    reported = [
        f"- {code(said.get(row['failure'], row['failure']))} goes along with {code(row['level'])}: "
        f"{amount(row['with_failures'])} of {plural(amount(row['with_runs']), 'run')} with it, "
        f"{amount(row['without_failures'])} of {amount(row['without_runs'])} without "
        f"(q {escaped(chance(row['q_value']))}{_apartness(row)})"
        for row in sorted(sure, key=lambda row: number(row["q_value"]) or 0.0)
    ]
    return _few("Causes", reported)


def _apartness(row: Row) -> str:
    if row["tests_compared"]:
        return ""
    return (
        f"; only ever seen in {code(short(row['only_in']))}" if row["only_in"] else "; by tests, none was run both ways"
    )


def _few(title: str, reported: Sequence[str]) -> str:
    if not reported:
        return ""
    return f"## {title}\n\n" + "\n".join(reported[:MOST_OF_A_KIND]) + left_out(len(reported), MOST_OF_A_KIND)


def _changes(change_points: Sequence[Row], trend_changes: Sequence[Row], on_cluster: Clusters) -> list[str]:
    """What got worse, and apart from it what got better."""
    flips = [(is_worse(row), _flip(row, on_cluster(row))) for row in change_points]
    moved = [(row["direction"] == "WORSE", _moved(row, on_cluster(row))) for row in trend_changes]
    parts = []
    for title, wanted in (("Got worse", True), ("Got better", False)):
        reported = [line for is_worse, line in (*flips, *moved) if is_worse is wanted]
        parts += [f"## {title}\n\n" + "\n".join(reported[:MOST_ROWS]) + left_out(len(reported))] if reported else []
    return parts


def _flip(row: Row, cluster: str) -> str:
    return (
        f"- {code(placed(short(row['test_id']), cluster))} violates in {in_percent(row['rate_after'])} of its runs "
        f"since {escaped(began(row))}, before in {in_percent(row['rate_before'])} (p {escaped(chance(row['p_value']))})"
    )


def _moved(row: Row, cluster: str) -> str:
    before, after = (measured(row["measure"], row[f"median_{when}"]) for when in ("before", "after"))
    return (
        f"- {code(placed(row['name'], cluster))} since {escaped(began(row))}: median {before} to {after} "
        f"(p {escaped(chance(row['p_value']))})"
    )


def _nights(nights: Sequence[Row]) -> str:
    if not nights:
        return ""
    listed = ", ".join(f"{day(row['night'])} ({went_wrong(row)})" for row in nights[:MOST_ROWS])
    return f"Infra nights, not held against any test: {listed}."
