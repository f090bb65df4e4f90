"""Chaos: which cells nights of schedules have visited, what they saw there, and what is left of their reds."""

from collections.abc import Mapping, Sequence

from pytest_kmigrate.analysis.statistics.bounds import bound_after_clean
from pytest_kmigrate.reports.pages.charts import rate
from pytest_kmigrate.reports.pages.drawing import Cell, amount, ceiling, folded, link, mark, percent, table, text
from pytest_kmigrate.reports.site.views import (
    MOST_ROWS,
    Site,
    View,
    below,
    bug_chip,
    empty,
    fine,
    number_cell,
    section,
    table_of,
)
from pytest_kmigrate.reports.summary.chaos import missing
from pytest_kmigrate.reports.summary.rows import Row, count, grouped, listed, number, plural

_LEAD = (
    "A cell is one effect, in one state, aimed at one thing. It counts as visited when the fault was seen to bite. "
    "A run counts for each cell in it, whichever it is red by."
)
_WORDS = {
    "NOT_APPLICABLE": "never visited",
    "INCONCLUSIVE": "begun, and never seen to bite, or no answer",
    "CONFORMS": "clean",
    "DEFECT": "red by known bugs",
    "VIOLATES": "new red",
    "SAFETY": "new red, SAFETY",
}
_GRAVEST_FIRST = ("SAFETY", "VIOLATES", "DEFECT", "INCONCLUSIVE", "CONFORMS", "NOT_APPLICABLE")
_CELL = ("profile", "effect", "state", "aim")


def chaos(site: Site) -> View:
    """The nights, the map of cells, the reds with what is left of them, and what was never seen to bite."""
    summary = site.summary
    if not summary["schedules"]:
        return View("chaos", "Chaos", _LEAD, empty("No run carried out a schedule."))
    cells = grouped(summary["chaos_cells"], *_CELL)
    content = [
        _nights(summary["chaos_nights"]),
        _map(summary["chaos_space"], cells),
        _reds(site, summary["chaos_cells"]),
        _shrunk(summary["shrinks"]),
        _unseen(summary["chaos_cells"]),
        _pairs(summary["chaos_pairs"]),
    ]
    return View("chaos", "Chaos", _LEAD, "".join(content))


def level_of_cell(rows: Sequence[Row]) -> str:
    """What all releases together say of a cell."""

    def some(column: str) -> bool:
        return any(count(each[column]) for each in rows)

    if some("new_violating"):
        return "SAFETY" if some("safety_violations") else "VIOLATES"
    if some("violating"):
        return "DEFECT"
    if some("conforming"):
        return "CONFORMS"
    return "INCONCLUSIVE" if rows else "NOT_APPLICABLE"


def _nights(rows: Sequence[Row]) -> str:
    if not rows:
        return section("Nights", empty("No run was of a drawn night."))
    heads = ("Night", "Document", "Lines", "Carried out", "Hours of runs", "Missing")
    drawn = [
        [
            Cell(f"<code>{text(str(row['night'])[:8])}</code>", row["night"], "name"),
            Cell(text(row["profile"])),
            number_cell(row["lines"]),
            number_cell(row["carried_out"]),
            Cell(f"{(number(row['seconds']) or 0) / 3600:.1f}", row["seconds"], "number"),
            Cell("none: the night is whole" if row["is_whole"] else text(missing(row)), row["is_whole"]),
        ]
        for row in rows
    ]
    return section("Nights", table(heads, drawn))


def _map(space: Sequence[Row], cells: Mapping[tuple[object, ...], Sequence[Row]]) -> str:
    possible = [row for row in space if row["why_not"] is None]
    drawn = []
    for (profile,), of in grouped(possible, "profile").items():
        states = list(dict.fromkeys(str(row["state"]) for row in of))
        rows = [
            [Cell(f"<code>{text(effect)}</code>", effect, "name"), *(_marks(mine, state, cells) for state in states)]
            for (effect,), mine in grouped(of, "effect").items()
        ]
        levels = dict.fromkeys(_WORDS, 0)
        for row in of:
            levels[level_of_cell(cells.get(tuple(row[name] for name in _CELL), ()))] += 1
        counted = "".join(
            f"<span>{mark(level, word)} {amount(levels[level])} {word}</span> " for level, word in _WORDS.items()
        )
        title = f"Cells of {text(profile)}: {amount(len(of))}"
        drawn.append(section(title, f'<div class="legend">{counted}</div>{table(("Effect", *states), rows)}'))
    return "".join(drawn)


def _marks(rows: Sequence[Row], state: str, cells: Mapping[tuple[object, ...], Sequence[Row]]) -> Cell:
    """A mark for each aim, the gravest first."""
    levels = []
    for row in rows:
        if row["state"] == state:
            known = cells.get(tuple(row[name] for name in _CELL), ())
            level = level_of_cell(known)
            levels.append((_GRAVEST_FIRST.index(level), level, f"{row['aim']}: {_WORDS[level]}{_clean(known)}"))
    marks = "".join(f'<span title="{text(words)}">{mark(level, words)}</span>' for _, level, words in sorted(levels))
    return Cell(marks or '<span class="soft">cannot be</span>', min((at for at, *_ in levels), default=99))


