"""The words of the timeline page: what was run, what was judged, and for each violation its moment and its logs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape

from pytest_kmigrate.catalogue import described, requirement
from pytest_kmigrate.checkers.evidence.moments import targets_of
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.grading import grade_of
from pytest_kmigrate.checkers.tally import Word
from pytest_kmigrate.model.circumstances import Circumstances, circumstances_in
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import PHASE, A, Event, Recorded, is_a
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan, FaultHealed
from pytest_kmigrate.model.events.steps import ActiveControllerChanged
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.verdict import Outcome, Verdict, Violation
from pytest_kmigrate.redaction import redacted_values
from pytest_kmigrate.reports.one_run.run_evidence import LogSlice, RunEvidence, event_text
from pytest_kmigrate.reports.one_run.timeline_lanes import KNOWN, clock, ms

SIGNS = {Outcome.VIOLATES: "✖", Outcome.INCONCLUSIVE: "?", Outcome.CONFORMS: "✓", Outcome.NOT_APPLICABLE: "-"}
"""An outcome is never shown by colour alone."""

_KNOWN_BADGE = f'<span class="badge known">{KNOWN} KNOWN</span>'

_MOST_FOUND = 3
_LONGEST_SUMMARY = 240
_LOG_LINES_BEFORE = 30
_LOG_LINES_AFTER = 8
_MOST_MOMENTS_WITH_LOGS = 8
_MOST_EVENTS = 600


def header(evidence: RunEvidence) -> str:
    """Test, outcome, conditions, and how to run it again."""
    about = evidence.history.header
    how = circumstances_in(redacted_values(about.extra))
    parts = [f"<h1>{_text(about.test_id)} {_outcome(evidence)}</h1>", *_found(evidence)]
    parts += [f'<p class="notice">{_text(notice)}</p>' for notice in evidence.notices]
    parts.append(f"<dl>{_listed(_conditions(evidence))}</dl>")
    again = f'<p class="again"><span>again</span><code>{_text(how.reproduce)}</code></p>' if how.reproduce else ""
    circumstances = f"<dl>{_listed(_circumstances(evidence, how))}</dl>{again}"
    parts.append(f"<details><summary>How it was run</summary>{circumstances}</details>")
    return "\n".join(parts)


def _conditions(evidence: RunEvidence) -> dict[str, object]:
    about = evidence.history.header
    return {"Kafka": about.kafka, "topology": about.topology, "seed": about.seed, "took": clock(evidence.end_ns)}


def _circumstances(evidence: RunEvidence, how: Circumstances) -> dict[str, object]:
    about = evidence.history.header
    return {
        "provider": about.provider,
        "profile": about.profile,
        "began": about.started_at[:19].replace("T", " "),
        "pytest-kmigrate": how.pytest_kmigrate or "",
        "Python": how.python,
        "run": about.run_id,
    }


def _listed(facts: Mapping[str, object]) -> str:
    known = ((name, value) for name, value in facts.items() if value != "")
    return "".join(f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>" for name, value in known)


def _outcome(evidence: RunEvidence) -> str:
    """The badge of the run: a run of known violations only is no red."""
    return _KNOWN_BADGE if evidence.is_known else badge(evidence.outcome)


def _found(evidence: RunEvidence) -> Iterator[str]:
    """What is asked of a reader, before the picture: new violations or what is open, then what is known."""
    numbered = list(enumerate(evidence.checks))
    new = [(number, each) for number, each in numbered if is_new(each)]
    left = [(number, each) for number, each in numbered if each.counts and each.outcome is Outcome.INCONCLUSIVE]
    shown = new or ([] if evidence.outcome is Outcome.VIOLATES else left)
    for number, each in shown[:_MOST_FOUND]:
        sign, style = SIGNS[each.outcome], each.outcome.name.lower()
        name = f'<a href="#verdict-{number}">{_text(each.check)}</a>'
        yield f'<p class="found-first {style}">{sign} {name}: {_text(_short(each.summary))}</p>'
    if len(shown) > _MOST_FOUND:
        yield f'<p class="found-first">and {len(shown) - _MOST_FOUND} more below</p>'
    known = dict.fromkeys(bug for each in evidence.checks for bug in each.known_bugs)
    defects = [each for each in known if grade_of(each) is Word.DEFECT]
    departures = counted(len(known) - len(defects), "departure")
    parts = [*defects, *([f"{departures} from the text"] if len(known) > len(defects) else [])]
    if parts:
        yield f'<p class="found-first known">{KNOWN} violated as known: {_text(", ".join(parts))}</p>'


def _short(summary: str) -> str:
    return summary if len(summary) <= _LONGEST_SUMMARY else f"{summary[:_LONGEST_SUMMARY]}…"


def is_new(verdict: Verdict) -> bool:
    """Whether it violates by what nothing known explains."""
    return verdict.outcome is Outcome.VIOLATES and not verdict.known_bugs


def requirement_list(evidence: RunEvidence) -> str:
    """The requirements of the run by their outcome, the worst first, folded; nothing where there are none."""
    about = evidence.history.header
    rows = [("claimed", about.requirements)] if about.requirements else []
    for (outcome, is_unknown), named in _by_outcome(evidence).items():
        is_known = outcome is Outcome.VIOLATES and not is_unknown
        word = f"{KNOWN if is_known else SIGNS[outcome]} {outcome.name.replace('_', ' ').lower()}"
        rows.append((f"{word}{' as known' if is_known else ''}", tuple(named)))
    lines = [f"<div><dt>{name}</dt><dd>{' '.join(map(_requirement, named))}</dd></div>" for name, named in rows]
    counts = ", ".join(f"{len(named)} {name}" for name, named in rows)
    folded = f"<details><summary>Requirements: {counts}</summary><dl>{''.join(lines)}</dl></details>"
    return folded if rows else ""


def _by_outcome(evidence: RunEvidence) -> dict[tuple[Outcome, bool], list[str]]:
    """The requirements that this run could have violated, by their worst outcome, the worst first.

    With each outcome, whether no known bug or deviation explains it: a run conforms beside those that one does.
    """
    worst: dict[str, tuple[Outcome, bool]] = {}
    for verdict in evidence.checks:
        for about in (each for each in verdict.about if not each.is_vacuous):
            found = about.outcome, about.outcome is Outcome.VIOLATES and not about.known_bugs
            worst[about.requirement] = max(found, worst.get(about.requirement, found))
    by_outcome: dict[tuple[Outcome, bool], list[str]] = {}
    for each in sorted(worst):
        by_outcome.setdefault(worst[each], []).append(each)
    return dict(sorted(by_outcome.items(), reverse=True))


def _requirement(requirement_id: str) -> str:
    try:
        statement = requirement(requirement_id).statement
    except WrongUseError:
        statement = "not in this release's catalogue"
    return f'<abbr title="{_text(statement)}">{_text(requirement_id)}</abbr>'


def badge(outcome: Outcome) -> str:
    """An outcome as sign, word and colour."""
    return f'<span class="badge {outcome.name.lower()}">{SIGNS[outcome]} {outcome.name.replace("_", " ")}</span>'


def verdict_list(evidence: RunEvidence) -> str:
    """All verdicts: what is new, then what is open; known violations, what conforms and what was idle are folded."""
    numbered = sorted(enumerate(evidence.checks), key=lambda each: (not each[1].counts, -each[1].outcome))
    slices = _Slices(evidence)
    idle = [verdict for verdict in evidence.checks if verdict.standing and verdict.is_vacuous]
    drawn = [(each, _verdict(evidence, number, each, slices)) for number, each in numbered if each not in idle]
    shown = [text for verdict, text in drawn if not _is_folded(verdict)]
    known = [text for verdict, text in drawn if verdict.known_bugs]
    green = [text for verdict, text in drawn if verdict.outcome is Outcome.CONFORMS]
    rest = [text for verdict, text in drawn if verdict.outcome is Outcome.NOT_APPLICABLE]
    parts = [
        *shown,
        *_folded(known, f"{KNOWN} {counted(len(known), 'check')} violated as known"),
        *_folded(green, f"{SIGNS[Outcome.CONFORMS]} {counted(len(green), 'check')} without a violation"),
        *_folded(rest, f"{counted(len(rest), 'check')} did not apply"),
        *_idle(idle),
    ]
    return "\n".join(parts)


def _is_folded(verdict: Verdict) -> bool:
    return bool(verdict.known_bugs) or verdict.outcome in (Outcome.CONFORMS, Outcome.NOT_APPLICABLE)


def _folded(verdicts: Collection[str], summary: str) -> Iterator[str]:
    if verdicts:
        yield f"<details><summary>{summary}</summary>{''.join(verdicts)}</details>"


def _idle(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Checks that are judged in every run and could not have failed in this one."""
    if verdicts:
        names = ", ".join(_text(verdict.check) for verdict in verdicts)
        summary = f"{len(verdicts)} more checks had nothing to look at"
        yield f'<details class="idle"><summary>{summary}</summary>{names}</details>'


