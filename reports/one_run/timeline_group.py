"""Lanes of the timeline about a consumer group under test: its mode, its members, and who owned what when."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pytest_kmigrate.checkers.evidence.ownership import client_of, partitions_of
from pytest_kmigrate.checkers.evidence.spans import Span, spans
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.model.event import Event, EventKind, Recorded, is_a
from pytest_kmigrate.model.events.members import (
    AboutMember,
    MemberAssigned,
    MemberEnded,
    MemberMode,
    MemberReported,
    MemberStarted,
    ZnodeWritten,
)
from pytest_kmigrate.reports.one_run.run_evidence import RunEvidence, event_text
from pytest_kmigrate.reports.one_run.timeline_lanes import MS, Band, Lane, Mark, clock, ms

GROUP = "members"
MEMBER_COLOURS = 12
"""Colours of the style sheet for members, in their order; then they begin anew."""
_TALLEST_PX, _ROW_PX, _THINNEST_PX = 480, 20, 7
"""Of a lane of partitions: how tall it gets before its rows become thinner, and between what a row is."""


def group_lanes(evidence: RunEvidence) -> list[Lane]:
    """The mode, then each member, then the owners of each topic; none in a run without members."""
    members = sorted({event.what.member for event in evidence.history.of(MemberStarted)}, key=_place)
    styles = {name: f"m{at % MEMBER_COLOURS}" for at, name in enumerate(members)}
    if not members:
        return []
    member_lanes = [_member_lane(evidence, *each) for each in styles.items()]
    return [_mode_lane(evidence), *member_lanes, *_owner_lanes(evidence, styles)]


def _place(member: str) -> tuple[str, int]:
    """Kind and number of a member named ``KIND-10``, so that 10 comes after 9."""
    kind, _, number = member.rpartition("-")
    return kind, int(number) if number.isdecimal() else 0


# --- the mode: what the members follow, and what the operator wrote

_WRITTEN = ("plain", "✎")


def _mode_lane(evidence: RunEvidence) -> Lane:
    """What the members that are alive follow, as they report it, and what was written to znodes meanwhile."""
    modes: dict[int, str] = {}
    turns: list[tuple[int, str]] = [(0, "")]
    for event in evidence.history.of(MemberMode, MemberEnded):
        if is_a(event, MemberMode):
            modes[client_of(event)] = event.what.mode
        else:
            modes.pop(client_of(event), None)
        followed = _followed(modes.values())
        if followed != turns[-1][1]:
            turns.append((event.at_ns, followed))
    ends = [at_ns for at_ns, _ in turns[1:]] + [evidence.end_ns]
    bands = [
        Band(ms(at_ns), ms(end_ns), _mode_style(mode), mode, f"members follow {mode} for {clock(end_ns - at_ns)}")
        for (at_ns, mode), end_ns in zip(turns, ends, strict=True)
        if mode
    ]
    marks = [
        Mark(ms(event.at_ns), *_WRITTEN, f"the test, as an operator: {_write(event)}", f"event-{event.seq}")
        for event in evidence.history.of(ZnodeWritten)
    ]
    signs = {_WRITTEN: "the mode written, as an operator does"}
    return Lane("Mode of the group", bands=bands, marks=marks, group=GROUP, signs=signs)


def _followed(modes: Iterable[str]) -> str:
    """The one mode of all, or how many members follow each."""
    counts = sorted(Counter(modes).items())
    return ", ".join(mode if len(counts) == 1 else f"{count} {mode}" for mode, count in counts)


def _mode_style(mode: str) -> str:
    return f"mode-{mode}" if mode in ("kafka", "zookeeper") else "paused"


def _write(event: Recorded[ZnodeWritten]) -> str:
    data = event.what.data
    path = event.what.path
    return f"{path} deleted" if data is None else f"{data!r} written to {path}"


# --- one member: there, standing still or gone

_MEMBER_SIGNS = {
    ("bad", "✖"): "member was killed",
    ("bad", "†"): "member died by itself",
    ("plain", "◂"): "member left in order",
    ("unsure", "✖"): "member was refused",
    ("unsure", "!"): "warning of a member",
    ("plain", "|"): "Kafka's coordinator assigned partitions, or took them away",
}
_ENDS = {"killed": ("bad", "✖"), "died": ("bad", "†"), "stopped": ("plain", "◂"), "refused": ("unsure", "✖")}
_TURNS = {
    EventKind.MEMBER_STARTED: "there",
    EventKind.MEMBER_RESUMED: "there",
    EventKind.MEMBER_PAUSED: "paused",
    EventKind.MEMBER_ENDED: "",
}


def _is_about(event: Event, member: str) -> bool:
    return isinstance(event.what, AboutMember) and event.what.member == member


def _member_lane(evidence: RunEvidence, member: str, style: str) -> Lane:
    events = [
        each for each in evidence.history.events if isinstance(each.what, AboutMember) and each.what.member == member
    ]
    turns = [event for event in events if event.kind in _TURNS]
    ends = [event.at_ns for event in turns[1:]] + [evidence.end_ns]
    bands = []
    for event, end_ns in zip(turns, ends, strict=False):
        if state := _TURNS[event.kind]:
            text = "stands still" if state == "paused" else "in the group"
            tip = f"{member}: {text} for {clock(end_ns - event.at_ns)}"
            bands.append(Band(ms(event.at_ns), ms(end_ns), style if state == "there" else state, text, tip))
    marks = list(_member_marks(member, events))
    return Lane(member, bands=bands, marks=marks, swatch=style, group=GROUP, signs=_MEMBER_SIGNS)


def _member_marks(name: str, events: Iterable[Event]) -> Iterator[Mark]:
    for event in events:
        at, link = ms(event.at_ns), f"event-{event.seq}"
        if is_a(event, MemberEnded):
            how = event.what.how
            yield Mark(at, *_ENDS[how], f"{name}: {how}, status {event.what.status}\n{event.what.said}", link)
        elif is_a(event, MemberReported) and event.what.what == "warning":
            yield Mark(at, "unsure", "!", f"{name}\n{event_text(event)}", link)
        elif is_a(event, MemberAssigned):
            count = counted(len(partitions_of(event)), "partition")
            yield Mark(at, "plain", "|", f"{name}: {count} {event.what.what} by Kafka's coordinator", link)


# --- owners: a row per partition, in the colour of the member that reports to own it


def _owner_lanes(evidence: RunEvidence, styles: Mapping[str, str]) -> Iterator[Lane]:
    names = {client_of(event): event.what.member for event in evidence.history.of(MemberStarted)}
    by_topic: dict[str, list[Span]] = defaultdict(list)
    for (topic, _), those in spans(evidence.history).items():
        by_topic[topic] += those
    for topic, those in by_topic.items():
        rows = 1 + max(each.partition[1] for each in those)
        row_px = max(_THINNEST_PX, min(_ROW_PX, _TALLEST_PX // rows))
        bands = [_owned(evidence, each, names, styles) for each in those]
        bands += [_shared(*each, names) for each in _overlaps(evidence, those)]
        yield Lane(f"Owners of {topic}", bands=bands, rows=rows, row_px=row_px, group=GROUP)


def _owned(evidence: RunEvidence, span: Span, names: Mapping[int, str], styles: Mapping[str, str]) -> Band:
    end_ns, name = min(span.ended_ns, evidence.end_ns), names.get(span.client, f"client {span.client}")
    by = f", as {span.source} assigns" if span.source else ""
    tip = f"{span.partition[0]}-{span.partition[1]}: {name} for {clock(end_ns - span.began_ns)}{by}"
    return Band(ms(span.began_ns), ms(end_ns), styles.get(name, "m0"), name, tip, span.partition[1])


def _overlaps(evidence: RunEvidence, those: Iterable[Span]) -> Iterator[tuple[Span, Span, int]]:
    """Two spans of one partition of which the second began before the end of the first, and when that was over."""
    last: dict[int, Span] = {}
    for span in sorted(those, key=lambda each: each.began_ns):
        before = last.get(span.partition[1])
        if before is not None and before.ended_ns > span.began_ns and before.client != span.client:
            yield before, span, min(before.ended_ns, span.ended_ns, evidence.end_ns)
        last[span.partition[1]] = max(span, before or span, key=lambda each: each.ended_ns)


def _shared(before: Span, after: Span, end_ns: int, names: Mapping[int, str]) -> Band:
    """By reports only: a member that stands still reports its release late. Whether both read is for the checks."""
    both = " and ".join(names.get(each.client, f"client {each.client}") for each in (before, after))
    took = f"{(end_ns - after.began_ns) / MS:.0f} ms"
    tip = f"{after.partition[0]}-{after.partition[1]}: by their reports {both} owned it for {took}"
    return Band(ms(after.began_ns), ms(end_ns), "shared", "", tip, after.partition[1])
