"""Markdown of a comparison: what changed between two versions, in the comment on a pull request."""

from collections.abc import Callable, Sequence

from pytest_kmigrate.reports.pages.drawing import WORDS, amount, chance, measured
from pytest_kmigrate.reports.pages.markup import MOST_ROWS, cell_code, escaped, left_out, placed, share, short, table
from pytest_kmigrate.reports.summary.comparison import REAL, Comparison, changed
from pytest_kmigrate.reports.summary.rows import Row, count


def compared(found: Comparison, on_cluster: Callable[[Row], str]) -> list[str]:
    """The parts of a comparison; what may be chance is only counted. Rows are named with their clusters."""
    a, b = found["a"], found["b"]
    return [
        f"## {escaped(found['headline'])}",
        f"{amount(found['runs_a'])} runs of {escaped(a)}, {amount(found['runs_b'])} of {escaped(b)}.",
        _family("Requirement", found["requirements"], "requirement", found, on_cluster),
        _family("Test", found["tests"], "test_id", found, on_cluster),
        _durations(found["durations"], a, b, on_cluster),
        _clusters(found["clusters"], a, b),
    ]


def _family(noun: str, rows: Sequence[Row], name: str, found: Comparison, on_cluster: Callable[[Row], str]) -> str:
    loud = changed(rows, *REAL)
    a, b = found["a"], found["b"]
    heads = (noun, "Change", f"Violate in {a}", f"Violate in {b}", "q")
    reported = [
        [
            cell_code(placed(short(row[name]), on_cluster(row))),
            _said(row),
            *(_side(row, side) for side in "ab"),
            chance(row["q_value"]),
        ]
        for row in loud[:MOST_ROWS]
    ]
    listing = table(heads, reported) + left_out(len(loud)) if reported else "No change that is more than chance."
    counted = {"UNSURE": "more different, but that may be chance", "ONLY_A": f"only in {a}", "ONLY_B": f"only in {b}"}
    rest = [
        f"{amount(unloud)} {escaped(reported)}."
        for change, reported in counted.items()
        if (unloud := len(changed(rows, change)))
    ]
    return f"### {noun}s\n\n{listing}" + (f"\n\n{' '.join(rest)}" if rest else "")


def _said(row: Row) -> str:
    worst = [WORDS.get(str(row[f"worst_{side}"]), "not run") for side in "ab"]
    return f"**{WORDS[str(row['change'])]}**" + (f" ({worst[0]} to {worst[1]})" if worst[0] != worst[1] else "")


def _side(row: Row, side: str) -> str:
    if not count(row[f"answers_{side}"]):
        return "no answer"
    counted = f"{row[f'violating_{side}']} of {row[f'answers_{side}']}"
    return f"{counted}: {share(row[f'rate_{side}'], row[f'rate_low_{side}'], row[f'rate_high_{side}'])}"


def _durations(rows: Sequence[Row], a: str, b: str, on_cluster: Callable[[Row], str]) -> str:
    loud = changed(rows, *REAL)
    reported = [
        [
            cell_code(placed(row["name"], on_cluster(row))),
            f"**{WORDS[str(row['change'])]}**",
            *(escaped(measured(row["measure"], row[f"median_{side}"])) for side in "ab"),
            "" if row["ratio"] is None else f"{row['ratio']:.2f}x",
            chance(row["q_value"]),
        ]
        for row in loud[:MOST_ROWS]
    ]
    heads = ("Duration", "Change", f"Median {a}", f"Median {b}", "Ratio", "q")
    return f"### Durations\n\n{table(heads, reported)}{left_out(len(loud))}" if reported else ""


def _clusters(rows: Sequence[Row], a: str, b: str) -> str:
    loud = changed(rows, *REAL)
    reported = [
        [
            cell_code(row["representative"]),
            f"**{WORDS[str(row['change'])]}**",
            *(f"{row[f'runs_{side}']} of {row[f'of_{side}']}" for side in "ab"),
            chance(row["q_value"]),
        ]
        for row in loud[:MOST_ROWS]
    ]
    heads = ("Failure", "Change", f"Runs of {a}", f"Runs of {b}", "q")
    return f"### Failures\n\n{table(heads, reported)}{left_out(len(loud))}" if reported else ""
