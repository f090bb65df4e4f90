"""Charts: numbers with their intervals as inline SVG, each also described in words for screen readers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pytest_kmigrate.reports.pages.drawing import colour, ends, measured, percent, text
from pytest_kmigrate.reports.summary.estimates import is_sure, median_interval
from pytest_kmigrate.reports.summary.rows import Row, excused, level_of, number

_BAR_PX = 80
_RUN_PX = 6
_LIFT_PX = 150
_LIFT_ENDS = (1 / 8, 64.0)
_PANELS_PX = 330
_TICKS_PX = 80
_PANEL_GAP_PX = 8
_PANEL_HEIGHT_PX = 92
_MOST_POINTS = 120
_FEW_POINTS = 40
"""Points that each describe themselves to a pointer, and drawn larger."""
_ROOM_FOR_YEARS_PX = 150
_TICKS = {"CONFORMS": (15, -5), "INCONCLUSIVE": (9, -4), "VIOLATES": (15, -13), "NOT_APPLICABLE": (15, -1)}


def rate(value: object, low: object, high: object, level: str = "CONFORMS", unknown: str = "no answer") -> str:
    """A share and its 95 % interval, drawn and written; words when no run gave an answer."""
    middle, left, right = number(value), number(low), number(high)
    if middle is None or left is None or right is None:
        return f'<span class="soft">{unknown}</span>'
    span = f'x="{left * _BAR_PX:.1f}" width="{max((right - left) * _BAR_PX, 2):.1f}"'
    share, (least, most) = text(percent(middle)), ends(left, right)
    reported = f"{share}, 95 % interval {least} to {most}"
    return (
        f'<span><svg width="{_BAR_PX + 4}" height="16" viewBox="-2 0 {_BAR_PX + 4} 16" role="img">'
        f"<title>{reported}</title>"
        f'<rect y="6" width="{_BAR_PX}" height="4" rx="2" fill="var(--track)"/>'
        f'<rect {span} y="6" height="4" rx="2" fill="{colour(level)}" opacity=".45"/>'
        f'<rect x="{middle * _BAR_PX - 2:.1f}" y="2" width="4" height="12" rx="2" fill="{colour(level)}"/></svg> '
        f'{share} <span class="soft small">{least} to {most}</span></span>'
    )


def strip(runs: Sequence[Row], since_run: object = None) -> str:
    """Runs as ticks, oldest first, a tall one for each violation; a dashed line where the rate changed."""
    lines: dict[str, list[str]] = {}
    for position, run in enumerate(runs):
        level = level_of(run)
        top, height = _TICKS.get(level, _TICKS["VIOLATES"])
        lines.setdefault(level, []).append(f"M{position * _RUN_PX + 2} {top}v{height}")
    ticks = "".join(f'<path d="{"".join(path)}" stroke="{colour(level)}"/>' for level, path in lines.items())
    changed = next((position for position, run in enumerate(runs) if run["run_id"] == since_run), None)
    reported = f"{len(runs)} runs, {sum(1 for run in runs if excused(run)['outcome'] == 'VIOLATES')} violate"
    line = ""
    if changed is not None:
        reported += f"; changed at run {runs[changed]['attempt']}"
        line = _since(changed * _RUN_PX - 0.5, 18)
    width = max(len(runs) * _RUN_PX, _RUN_PX)
    return (
        f'<svg class="strip" width="{width}" height="18" viewBox="-3 0 {width + 3} 18" role="img">'
        f"<title>{text(reported)}</title>{ticks}{line}</svg>"
    )


def lift(row: Row) -> str:
    """How many times more often something fails with a thing than without, on a scale of doublings.

    In colour only if that is no chance among all that was compared: the interval knows nothing of the others.
    """
    value, low, high = (number(row[name]) for name in ("lift", "lift_low", "lift_high"))
    if value is None or low is None or high is None:
        return '<span class="soft">no estimate</span>'
    middle, left, right = (_on_doublings(each) for each in (value, low, high))
    shade = colour("VIOLATES" if is_sure(row) else "NOT_APPLICABLE")
    said = "only with it" if math.isinf(value) else _times(value)
    reported = f"{said}, 95 % interval {_times(low)} to {_times(high)}"
    one = _on_doublings(1.0)
    return (
        f'<span><svg width="{_LIFT_PX + 8}" height="18" viewBox="-4 0 {_LIFT_PX + 8} 18" role="img">'
        f'<title>{reported}</title><path d="M{one:.1f} 0v18" stroke="var(--soft)" stroke-dasharray="2 2"/>'
        f'<path d="M{left:.1f} 9H{right:.1f}M{left:.1f} 5v8M{right:.1f} 5v8" stroke="{shade}" stroke-width="2" '
        f'fill="none"/><circle cx="{middle:.1f}" cy="9" r="4.5" fill="{shade}"/></svg> '
        f'{said} <span class="soft small">{_times(low)} to {_times(high)}</span></span>'
    )


def _since(x: float, height: int) -> str:
    """Where something changed: a dashed line under a small flag."""
    return f'<path class="since" d="M{x:.1f} 0v{height}"/><path class="flag" d="M{x - 3:.1f} 0h6l-3 5z"/>'


def _times(value: float) -> str:
    if math.isinf(value):
        return "any"
    # Two digits, but never as a power of ten, which few people read.
    if 0 < value < 0.001:
        return "below 0.001x"
    return f"{value:,.0f}x" if value >= 10 else f"{value:.2g}x"


def _on_doublings(value: float) -> float:
    """Where a ratio lies on the scale; at its ends what is beyond them."""
    first, last = (math.log2(end) for end in _LIFT_ENDS)
    exponent = math.log2(min(max(value, _LIFT_ENDS[0]), _LIFT_ENDS[1]))
    return (exponent - first) / (last - first) * _LIFT_PX


@dataclass(frozen=True)
class Panel:
    """One version's values, oldest first, when each was taken (ISO 8601), and at which of them they changed."""

    label: str
    values: tuple[float, ...]
    changes: tuple[int, ...] = ()
    moments: tuple[str, ...] = ()


