"""The legend of the timeline, and the colours of a document's states."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.reports.one_run.run_evidence import read_evidence
from pytest_kmigrate.reports.one_run.timeline import drawn, shown_lanes, timeline_page
from pytest_kmigrate.reports.one_run.timeline_lanes import STATE_COLOURS, other_state_lanes, phase_lane
from pytest_kmigrate.reports.one_run.timeline_legend import legend
from tests.unit.reports.recorded_runs import GREEN, HEADER, RecordedRun, faulty_run, lost


def _legend(run: RecordedRun) -> dict[str, str]:
    page = timeline_page(read_evidence(run.end(9_000, lost(1_250, "event 5"))))
    (reported,) = re.findall(r'<dl class="legend">(.*?)</dl>', page)
    lines = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", reported)
    return {label: " ".join(re.sub("<[^>]+>", "", line).split()) for label, line in lines}


def test_the_legend_names_the_marks_of_the_run(tmp_path: Path) -> None:
    """By lane, since a cross is a killed node in one and an unmet expectation in another; nodes are reported once."""
    run = faulty_run(tmp_path)
    run.at(2_100, EventKind.EXPECTATION, name="all is well", met=False)
    run.at(2_200, EventKind.EXPECTATION, name="all is well", met=True)
    run.at(2_300, EventKind.NODE_WIPED, "broker-1")
    run.at(2_400, EventKind.FAULT_BEGAN, fault="cut", fault_id="fault-2", effect="cut", trigger="now")

    reported = _legend(run)

    assert reported["Violations"] == "✖ new violation"
    assert "✓ expectation met ✖ expectation not met" in reported["Notes"]
    assert reported["Nodes"] == "✖ node was killed"
    assert reported["Faults"] == "in force, though no witness saw it"
    assert "trouble" not in str(reported)


def test_every_mark_that_is_drawn_is_in_the_legend(tmp_path: Path) -> None:
    """A mark without a meaning would be a riddle; the script is given none of it, as the page has it in words."""
    run = faulty_run(tmp_path)
    for number, kind in enumerate((EventKind.SETTLED, EventKind.SNAPSHOT, EventKind.HARNESS_TROUBLE, EventKind.CHECKS)):
        run.at(2_100 + number, kind)
    evidence = read_evidence(run.end(9_000, lost(1_250, "event 5")))

    lanes = shown_lanes(evidence)
    unnamed = {
        (lane.label, mark.glyph) for lane in lanes for mark in lane.marks if (mark.style, mark.glyph) not in lane.signs
    }
    assert unnamed == set()
    assert "signs" not in str(drawn(evidence))


def test_a_run_without_marks_has_no_legend(tmp_path: Path) -> None:
    """Nothing is explained that is not there."""
    evidence = read_evidence(RecordedRun(tmp_path).end(10, GREEN))

    assert legend(shown_lanes(evidence)) == ""


def _states(tmp_path: Path, values: list[str], declared: object) -> RecordedRun:
    header = replace(HEADER, extra={"states": declared})
    run = RecordedRun(tmp_path, header)
    for number, (before, value) in enumerate(pairwise([None, *values])):
        for name in ("phase", "paint"):
            run.at(number, EventKind.STATE, of=name, state=value, previous=before)
    return run


def test_a_state_has_the_colour_of_its_place_in_the_document(tmp_path: Path) -> None:
    """Also in a run that begins in the middle; a value that the document does not name comes after its own."""
    run = _states(tmp_path, ["UPGRADED", "NEW", "ODD"], {"phase": ["NEW", "CANARY", "UPGRADED"]})
    evidence = read_evidence(run.end(9, GREEN))

    assert [band.style for band in phase_lane(evidence).bands] == ["state state-2", "state state-0", "state state-3"]
    (paint,) = other_state_lanes(evidence)
    assert [band.style for band in paint.bands] == ["state state-0", "state state-1", "state state-2"]


def test_older_folders_are_coloured_as_their_run_went(tmp_path: Path) -> None:
    """Their header has no states, or something else; with more values than colours these begin anew."""
    many = [f"S{number}" for number in range(STATE_COLOURS + 1)]
    for folder, declared in (("none", None), ("odd", "ZOOKEEPER"), ("text", {"phase": 7})):
        evidence = read_evidence(_states(tmp_path / folder, many, declared).end(99, GREEN))
        styles = [band.style for band in phase_lane(evidence).bands]
        assert styles == [f"state state-{number}" for number in (*range(STATE_COLOURS), 0)]
