"""Drawing: the small pieces a page is made of. Every function takes plain values and gives safe HTML."""

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from pytest_kmigrate.reports.pages.glossary import GLOSSARY
from pytest_kmigrate.reports.summary.rows import Row, level_of, number

WORDS = {
    "SAFETY": "safety violation",
    "VIOLATES": "violates",
    "VIOLATION": "new violation",
    "DEFECT": "known defect",
    "DEPARTURE": "departure",
    "REMARK": "remark",
    "NOT_JUDGED": "not judged",
    "FLAKY": "flaky",
    "SLOWER": "got worse",
    "VARIES": "depends on conditions",
    "INCONCLUSIVE": "inconclusive",
    "CONFORMS": "conforms",
    "NOT_APPLICABLE": "not applicable",
    "ADMIT": "admit",
    "QUARANTINE": "quarantine",
    "UNDECIDED": "undecided",
    "WORSE": "worse",
    "BETTER": "better",
    "NEW": "new",
    "GONE": "gone",
    "UNSURE": "may be chance",
    "SAME": "same",
    "UNASKED": "not asked",
    "UNREAD": "set aside",
}
"""What levels, standings, decisions and changes are called; what is not here is called by its name."""

MEASURES = {
    "unavailable_ms": "unavailability",
    "fail_over_ms": "time to fail over",
    "write_behind_lag": "how far ZooKeeper is behind",
    "duration_ms": "duration",
}
"""What measures are called, in the order in which they matter to those who use a cluster."""

_UNITS = {"write_behind_lag": "records"}

_COLOURS = {
    "VIOLATION": "VIOLATES", "SLOWER": "VARIES", "ADMIT": "CONFORMS", "QUARANTINE": "FLAKY",
    "UNDECIDED": "INCONCLUSIVE", "WORSE": "VIOLATES",
    "NEW": "VIOLATES", "BETTER": "CONFORMS", "GONE": "CONFORMS", "LIVENESS": "VIOLATES", "WARN": "VARIES",
    "ERROR": "VIOLATES", "FATAL": "SAFETY", "EXCEPTION": "VIOLATES",
}  # fmt: skip
_OWN_COLOURS = ("SAFETY", "VIOLATES", "DEFECT", "FLAKY", "VARIES", "INCONCLUSIVE", "CONFORMS")

_DOT_PX = 15
_DOTS_PER_LINE = 12
_BAR_PX = 90

# One shape per outcome, so that nothing depends on telling colours apart; drawn around 0, 0.
_SHAPES = {
    "CONFORMS": '<circle r="5" fill="var(--CONFORMS)"/>',
    "VIOLATES": '<rect x="-5" y="-5" width="10" height="10" rx="2" fill="var(--VIOLATES)"/>',
    "SAFETY": '<path d="M0-7 7 0 0 7-7 0Z" fill="var(--SAFETY)"/>',
    "DEFECT": '<path d="M0-6 6 0 0 6-6 0Z" fill="none" stroke="var(--DEFECT)" stroke-width="1.8"/>',
    "DEPARTURE": '<path d="M0-6 6 0 0 6-6 0Z" fill="none" stroke="var(--NOT_APPLICABLE)" stroke-width="1.8"/>',
    "INCONCLUSIVE": '<circle r="4.2" fill="none" stroke="var(--INCONCLUSIVE)" stroke-width="1.8"/>',
    "NOT_APPLICABLE": '<path d="M-4 0H4" stroke="var(--NOT_APPLICABLE)" stroke-width="2"/>',
}


BY_ITS_WORDS = object()


@dataclass(frozen=True)
class Cell:
    """One cell of a table: its HTML, by what it is sorted (None: it is missing, so last), and its CSS class."""

    content: str
    sort: object = BY_ITS_WORDS
    css: str = ""


def text(value: object) -> str:
    """``value`` as text, harmless in HTML; nothing for None."""
    return "" if value is None else html.escape(str(value))