def panels(measure: object, drawn: Sequence[Panel]) -> str:
    """Values over time, a panel per version on one scale: each regime with its median and that one's 95 % interval."""
    every = sorted(value for panel in drawn for value in panel.values)
    # A single outlier must not press all else flat: it is drawn at the upper edge.
    top = _round_up(every[min(int(len(every) * 0.98), len(every) - 1)])
    width = (_PANELS_PX - _PANEL_GAP_PX * (len(drawn) - 1)) / len(drawn)
    parts = [
        f'<g transform="translate({position * (width + _PANEL_GAP_PX):.1f} 0)">{_panel(measure, panel, width, top)}</g>'
        for position, panel in enumerate(drawn)
    ]
    ticks = "".join(
        f'<text class="tick" x="-5" y="{_PANEL_HEIGHT_PX * (1 - share) + 3:.0f}">{text(measured(measure, share * top))}'
        f'</text><path class="grid" d="M-3 {_PANEL_HEIGHT_PX * (1 - share):.0f}H{_PANELS_PX}"/>'
        for share in (0.0, 0.5, 1.0)
    )
    reported = "; ".join(f"{panel.label}: {_regimes_told(measure, panel)}" for panel in drawn)
    return (
        f'<svg class="panels" viewBox="{-_TICKS_PX} -8 {_PANELS_PX + _TICKS_PX} {_PANEL_HEIGHT_PX + 36}" role="img">'
        f"<title>{text(reported)}</title>{''.join(parts)}{ticks}</svg>"
    )


def _round_up(value: float) -> float:
    """The end of a scale on which a value lies, such that it and half of it are short to write."""
    if value <= 0:
        return 1.0
    tens = 10.0 ** math.floor(math.log10(value))
    return next(each * tens for each in (1, 1.2, 1.6, 2, 3, 4, 6, 8, 10) if value <= each * tens * (1 + 1e-9))


def _panel(measure: object, panel: Panel, width: float, top: float) -> str:
    step = width / max(len(panel.values), 1)

    def y(value: float) -> float:
        return _PANEL_HEIGHT_PX * (1 - min(max(value, 0) / top, 1))

    # Beyond these, points would hide each other; the regimes are of all values.
    every = -(-len(panel.values) // _MOST_POINTS) or 1
    drawn = list(enumerate(panel.values))[::every]
    places = [f"M{(at + 0.5) * step:.1f} {y(value):.1f}h0" for at, value in drawn]
    few = ""
    if len(drawn) <= _FEW_POINTS:
        few = "".join(
            f'<path class="point" d="{place}"><title>{text(_point_told(measure, panel, at))}</title></path>'
            for place, (at, _) in zip(places, drawn, strict=True)
        )
    regimes = []
    for begin, end in _regimes(panel):
        median, low, high = median_interval(panel.values[begin:end])
        x, across = begin * step, (end - begin) * step
        band = ""
        if low is not None and high is not None:
            span = f'y="{y(high):.1f}" width="{across:.1f}" height="{y(low) - y(high):.1f}"'
            band = f'<rect class="band" x="{x:.1f}" {span}/>'
        regimes.append(f'{band}<path class="median" d="M{x:.1f} {y(median):.1f}h{across:.1f}"/>')
    since = "".join(_since(at * step, _PANEL_HEIGHT_PX) for at in panel.changes)
    return (
        f'<rect class="ground" width="{width:.1f}" height="{_PANEL_HEIGHT_PX}"/>{"".join(regimes)}'
        f'<path class="points{" few" if few else ""}" d="{"".join(places)}"/>{since}{_dates(panel, width)}{few}'
    )


def _point_told(measure: object, panel: Panel, at: int) -> str:
    said = measured(measure, panel.values[at])
    return f"{panel.moments[at][:16].replace('T', ' ')}: {said}" if panel.moments else said


def _dates(panel: Panel, width: float) -> str:
    """Below a panel: when its first and last values were taken; then its version, and what both dates share."""
    y, first, last = _PANEL_HEIGHT_PX + 12, *([panel.moments[0], panel.moments[-1]] if panel.moments else ["", ""])
    shared = ""
    if first[:10] == last[:10]:
        shared, first, last = first[:10], first[11:16], last[11:16]
    elif width < _ROOM_FOR_YEARS_PX and first[:4] == last[:4]:
        shared, first, last = first[:4], first[5:10], last[5:10]
    elif width < _ROOM_FOR_YEARS_PX:
        first, last = first[:7], last[:7]
    else:
        first, last = first[:10], last[:10]
    ends = [f'<text class="date" x="0" y="{y}">{text(first)}</text>'] if first else []
    ends += [f'<text class="date end" x="{width:.1f}" y="{y}">{text(last)}</text>'] if last != first else []
    label = " · ".join(each for each in (panel.label, shared) if each)
    return f'{"".join(ends)}<text class="version" x="0" y="{y + 13}">{text(label)}</text>'


def _regimes(panel: Panel) -> list[tuple[int, int]]:
    """From where to where one regime lasted."""
    ends = [0, *sorted(set(panel.changes) - {0}), len(panel.values)]
    return [(begin, end) for begin, end in pairwise(ends) if end > begin]


def _regimes_told(measure: object, panel: Panel) -> str:
    medians = (median_interval(panel.values[begin:end])[0] for begin, end in _regimes(panel))
    return ", then ".join(f"median {measured(measure, median)}" for median in medians)
