"""The timeline of one run: a page that needs nothing but itself, with everything that happened on one clock."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from html import escape
from pathlib import Path

from pytest_kmigrate.redaction import redacted_values
from pytest_kmigrate.reports.one_run import timeline_lanes as lanes
from pytest_kmigrate.reports.one_run.run_evidence import RunEvidence
from pytest_kmigrate.reports.one_run.timeline_group import group_lanes
from pytest_kmigrate.reports.one_run.timeline_legend import legend
from pytest_kmigrate.reports.one_run.timeline_nodes import node_lanes
from pytest_kmigrate.reports.one_run.timeline_series import bucket_ms, metadata_lane, metric_lanes, traffic_lanes
from pytest_kmigrate.reports.one_run.timeline_verdicts import event_table, header, requirement_list, verdict_list

_FOLDER = Path(__file__).parent

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head><body>
<header>{header}</header>
<section id="picture"><h2>Timeline</h2>
<p class="tools"><button type="button" id="closer">closer</button><button type="button" id="wider">wider</button>
<button type="button" id="earlier">◂ earlier</button><button type="button" id="later">later ▸</button>
<button type="button" id="whole">whole run</button><span id="range"></span></p>
<p class="hint">Drag across the picture to look closer; point at anything to see what it is.</p>
<div id="chart"><noscript>A script draws this picture; the verdicts and the events below do without.</noscript>
</div><div id="tip" hidden></div>
{legend}
</section>
<section><h2>Verdicts</h2>{verdicts}{requirements}</section>
<section><details id="events"><summary><h2>Events</h2></summary>{events}</details></section>
<script type="application/json" id="run">{run}</script><script>{script}</script>
</body></html>
"""


def timeline_page(evidence: RunEvidence) -> str:
    """The whole page as text."""
    return _PAGE.format(
        title=escape(f"{evidence.outcome.name} {evidence.history.header.test_id}"),
        style=(_FOLDER / "timeline_page.css").read_text(encoding="utf-8"),
        header=header(evidence),
        verdicts=verdict_list(evidence) or "<p>none</p>",
        requirements=requirement_list(evidence),
        events=event_table(evidence),
        legend=legend(shown_lanes(evidence)),
        run=_inline_json(drawn(evidence)),
        script=(_FOLDER / "timeline_page.js").read_text(encoding="utf-8"),
    )


def shown_lanes(evidence: RunEvidence) -> list[lanes.Lane]:
    """The lanes from top to bottom, empty ones left out."""
    every = [
        lanes.violation_lane(evidence),
        lanes.phase_lane(evidence),
        lanes.step_lane(evidence),
        lanes.fault_lane(evidence),
        *traffic_lanes(evidence),
        metadata_lane(evidence),
        lanes.controller_lane(evidence),
        *lanes.other_state_lanes(evidence),
        *group_lanes(evidence),
        *node_lanes(evidence),
        *metric_lanes(evidence),
        lanes.note_lane(evidence),
    ]
    return [lane for lane in every if lane.bands or lane.marks or lane.series]


def drawn(evidence: RunEvidence) -> Mapping[str, object]:
    """What the script draws; its legend is not among it."""
    shown = [asdict(replace(lane, signs={})) for lane in shown_lanes(evidence)]
    plain: Mapping[str, object] = redacted_values(
        {
            "end_ms": lanes.ms(evidence.end_ns),
            "bucket_ms": bucket_ms(evidence),
            "lanes": [_compact(lane) for lane in shown],
        }
    )
    return plain


def _compact(value: object) -> object:
    """Without what is empty or zero, which the script takes an absent key for: a run has thousands of marks."""
    if isinstance(value, dict):
        return {key: _compact(each) for key, each in value.items() if each not in ("", 0, [], (), {})}
    return [_compact(each) for each in value] if isinstance(value, list | tuple) else value


def _inline_json(value: Mapping[str, object]) -> str:
    """JSON that may stand inside a script element: nothing in it can end the element."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
