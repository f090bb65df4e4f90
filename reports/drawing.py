"""Drawing: the small pieces a page is made of. Every function takes plain values and gives safe HTML."""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

Row = dict[str, object]

WORDS = {
    "SAFETY": "safety violation",
    "VIOLATES": "violates",
    "BUG": "known Kafka bug",
    "FLAKY": "flaky",
    "VARIES": "depends on conditions",
    "INCONCLUSIVE": "inconclusive",
    "CONFORMS": "conforms",
    "NOT_APPLICABLE": "not applicable",
}

_DOT_PX = 15
_DOTS_PER_LINE = 12
_BAR_PX = 90

# One shape per outcome, so that nothing depends on telling colours apart; drawn around 0, 0.
_SHAPES = {
    "CONFORMS": '<circle r="5" fill="var(--CONFORMS)"/>',
    "VIOLATES": '<rect x="-5" y="-5" width="10" height="10" rx="2" fill="var(--VIOLATES)"/>',
    "SAFETY": '<path d="M0-7 7 0 0 7-7 0Z" fill="var(--SAFETY)"/>',
    "INCONCLUSIVE": '<circle r="4.2" fill="none" stroke="var(--INCONCLUSIVE)" stroke-width="1.8"/>',
    "NOT_APPLICABLE": '<path d="M-4 0H4" stroke="var(--NOT_APPLICABLE)" stroke-width="2"/>',
}


@dataclass(frozen=True)
class Cell:
    """One cell of a table: its HTML, by what it is sorted, and its CSS class."""

    content: str
    sort: object = None
    css: str = ""


def text(value: object) -> str:
    """``value`` as text, harmless in HTML; nothing for None."""
    return "" if value is None else html.escape(str(value))


def chip(level: object) -> str:
    """A standing or outcome as a small coloured label."""
    return f'<span class="chip" style="--colour: var(--{text(level)})">{text(WORDS.get(str(level), level))}</span>'


def share_bar(counts: Sequence[tuple[str, int]]) -> str:
    """All runs as one bar, a piece per outcome."""
    pieces = "".join(
        f'<span style="--colour: var(--{level}); flex: {count}" title="{count} {WORDS[level]}"></span>'
        for level, count in counts
        if count
    )
    return f'<div class="share" role="img" aria-label="Shares of outcomes">{pieces}</div>'


def dots(attempts: Sequence[Row]) -> str:
    """One mark per run, oldest first, each a link to its timeline where there is one."""
    lines = -(-len(attempts) // _DOTS_PER_LINE)
    width, height = min(len(attempts), _DOTS_PER_LINE) * _DOT_PX, lines * _DOT_PX
    marks = "".join(_dot(each, number) for number, each in enumerate(attempts))
    return f'<svg width="{width}" height="{height}" role="img" aria-label="{len(attempts)} runs">{marks}</svg>'


def legend() -> str:
    """What each mark means."""
    entries = "".join(
        f'<span><svg width="14" height="14"><g transform="translate(7 7)">{shape}</g></svg>{WORDS[level]}</span>'
        for level, shape in _SHAPES.items()
    )
    return f'<div class="legend">{entries}</div>'


def pass_rate(row: Row) -> str:
    """The pass rate and its 95 % interval, drawn and written; a dash when no run gave an answer."""
    rate, low, high = (_number(row[name]) for name in ("pass_rate", "pass_rate_low", "pass_rate_high"))
    if rate is None or low is None or high is None:
        return '<span class="soft">no answer</span>'
    span = f'x="{low * _BAR_PX:.1f}" width="{max((high - low) * _BAR_PX, 2):.1f}"'
    share = text(percent(rate))
    told = f"{share}, 95 % interval {low:.0%} to {high:.0%}"
    return (
        f'<span><svg width="{_BAR_PX + 4}" height="16" viewBox="-2 0 {_BAR_PX + 4} 16" role="img" aria-label="{told}">'
        f"<title>{told}</title>"
        f'<rect y="6" width="{_BAR_PX}" height="4" rx="2" fill="var(--track)"/>'
        f'<rect {span} y="6" height="4" rx="2" fill="var(--CONFORMS)" opacity=".45"/>'
        f'<rect x="{rate * _BAR_PX - 2:.1f}" y="2" width="4" height="12" rx="2" fill="var(--CONFORMS)"/></svg> '
        f'{share} <span class="soft small">{low:.0%}-{high:.0%}</span></span>'
    )


def percent(share: float) -> str:
    """A share in per cent; only all is told as 100 and only none as 0, however rare the rest."""
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 <= share < 1:
        return ">99%"
    return f"{share:.0%}"


def duration(ms: object) -> str:
    """Milliseconds as people say them."""
    value = _number(ms)
    if value is None:
        return ""
    if value < 1_000:
        return f"{value:.0f} ms"
    if value < 59_950:
        return f"{value / 1_000:.1f} s"
    minutes, seconds = divmod(round(value / 1_000), 60)
    return f"{minutes} min {seconds:02d} s"


def amount(value: object) -> str:
    """A number with its thousands apart, as whole as it is."""
    number = _number(value)
    if number is None:
        return ""
    return f"{number:,.0f}".replace(",", "\u202f") if number == int(number) else f"{number:,.2f}".replace(",", "\u202f")


def table(heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A sortable table; on a phone each row becomes a card whose cells carry their column's head."""
    drawn = ["".join(_cell(head, cell) for head, cell in zip(heads, row, strict=True)) for row in rows]
    head = "".join(f'<th scope="col"><button type="button">{text(each)}</button></th>' for each in heads)
    body = "".join(f"<tr>{each}</tr>" for each in drawn)
    return f'<div class="frame"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def link(path: object, content: str) -> str:
    """A link to a file beside the page."""
    return f'<a href="{quote(str(path))}">{content}</a>'


def _cell(head: str, cell: Cell) -> str:
    sort = f' data-sort="{text(cell.sort)}"' if cell.sort is not None else ""
    css = f' class="{cell.css}"' if cell.css else ""
    return f'<td data-label="{text(head)}"{css}{sort}>{cell.content}</td>'


def _dot(attempt: Row, number: int) -> str:
    line, column = divmod(number, _DOTS_PER_LINE)
    is_safety = attempt["outcome"] == "VIOLATES" and attempt["kind"] == "SAFETY"
    level = "SAFETY" if is_safety else str(attempt["outcome"])
    middle = f"translate({column * _DOT_PX + _DOT_PX / 2} {line * _DOT_PX + _DOT_PX / 2})"
    told = f"run {attempt['attempt']}, seed {attempt['seed']}: {WORDS[level]}. {attempt['summary']}"
    mark = f'<g transform="{middle}"><title>{text(told)}</title>{_SHAPES[level]}</g>'
    return link(attempt["timeline"], mark) if attempt["timeline"] else mark


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