def _clean(rows: Sequence[Row]) -> str:
    """What the runs of a cell without a violation prove."""
    n = sum(count(each["answered"]) for each in rows)
    if not n or any(count(each["violating"]) for each in rows):
        return ""
    return f" in {plural(n, 'run')}, so at most {ceiling(float(bound_after_clean([n])[0]))} of such runs violate"


def _reds(site: Site, cells: Sequence[Row]) -> str:
    red = [row for row in cells if count(row["violating"])]
    if not red:
        return section("Reds", fine("None: no run in which a fault bit violates anything."))
    red.sort(key=lambda row: (-count(row["new_violating"]), -(number(row["low"]) or 0), str(row["effect"])))
    heads = ("Cell", "Kafka", "Witnessed", "Violating, 95 % interval", "New", "SAFETY", "Known as", "A run")
    drawn = [
        [
            Cell(_name(row), row["effect"], "name"),
            Cell(text(row["kafka"])),
            number_cell(row["witnessed"]),
            Cell(_share(row), row["low"], "rate"),
            number_cell(row["new_violating"]),
            number_cell(row["safety_violations"]),
            Cell(" ".join(map(bug_chip, listed(row["known_bugs"])))),
            Cell(_run(site, row["example"]), css="said"),
        ]
        for row in red[:MOST_ROWS]
    ]
    return section("Reds", table_of(heads, drawn, len(red) - len(drawn), "chaos_cells"))


def _share(row: Row) -> str:
    n = count(row["answered"])
    return rate(count(row["violating"]) / n if n else None, row["low"], row["high"], "VIOLATES")


def _name(row: Row) -> str:
    return f"<code>{text(row['effect'])}({text(row['aim'])})</code>{below(row['state'])}"


def _run(site: Site, folder: object) -> str:
    """A run with its timeline, and how to run it again."""
    run = site.attempt_of_folder.get(folder)
    if run is None:
        return text(folder)
    name = link(run["timeline"], text(run["check"])) if run["timeline"] else text(run["check"])
    return f'{name}<br><code class="small">kmigrate replay {text(folder)}</code>'


def _shrunk(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    heads = ("Red", "Replays", "Share that shows it, 95 % interval", "Happenings", "Left", "Runs", "Smallest line")
    drawn = [
        [
            Cell(f"<b>{text(row['signature'])}</b>{below(row['run_id'])}", row["signature"], "name"),
            number_cell(row["replays"]),
            Cell(_shown(row), row["p_low"], "rate"),
            number_cell(row["happenings"]),
            number_cell(row["left"]),
            number_cell(row["runs"]),
            Cell(_line(row), css="said"),
        ]
        for row in rows
    ]
    return section("Shrunk", table(heads, drawn), "The smallest schedule found that still violates the same.")


def _shown(row: Row) -> str:
    low, high = number(row["p_low"]) or 0, number(row["p_high"]) or 0
    return f"{amount(row['shown'])} of {amount(row['replays'])}<br>{percent(low)} to {percent(high)}"


def _line(row: Row) -> str:
    if not row["schedule"]:
        return "no replay showed it again"
    return (
        folded("line", f"<code>{text(row['schedule'])}</code>") + f"<code>kmigrate replay {text(row['folder'])}</code>"
    )


def _unseen(cells: Sequence[Row]) -> str:
    unseen = [row for row in cells if count(row["witnessed"]) < count(row["runs"])]
    if not unseen:
        return ""
    unseen.sort(key=lambda row: (count(row["witnessed"]), -count(row["runs"]), str(row["effect"])))
    heads = ("Cell", "Runs", "Begun", "Witnessed", "Why it was not seen")
    drawn = [
        [
            Cell(_name(row), row["effect"], "name"),
            *[number_cell(row[name]) for name in ("runs", "begun", "witnessed")],
            Cell(text(row["why_unseen"]), css="said"),
        ]
        for row in unseen[:MOST_ROWS]
    ]
    content = table_of(heads, drawn, len(unseen) - len(drawn), "chaos_cells")
    return section("Not seen to bite", content, "A fault that was never seen to take effect proves nothing.")


def _pairs(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    heads = ("First", "Second", "Relation", "Runs", "Both witnessed", "Violating runs")
    drawn = [
        [
            *[Cell(f"<code>{text(row[name])}</code>", row[name]) for name in ("first", "second")],
            Cell(text(row["relation"])),
            *[number_cell(row[name]) for name in ("runs", "witnessed", "violating")],
        ]
        for row in sorted(rows, key=lambda row: -count(row["violating"]))[:MOST_ROWS]
    ]
    return section("Pairs of effects", folded(plural(len(rows), "pair"), table(heads, drawn)))
