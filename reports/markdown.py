"""Markdown: a report as a comment on a pull request. GitHub flavoured, and always short enough."""

import re
from collections.abc import Sequence

from pytest_kmigrate.reports.comparison import REAL, Comparison, changed
from pytest_kmigrate.reports.drawing import WORDS, amount, chance, measured, percent
from pytest_kmigrate.reports.rows import Row, began_with, count, day, number, went_wrong
from pytest_kmigrate.reports.summary import Summary

MOST_BYTES = 60_000
"""GitHub refuses a comment of more than 65,536 characters."""

MOST_ROWS = 15
_MOST_CHARACTERS = 160


def report_markdown(summary: Summary) -> str:
    """The headline, what changed if versions were compared, what needs a human, flakes and changes."""
    comparison = summary["comparison"]
    return _within_limit(
        [
            f"# {_escaped(summary['headline'])}",
            _counts(summary),
            *(_compared(comparison) if comparison else []),
            _attention(summary["attention"]),
            _flakes(summary["flakiness"]),
            _changes(summary["change_points"], summary["trend_changes"]),
            _nights(summary["infra_nights"]),
            f"Made by {_code(summary['about']['command'])}; more is in `index.html` and `report.json`.",
        ]
    )


def _within_limit(parts: Sequence[str]) -> str:
    """As many parts as fit: the last ones are the least urgent, and one is never cut in the middle."""
    kept, size = [], 0
    told = "More than fits here is in the report itself."
    for part in parts:
        size += len(part.encode()) + 2
        if size > MOST_BYTES - len(told) - 2:
            kept.append(told)
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
    return f"Kafka {_escaped(', '.join(totals['kafka']))}\n\n{_table(heads, rows)}"


def _attention(concerns: Sequence[Row]) -> str:
    if not concerns:
        return "## Needs a human\n\nNothing. Every test that gave an answer conforms."
    listed = [
        f"- **{WORDS[str(row['level'])]}** {_code(_short(row['title']))} ({_escaped(row['condition'])}): "
        f"{_escaped(row['detail'])}{_example(row)}"
        for row in concerns[:MOST_ROWS]
    ]
    return "## Needs a human\n\n" + "\n".join(listed) + _left_out(len(concerns))


def _example(concern: Row) -> str:
    return f"\n  {_code(concern['example'])}" if concern["example"] else ""


def _flakes(flakiness: Sequence[Row]) -> str:
    flaky = [row for row in flakiness if row["standing"] == "FLAKY"]
    if not flaky:
        return ""
    heads = ("Test", "Kafka", "Fault, phase", "Fails, 95 % interval", "Runs", "Decision", "Clean runs still needed")
    rows = [
        [
            _cell_code(_short(row["test_id"])),
            _cell(row["kafka"]),
            _cell_code(f"{row['fault']} {row['phase']}"),
            _share(row["shrunk_rate"], row["shrunk_low"], row["shrunk_high"]),
            amount(row["runs"]),
            WORDS.get(str(row["decision"]), _cell(row["decision"])),
            amount(row["more_runs_needed"]),
        ]
        for row in flaky[:MOST_ROWS]
    ]
    return f"## Flakes\n\n{_table(heads, rows)}{_left_out(len(flaky))}"


def _changes(change_points: Sequence[Row], trend_changes: Sequence[Row]) -> str:
    told = [
        f"- {_code(_short(row['test_id']))} violates in {_percent(row['rate_after'])} of its runs since "
        f"{day(row['since_at'])} ({_escaped(began_with(row))}), before in {_percent(row['rate_before'])}"
        for row in change_points[:MOST_ROWS]
    ]
    told += [
        f"- {_code(row['name'])} got {WORDS.get(str(row['direction']), 'different')} on {day(row['since_at'])} "
        f"({_escaped(began_with(row))}, {_code(row['topology'])}): median "
        f"{measured(row['measure'], row['median_before'])} to {measured(row['measure'], row['median_after'])}"
        for row in trend_changes[:MOST_ROWS]
    ]
    left = _left_out(max(len(change_points), len(trend_changes)))
    return "## Changed\n\n" + "\n".join(told) + left if told else ""


def _nights(nights: Sequence[Row]) -> str:
    if not nights:
        return ""
    listed = ", ".join(f"{day(row['night'])} ({went_wrong(row)})" for row in nights[:MOST_ROWS])
    return f"Infra nights, not held against any test: {listed}."


def _compared(found: Comparison) -> list[str]:
    """The parts of a comparison; what may be chance is only counted."""
    a, b = found["a"], found["b"]
    sharing = (f"Violate in {a}", f"Violate in {b}", "q")
    rates = [
        _family("Requirements", ("Requirement", "Change", *sharing), found["requirements"], "requirement"),
        _family("Tests", ("Test", "Change", *sharing), found["tests"], "test_id"),
    ]
    return [
        f"## {_escaped(found['headline'])}",
        f"{amount(found['runs_a'])} runs of {_escaped(a)}, {amount(found['runs_b'])} of {_escaped(b)}.",
        *rates,
        _durations(found["durations"], a, b),
        _clusters(found["clusters"], a, b),
    ]