def _verdict(evidence: RunEvidence, number: int, verdict: Verdict, slices: "_Slices") -> str:
    kind = f' <span class="kind">{verdict.kind.value.lower()}</span>' if verdict.kind else ""
    reported = f"<b>{_text(verdict.check)}</b>{kind} <span>{_text(verdict.summary)}</span>"
    sign = _KNOWN_BADGE if verdict.known_bugs else badge(verdict.outcome)
    style = "verdict known" if verdict.known_bugs else "verdict"
    parts = [f'<div class="{style}" id="verdict-{number}"><div class="head">{sign}<p>{reported}</p></div>']
    parts += [f'<p class="bug">{_text(each)}</p>' for each in described(verdict.known_bugs)]
    for position, violation in enumerate(verdict.violations):
        parts.append(_violation(evidence, f"violation-{number}-{position}", violation, slices))
    if verdict.count > len(verdict.violations) > 0:
        parts.append(f"<p>and {verdict.count - len(verdict.violations)} more of {verdict.count}</p>")
    return "".join([*parts, "</div>"])


def _violation(evidence: RunEvidence, name: str, violation: Violation, slices: "_Slices") -> str:
    at_ns = evidence.moment_of(violation)
    rows = [("expected", _text(violation.expected)), ("observed", _text(violation.observed))]
    if at_ns is not None:
        reported = f"{_text(when(evidence, at_ns))}: show on the timeline"
        rows.append(("when", f'<button type="button" data-jump="{ms(at_ns)}">{reported}</button>'))
    if violation.evidence:
        rows.append(("evidence", ", ".join(_evidence(evidence, each) for each in violation.evidence)))
    table = "".join(f"<div><dt>{key}</dt><dd>{value}</dd></div>" for key, value in rows)
    return f'<div class="violation" id="{name}"><dl>{table}</dl>{slices.around(violation, at_ns)}</div>'


