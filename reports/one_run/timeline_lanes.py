"""Lanes of the timeline that are made of events: phases, steps, faults, controllers, nodes, notes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pytest_kmigrate.checkers.evidence.moments import targets_of
from pytest_kmigrate.model.event import PHASE, EventKind, Recorded, is_a
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan, FaultHealed, FaultNotWitnessed, FaultWitnessed
from pytest_kmigrate.model.events.steps import ActiveControllerChanged, StateChanged, StepBegan, StepEnded
from pytest_kmigrate.reports.one_run.run_evidence import RunEvidence, event_text

OfFault = TypeVar("OfFault", FaultApplied, FaultHealed, FaultWitnessed, FaultNotWitnessed)

MS = 1_000_000
"""Nanoseconds in a millisecond."""
KNOWN = "◇"
"""The sign of a violation that a known bug or deviation explains."""


Point = tuple[float, float | None]
"""Milliseconds and value; None: unknown from here on."""


@dataclass(frozen=True)
class Band:
    """A stretch of a lane; ``style`` is a class of the style sheet, ``tip`` what a pointer shows."""

    begin_ms: float
    end_ms: float
    style: str
    text: str = ""
    tip: str = ""
    row: int = 0


@dataclass(frozen=True)
class Mark:
    """One instant of a lane; ``link`` is the id of an element that a click shows."""

    at_ms: float
    style: str
    glyph: str
    tip: str
    link: str = ""


Signs = Mapping[tuple[str, str], str]
"""Style and glyph of a mark -> what it means."""


@dataclass(frozen=True)
class Series:
    """Numbers of a lane over time: ``bars`` over a bucket each, a ``line``, or ``steps`` that hold until the next."""

    name: str
    style: str
    shape: str
    points: Sequence[Point]


@dataclass(frozen=True)
class Lane:
    """One row of the timeline."""

    label: str
    bands: Sequence[Band] = ()
    marks: Sequence[Mark] = ()
    series: Sequence[Series] = ()
    rows: int = 1
    row_px: int = 0
    """How tall a row is; 0: as tall as a line of text. Rows of a lane that has it are numbered."""
    unit: str = ""
    swatch: str = ""
    group: str = ""
    is_logarithmic: bool = False
    shades: bool = False
    """Whether its bands are shaded through every lane: what was in force while the rest happened."""
    signs: Signs = field(default_factory=dict)
    """What its marks may mean; the legend names those that are drawn."""


def ms(at_ns: float) -> float:
    """Milliseconds with one decimal: finer than a screen, short in the page."""
    return round(at_ns / MS, 1)


def clock(at_ns: float) -> str:
    """A moment of the run as people read it."""
    return f"{at_ns / 1e9:.2f} s"


def node_style(evidence: RunEvidence, node: str) -> str:
    """The colour of a node, the same in every lane."""
    return f"n{evidence.nodes.index(node) % 8}" if node in evidence.nodes else "n7"


def violation_lane(evidence: RunEvidence) -> Lane:
    """One mark per violation that has a moment; a click shows it in the list above."""
    marks = []
    for number, check in enumerate(evidence.checks):
        for position, violation in enumerate(check.violations):
            at_ns = evidence.moment_of(violation)
            if at_ns is not None:
                tip = f"{check.check}\nexpected: {violation.expected}\nobserved: {violation.observed}"
                style, glyph = ("plain", KNOWN) if check.known_bugs else ("bad", "✖")
                tip += f"\nknown as {', '.join(check.known_bugs)}" if check.known_bugs else ""
                marks.append(Mark(ms(at_ns), style, glyph, tip, f"violation-{number}-{position}"))
    signs = {("bad", "✖"): "new violation", ("plain", KNOWN): "violation that a known bug or departure explains"}
    return Lane("Violations", marks=sorted(marks, key=lambda each: each.style == "bad"), signs=signs)


def phase_lane(evidence: RunEvidence) -> Lane:
    """The operator's phases as coloured bands."""
    return _state_lane(evidence, PHASE)


def other_state_lanes(evidence: RunEvidence) -> list[Lane]:
    """The document's other states, one lane each, in the order in which they were first seen."""
    names = dict.fromkeys(event.what.of for event in evidence.history.of(StateChanged))
    return [_state_lane(evidence, name) for name in names if name != PHASE]


STATE_COLOURS = 8
"""Colours of the style sheet for values of a state, in their order; then they begin anew."""


def _state_lane(evidence: RunEvidence, name: str) -> Lane:
    values = _values(evidence, name)

    def style(value: str) -> str:
        return f"state state-{values.index(value) % STATE_COLOURS}"

    label = name.replace("_", " ").capitalize()
    return Lane(
        label,
        bands=_holding(evidence, [(each.at_ns, each.what.state) for each in evidence.history.states(name)], style),
    )


def _values(evidence: RunEvidence, name: str) -> list[str]:
    """The values of a state in the order of the run's document; in that of the run, where the header has none."""
    known = evidence.history.header.circumstances.states.get(name, ())
    seen = [event.what.state for event in evidence.history.states(name)]
    return list(dict.fromkeys([*known, *seen]))


def step_lane(evidence: RunEvidence) -> Lane:
    """Migration steps, by how they ended."""
    bands = []
    open_steps: dict[str, Recorded[StepBegan]] = {}
    for event in evidence.history.of(StepBegan, StepEnded):
        step = event.what.step
        if is_a(event, StepBegan):
            open_steps[step] = event
        elif is_a(event, StepEnded) and step in open_steps:
            bands.append(_step_band(open_steps.pop(step), event.at_ns, event.what.outcome, event.what.reason))
    bands += [_step_band(began, evidence.end_ns, "unfinished", "never ended") for began in open_steps.values()]
    return Lane("Migration step", bands=bands)