def _family(title: str, heads: Sequence[str], rows: Sequence[Row], name: str) -> str:
    loud = changed(rows, *REAL)
    told = [
        [
            _cell_code(f"{_short(row[name])}{_where(row)}"),
            _said(row),
            *(_side(row, side) for side in "ab"),
            chance(row["q_value"]),
        ]
        for row in loud[:MOST_ROWS]
    ]
    table = _table(heads, told) + _left_out(len(loud)) if told else "No change that is more than chance."
    unsure, no_longer, new = (len(changed(rows, change)) for change in ("UNSURE", "ONLY_A", "ONLY_B"))
    rest = [f"{amount(unsure)} more differ, but that may be chance."] if unsure else []
    rest += [f"{amount(no_longer)} no longer run, {amount(new)} run for the first time."] if no_longer or new else []
    return f"### {title}\n\n{table}" + (f"\n\n{' '.join(rest)}" if rest else "")


def _where(row: Row) -> str:
    """Tests of one name are told apart by the cluster they ran on."""
    return f" ({row['topology']})" if "topology" in row else ""


def _said(row: Row) -> str:
    worst = [WORDS.get(str(row[f"worst_{side}"]), "") for side in "ab"]
    return f"**{WORDS[str(row['change'])]}**" + (f" ({worst[0]} to {worst[1]})" if worst[0] != worst[1] else "")


def _side(row: Row, side: str) -> str:
    if not count(row[f"answers_{side}"]):
        return "no answer"
    counted = f"{row[f'violating_{side}']} of {row[f'answers_{side}']}"
    return f"{counted}: {_share(row[f'rate_{side}'], row[f'rate_low_{side}'], row[f'rate_high_{side}'])}"


def _durations(rows: Sequence[Row], a: str, b: str) -> str:
    loud = changed(rows, *REAL)
    told = [
        [
            _cell_code(f"{row['name']} ({row['topology']})"),
            f"**{WORDS[str(row['change'])]}**",
            *(_cell(measured(row["measure"], row[f"median_{side}"])) for side in "ab"),
            "" if row["ratio"] is None else f"{row['ratio']:.2f}x",
            chance(row["q_value"]),
        ]
        for row in loud[:MOST_ROWS]
    ]
    heads = ("Duration", "Change", f"Median {a}", f"Median {b}", "Ratio", "q")
    return f"### Durations\n\n{_table(heads, told)}{_left_out(len(loud))}" if told else ""


def _clusters(rows: Sequence[Row], a: str, b: str) -> str:
    loud = changed(rows, *REAL)
    told = [
        [
            _cell_code(row["representative"]),
            f"**{WORDS[str(row['change'])]}**",
            *(f"{row[f'runs_{side}']} of {row[f'of_{side}']}" for side in "ab"),
            chance(row["q_value"]),
        ]
        for row in loud[:MOST_ROWS]
    ]
    heads = ("Failure", "Change", f"Runs of {a}", f"Runs of {b}", "q")
    return f"### Failures\n\n{_table(heads, told)}{_left_out(len(loud))}" if told else ""


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [[_cell(head) for head in heads], ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _left_out(of: int) -> str:
    return f"\n\n{amount(of - MOST_ROWS)} more are in the report." if of > MOST_ROWS else ""


def _share(value: object, low: object, high: object) -> str:
    return f"{_percent(value)} ({_percent(low)} to {_percent(high)})"


def _percent(value: object) -> str:
    known = number(value)
    return "unknown" if known is None else percent(known).replace("<", "&lt;").replace(">", "&gt;")


def _short(name: object) -> str:
    return str(name).rpartition("::")[2]


def _cut(value: object) -> str:
    said = re.sub(r"\s+", " ", str(value)).strip()
    return said if len(said) <= _MOST_CHARACTERS else f"{said[:_MOST_CHARACTERS]}…"


def _code(value: object) -> str:
    """What a test or a log said, as code: nothing in it is markup, a mention of somebody or a reference."""
    said = _cut(value)
    if not said:
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", said)), default=0))
    pad = " " if said[0] == "`" or said[-1] == "`" else ""
    return f"{fence}{pad}{said}{pad}{fence}"


def _cell_code(value: object) -> str:
    # In a table a bar ends the cell, even in code; there, and only there, its escape is not shown.
    return _code(value).replace("|", "\\|")


def _escaped(value: object) -> str:
    """Our own words around names of versions and topologies."""
    return re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", _cut(value)).replace("@", "@\u200b")


def _cell(value: object) -> str:
    return _escaped(value)
