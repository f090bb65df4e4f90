"""Markdown of a comparison: what changed between two versions, in the comment on a pull request."""

from collections.abc import Sequence

from pytest_kmigrate.reports.comparison import REAL, Comparison, changed
from pytest_kmigrate.reports.drawing import WORDS, amount, chance, measured
from pytest_kmigrate.reports.markup import MOST_ROWS, cell_code, escaped, left_out, share, short, table
from pytest_kmigrate.reports.rows import Row, count


def compared(found: Comparison) -> list[str]:
    """The parts of a comparison; what may be chance is only counted."""
    a, b = found["a"], found["b"]
    sharing = (f"Violate in {a}", f"Violate in {b}", "q")
    rates = [
        _family("Requirements", ("Requirement", "Change", *sharing), found["requirements"], "requirement"),
        _family("Tests", ("Test", "Change", *sharing), found["tests"], "test_id"),
    ]
    return [
        f"## {escaped(found['headline'])}",
        f"{amount(found['runs_a'])} runs of {escaped(a)}, {amount(found['runs_b'])} of {escaped(b)}.",
        *rates,
        _durations(found["durations"], a, b),
        _clusters(found["clusters"], a, b),
    ]


def _family(title: str, heads: Sequence[str], rows: Sequence[Row], name: str) -> str:
    loud = changed(rows, *REAL)
    told = [
        [
            cell_code(f"{short(row[name])}{_where(row)}"),
            _said(row),
            *(_side(row, side) for side in "ab"),
            chance(row["q_value"]),
        ]
        for row in loud[:MOST_ROWS]
    ]
    listing = table(heads, told) + left_out(len(loud)) if told else "No change that is more than chance."
    unsure, no_longer, new = (len(changed(rows, change)) for change in ("UNSURE", "ONLY_A", "ONLY_B"))
    rest = [f"{amount(unsure)} more differ, but that may be chance."] if unsure else []
    rest += [f"{amount(no_longer)} no longer run, {amount(new)} run for the first time."] if no_longer or new else []
    return f"### {title}\n\n{listing}" + (f"\n\n{' '.join(rest)}" if rest else "")


def _where(row: Row) -> str:
    """Tests of one name are told apart by the cluster they ran on."""
    return f" ({row['topology']})" if "topology" in row else ""


def _said(row: Row) -> str:
    worst = [WORDS.get(str(row[f"worst_{side}"]), "not run") for side in "ab"]
    return f"**{WORDS[str(row['change'])]}**" + (f" ({worst[0]} to {worst[1]})" if worst[0] != worst[1] else "")


def _side(row: Row, side: str) -> str:
    if not count(row[f"answers_{side}"]):
        return "no answer"
    counted = f"{row[f'violating_{side}']} of {row[f'answers_{side}']}"
    return f"{counted}: {share(row[f'rate_{side}'], row[f'rate_low_{side}'], row[f'rate_high_{side}'])}"


def _durations(rows: Sequence[Row], a: str, b: str) -> str:
    loud = changed(rows, *REAL)
    told = [
        [
            cell_code(f"{row['name']} ({row['topology']})"),
            f"**{WORDS[str(row['change'])]}**",
            *(escaped(measured(row["measure"], row[f"median_{side}"])) for side in "ab"),
            "" if row["ratio"] is None else f"{row['ratio']:.2f}x",
            chance(row["q_value"]),
        ]
        for row in loud[:MOST_ROWS]
    ]
    heads = ("Duration", "Change", f"Median {a}", f"Median {b}", "Ratio", "q")
    return f"### Durations\n\n{table(heads, told)}{left_out(len(loud))}" if told else ""


def _clusters(rows: Sequence[Row], a: str, b: str) -> str:
    loud = changed(rows, *REAL)
    told = [
        [
            cell_code(row["representative"]),
            f"**{WORDS[str(row['change'])]}**",
            *(f"{row[f'runs_{side}']} of {row[f'of_{side}']}" for side in "ab"),
            chance(row["q_value"]),
        ]
        for row in loud[:MOST_ROWS]
    ]
    heads = ("Failure", "Change", f"Runs of {a}", f"Runs of {b}", "q")
    return f"### Failures\n\n{table(heads, told)}{left_out(len(loud))}" if told else ""