def _evidence(evidence: RunEvidence, name: str) -> str:
    number = name.removeprefix("event ")
    known = number.isdecimal() and int(number) < len(evidence.history.events)
    return f'<a href="#event-{number}">{_text(name)}</a>' if known else _text(name)


def when(evidence: RunEvidence, at_ns: int) -> str:
    """A moment relative to faults and phases, such as "12.40 s, in HYBRID, 1.20 s after kill(broker-0) began"."""
    parts = [clock(at_ns)]
    phase = _last(evidence.history.states(PHASE), at_ns)
    parts += [f"in {phase.what.state}"] if phase else []
    edge = _last(evidence.history.of(FaultBegan, FaultHealed), at_ns)
    if edge:
        begun = evidence.history.of(FaultBegan)
        names = {event.what.fault_id: event.what.fault for event in begun}
        verb = "began" if is_a(edge, FaultBegan) else "was healed"
        parts.append(f"{clock(at_ns - edge.at_ns)} after {names.get(edge.what.fault_id, 'a fault')} {verb}")
    return ", ".join(parts)


def _last(events: Sequence[Recorded[A]], at_ns: int) -> Recorded[A] | None:
    return next((event for event in reversed(events) if event.at_ns <= at_ns), None)


class _Slices:
    """Log slices of violations; those at one moment are shown once, and only the first moments have any."""

    def __init__(self, evidence: RunEvidence) -> None:
        self._evidence = evidence
        self._shown: dict[int, str] = {}

    def around(self, violation: Violation, at_ns: int | None) -> str:
        """The logs of the nodes that a violation concerns, up to its moment and a little after."""
        if at_ns is None:
            return ""
        if at_ns in self._shown:
            return f"<p>logs: shown at {self._shown[at_ns]} above</p>"
        if len(self._shown) == _MOST_MOMENTS_WITH_LOGS:
            return "<p>logs: in the run folder</p>"
        self._shown[at_ns] = clock(at_ns)
        nodes = concerned(self._evidence, violation, at_ns)
        slices = (self._evidence.log_slice(node, at_ns, _LOG_LINES_BEFORE, _LOG_LINES_AFTER) for node in nodes)
        return "".join(_log(each, at_ns) for each in slices if each is not None)