def _step_band(began: Recorded[StepBegan], end_ns: int, outcome: str, reason: str) -> Band:
    step = began.what.step
    tip = f"{step}: {outcome}, took {clock(end_ns - began.at_ns)}" + (f"\n{reason}" if reason else "")
    return Band(ms(began.at_ns), ms(end_ns), f"step-{outcome}", step, tip)


def fault_lane(evidence: RunEvidence) -> Lane:
    """Faults from applied to healed, a row per fault in force at the same time; one that never began is a mark."""
    bands: list[Band] = []
    row_ends: list[float] = []
    for began in evidence.history.of(FaultBegan):
        band = _fault_band(evidence, began)
        row = next((row for row, end_ms in enumerate(row_ends) if end_ms <= band.begin_ms), len(row_ends))
        row_ends[row : row + 1] = [band.end_ms]
        bands.append(Band(band.begin_ms, band.end_ms, band.style, band.text, band.tip, row))
    began_ids = {event.what.fault_id for event in evidence.history.of(FaultBegan)}
    marks = [
        Mark(ms(event.at_ns), "unsure", "○", f"{event.what.fault} never began\n{event.what.witness}")
        for event in evidence.history.of(FaultNotWitnessed)
        if event.what.fault_id not in began_ids
    ]
    signs = {("unsure", "○"): "fault that never began"}
    return Lane("Faults", bands=bands, marks=marks, rows=max(1, len(row_ends)), shades=True, signs=signs)


def _fault_band(evidence: RunEvidence, began: Recorded[FaultBegan]) -> Band:
    """A fault's bar; hatched if it was never seen to take effect."""
    history, fault = evidence.history, began.what.fault_id
    applied = _about(history.of(FaultApplied), fault)
    healed = _about(history.of(FaultHealed), fault)
    witnessed = _about(history.of(FaultWitnessed), fault)
    missed = _about(history.of(FaultNotWitnessed), fault)
    hit = ", ".join(sorted(targets_of(applied))) if applied else "never applied"
    seen = f"witnessed: {witnessed.what.witness}" if witnessed else "NOT witnessed"
    seen += f" (looked for: {missed.what.witness})" if missed else ""
    begin_ns, end_ns = (applied or began).at_ns, healed.at_ns if healed else evidence.end_ns
    tip = f"{began.what.fault} on {hit}\ntrigger: {began.what.trigger}\n{seen}"
    tip += f"\nin force for {clock(end_ns - begin_ns)}" + ("" if healed else ", never healed")
    style = "fault" if witnessed else "fault-unseen"
    return Band(ms(begin_ns), ms(end_ns), style, f"{began.what.fault} · {hit}", tip)


def _about(events: Sequence[Recorded[OfFault]], fault: str) -> Recorded[OfFault] | None:
    """The last of these events that is about this fault."""
    return next((event for event in reversed(events) if event.what.fault_id == fault), None)


def controller_lane(evidence: RunEvidence) -> Lane:
    """Which node was the active controller."""
    changes = [(each.at_ns, each.what.controller) for each in evidence.history.of(ActiveControllerChanged)]
    bands = _holding(evidence, changes, lambda node: node_style(evidence, node))
    return Lane("Active controller", bands=bands)


def _holding(
    evidence: RunEvidence, changes: Sequence[tuple[int, str | None]], style: Callable[[str], str]
) -> list[Band]:
    """Bands of a value that holds from its time until the next one; nothing is drawn where it is None."""
    ends = [at_ns for at_ns, _ in changes[1:]] + [evidence.end_ns]
    return [
        Band(ms(at_ns), ms(end_ns), style(value), value, f"{value} for {clock(end_ns - at_ns)}")
        for (at_ns, value), end_ns in zip(changes, ends, strict=False)
        if value
    ]


_UNMET = ("bad", "✖")
_NOTED = {
    EventKind.EXPECTATION: ("good", "✓"),
    EventKind.SETTLED: ("plain", "≡"),
    EventKind.SNAPSHOT: ("plain", "◇"),
    EventKind.HARNESS_TROUBLE: ("bad", "!"),
    EventKind.WORKLOAD_BEGAN: ("plain", "▸"),
    EventKind.WORKLOAD_ENDED: ("plain", "◂"),
    EventKind.CHECKS: ("plain", "§"),
}
_NOTES = {
    _NOTED[EventKind.EXPECTATION]: "expectation met",
    _UNMET: "expectation not met",
    _NOTED[EventKind.SETTLED]: "waited for all sides of the metadata to agree",
    _NOTED[EventKind.SNAPSHOT]: "image of the metadata taken",
    _NOTED[EventKind.HARNESS_TROUBLE]: "trouble of the harness",
    _NOTED[EventKind.WORKLOAD_BEGAN]: "workload began",
    _NOTED[EventKind.WORKLOAD_ENDED]: "workload ended",
    _NOTED[EventKind.CHECKS]: "checks asked for",
}


def note_lane(evidence: RunEvidence) -> Lane:
    """Expectations, images taken, workloads, and trouble of the harness itself."""
    marks = []
    for event in evidence.history.of(*_NOTED):
        unmet = is_a(event, ExpectationEnded) and not event.what.met
        style, glyph = _UNMET if unmet else _NOTED[event.kind]
        marks.append(Mark(ms(event.at_ns), style, glyph, f"{event.kind}\n{event_text(event)}", f"event-{event.seq}"))
    return Lane("Notes", marks=marks, signs=_NOTES)