def colour(level: object) -> str:
    """The colour of a level, as a CSS value."""
    name = _COLOURS.get(str(level), str(level))
    return f"var(--{name if name in _OWN_COLOURS else 'NOT_APPLICABLE'})"


def cut(message: object, most: int = 220) -> str:
    """The beginning of a long message; dots stand for the rest."""
    said = str(message)
    return said if len(said) <= most else f"{said[:most]}…"


def unfolding(message: object) -> str:
    """The beginning of a long message, and the whole of it when asked for."""
    said = str(message)
    beginning = text(cut(said))
    return beginning if beginning == text(said) else f"{beginning}{folded('all of it', f'<pre>{text(said)}</pre>')}"


def chip(level: object, word: str | None = None) -> str:
    """A standing, outcome or decision as a small coloured label."""
    said = WORDS.get(str(level), level) if word is None else word
    meaning = GLOSSARY.get(str(said).lower())
    title = f' title="{text(meaning)}"' if meaning else ""
    return f'<span class="chip" style="--colour: {colour(level)}"{title}>{text(said)}</span>'


def share_bar(counts: Sequence[tuple[str, int]], unread: int = 0) -> str:
    """All runs as one bar, a piece per outcome, and one for paths that could not be read."""
    parts = [(f"{count} {WORDS[level]}", level, count) for level, count in [*counts, ("UNREAD", unread)] if count]
    pieces = "".join(
        f'<span style="--colour: {colour(level)}; flex: {count}" title="{reported}"></span>'
        for reported, level, count in parts
    )
    return f'<div class="share" role="img" aria-label="{", ".join(reported for reported, *_ in parts)}">{pieces}</div>'


