"""The legend of the timeline: what the marks and the dashed bars of this run mean."""

from collections.abc import Iterable
from html import escape

from pytest_kmigrate.reports.one_run.timeline_lanes import Lane

_TOGETHER = {"nodes": "Nodes", "members": "Members"}
"""By group of lanes, under which name their marks are explained once."""


def legend(lanes: Iterable[Lane]) -> str:
    """A line per lane that has marks, nodes and members together; only what is drawn in this run is named."""
    entries: dict[str, dict[str, None]] = {}
    for lane in lanes:
        label = _TOGETHER.get(lane.group, lane.label)
        reported = [_entry(style, glyph, lane.signs[style, glyph]) for style, glyph in _drawn(lane)]
        reported += [_UNSEEN] if any(band.style == "fault-unseen" for band in lane.bands) else []
        entries.setdefault(label, {}).update(dict.fromkeys(reported))
    lines = [
        f"<div><dt>{escape(label)}</dt><dd>{' '.join(reported)}</dd></div>"
        for label, reported in entries.items()
        if reported
    ]
    return f'<dl class="legend">{"".join(lines)}</dl>' if lines else ""


def _drawn(lane: Lane) -> list[tuple[str, str]]:
    """Style and glyph of each kind of mark of a lane, in the order of its signs."""
    found = {(mark.style, mark.glyph) for mark in lane.marks}
    return [sign for sign in lane.signs if sign in found]


def _entry(style: str, glyph: str, meaning: str) -> str:
    return f'<span><b class="{style}">{escape(glyph)}</b> {escape(meaning)}</span>'


_UNSEEN = '<span><b class="unseen"></b> in force, though no witness saw it</span>'