def _log(piece: LogSlice, at_ns: int) -> str:
    before = "\n".join(piece.before) or "(nothing yet)"
    after = "\n".join(piece.after)
    after = f'\n<mark>— {clock(at_ns)} —</mark>\n<span class="after">{_text(after)}</span>' if after else ""
    title = f"log of {_text(piece.node)} up to {clock(at_ns)}"
    return f"<details><summary>{title}</summary><pre>{_text(before)}{after}</pre></details>"


def concerned(evidence: RunEvidence, violation: Violation, at_ns: int) -> list[str]:
    """The nodes a violation names, those of its events, of the fault and of the controller then; else all nodes."""
    reported = " ".join((violation.expected, violation.observed, *violation.evidence))
    names = {event.node for event in evidence.events_of(violation)}
    names |= {node for node in evidence.nodes if node in reported}
    fault = _last(evidence.history.of(FaultApplied), at_ns)
    names |= targets_of(fault) if fault else set()
    controller = _last(evidence.history.of(ActiveControllerChanged), at_ns)
    names |= {str(controller.what.controller)} if controller else set()
    return [node for node in evidence.nodes if node in names] or evidence.nodes


def event_table(evidence: RunEvidence) -> str:
    """The events in order; of metadata changes only those that failed or that a violation names."""
    named = {event.seq for violation in evidence.violations for event in evidence.events_of(violation)}
    kept = [event for event in evidence.history.events if _is_shown(event) or event.seq in named]
    left_out = max(0, len(kept) - _MOST_EVENTS)
    kept = [event for number, event in enumerate(kept) if number < _MOST_EVENTS or event.seq in named]
    rows = "".join(
        f'<tr id="event-{event.seq}"><td>{event.seq}</td><td><button type="button" data-jump="{ms(event.at_ns)}">'
        f"{clock(event.at_ns)}</button></td><td>{event.kind}</td><td>{_text(event.node or '')}</td>"
        f"<td>{_text(event_text(event))}</td></tr>"
        for event in kept
    )
    more = f"<p>and {left_out} more in history.jsonl</p>" if left_out else ""
    return f'<div class="scroll"><table><tr><th>event<th>at<th>kind<th>node<th>data</tr>{rows}</table></div>{more}'


def _is_shown(event: Event) -> bool:
    return not is_a(event, MetadataChanged) or event.what.outcome != "ok"


def _text(value: object) -> str:
    return escape(str(redacted_values(str(value))))