def dots(attempts: Sequence[Row]) -> str:
    """One mark per run, oldest first, each a link to its timeline where there is one."""
    lines = -(-len(attempts) // _DOTS_PER_LINE)
    width, height = min(len(attempts), _DOTS_PER_LINE) * _DOT_PX, lines * _DOT_PX
    # A group and not an image: the links in it must be reached by keyboard and read by screen readers.
    marks = "".join(_dot(each, number) for number, each in enumerate(attempts))
    return f'<svg width="{width}" height="{height}" role="group" aria-label="{len(attempts)} runs">{marks}</svg>'


def legend() -> str:
    """What each mark means."""
    entries = "".join(
        f'<span><svg width="14" height="14"><g transform="translate(7 7)">{shape}</g></svg>{WORDS[level]}</span>'
        for level, shape in _SHAPES.items()
    )
    return f'<div class="legend">{entries}</div>'


def mark(level: str, reported: str) -> str:
    """One outcome by its shape alone, with a text for screen readers."""
    return (
        f'<svg class="mark" width="16" height="16" viewBox="-8 -8 16 16" role="img" aria-label="{text(reported)}">'
        f"{_SHAPES[level]}</svg>"
    )


def percent(share: float) -> str:
    """A share in per cent; only all is shown as 100 and only none as 0, however rare the rest."""
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 <= share < 1:
        return ">99%"
    return f"{share:.0%}"


def ceiling(share: float) -> str:
    """An upper bound in whole per cent, rounded up: what is claimed with it must still hold."""
    # Less than a millionth of a per cent is how floats round, not part of a bound.
    return f"{math.ceil(round(share * 100, 6))}%"


def ends(low: float, high: float) -> tuple[str, str]:
    """Both ends of an interval in whole per cent, rounded outwards: what lies within must still do so."""
    return f"{math.floor(round(low * 100, 6))}%", ceiling(high)


def duration(ms: object) -> str:
    """Milliseconds as people say them."""
    value = number(ms)
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
    known = number(value)
    if known is None:
        return ""
    return f"{known:,.0f}".replace(",", "\u202f") if known.is_integer() else f"{known:,.2f}".replace(",", "\u202f")


def chance(p_value: object) -> str:
    """A p- or q-value as people compare it."""
    known = number(p_value)
    if known is None:
        return ""
    return "< 0.001" if known < 0.001 else f"{known:.2g}"


def measure_name(measure: object) -> str:
    """What a measure is called."""
    return MEASURES.get(str(measure), str(measure))


def measured(measure: object, value: object) -> str:
    """A value in the unit that its measure's name ends with."""
    name = str(measure)
    factors_ms = {"_ms": 1.0, "_s": 1_000.0, "_ns": 1e-6}
    known = number(value)
    factor_ms = next((factor for ending, factor in factors_ms.items() if name.endswith(ending)), None)
    if known is None or factor_ms is None:
        unit = _UNITS.get(name)
        return f"{amount(value)} {unit}" if unit and known is not None else amount(value)
    return duration(known * factor_ms)


def short(test_id: object) -> str:
    """The part of a test's id that distinguishes it, with room to break."""
    return breakable(str(test_id).rpartition("::")[2])


def breakable(name: object) -> str:
    """A name of words joined by underscores, with room to break between these."""
    return text(name).replace("_", "_<wbr>")


def table(heads: Sequence[str], rows: Iterable[Sequence[Cell]], most_first: str = "") -> str:
    """A sortable table; on a phone each row becomes a card whose cells carry their column's head.

    ``most_first`` names the column by which the rows are sorted already, the largest first.
    """
    listed = list(rows)
    drawn = ["".join(_cell(head, cell) for head, cell in zip(heads, row, strict=True)) for row in listed]
    numbers = [cell.css == "number" for cell in listed[0]] if listed else [False] * len(heads)
    head = "".join(
        _head(each, is_number=is_number, is_sorted=each == most_first)
        for each, is_number in zip(heads, numbers, strict=True)
    )
    body = "".join(f"<tr>{each}</tr>" for each in drawn)
    return f'<div class="frame"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def link(path: object, content: str) -> str:
    """A link to a file, by its way from the page, or on another file system by its URI."""
    scheme, separator, rest = str(path).rpartition("://")
    # A way has no empty part, so only a URI has this in it; the port of its host is no part of a name.
    address = f"{scheme}://{quote(rest, safe='/:@')}" if separator else quote(rest)
    return f'<a href="{text(address)}">{content}</a>'


def goto(address: str, content: str) -> str:
    """A link to another place of the page."""
    return f'<a href="#{text(address)}">{content}</a>'


def folded(title: str, content: str) -> str:
    """What is shown when asked for."""
    return f"<details><summary>{title}</summary>{content}</details>"


def _head(name: str, *, is_number: bool, is_sorted: bool) -> str:
    css, order = ' class="number"' if is_number else "", ' aria-sort="descending"' if is_sorted else ""
    # A confidence level or an interval may follow the word.
    meaning = GLOSSARY.get(name.lower().partition(",")[0], "")
    title = f' title="{text(meaning)}"' if meaning else ""
    return f'<th scope="col"{css}{order}{title}><button type="button">{text(name)}</button></th>'


def _cell(head: str, cell: Cell) -> str:
    sort = f' data-sort="{text(cell.sort)}"' if cell.sort is not BY_ITS_WORDS else ""
    css = f' class="{cell.css}"' if cell.css else ""
    # On a phone a cell stands beside its label: in one piece, whatever it is made of.
    content = f"<div>{cell.content}</div>" if "<" in cell.content else cell.content
    return f'<td data-label="{text(head)}"{css}{sort}>{content}</td>'


def _dot(attempt: Row, number: int) -> str:
    line, column = divmod(number, _DOTS_PER_LINE)
    level = level_of(attempt)
    middle = f"translate({column * _DOT_PX + _DOT_PX / 2} {line * _DOT_PX + _DOT_PX / 2})"
    # A run that conforms has nothing more to say, and most runs do: the page would be half as large again.
    summary = "" if level == "CONFORMS" else f". {attempt['summary']}"
    reported = f"run {attempt['attempt']}, seed {attempt['seed']}: {WORDS[level]}{summary}"
    mark = f'<g transform="{middle}"><title>{text(reported)}</title>{_SHAPES[level]}</g>'
    return link(attempt["timeline"], mark) if attempt["timeline"] else mark
