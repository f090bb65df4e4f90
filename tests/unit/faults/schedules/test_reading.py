"""Facts about lines of schedules: what they come to, and that every mistake is found at once."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.faults.schedules.contradictions import Walkable
from pytest_kmigrate.faults.schedules.header import header_of
from pytest_kmigrate.faults.schedules.reading import read_night, schedule_of
from pytest_kmigrate.faults.schedules.schedule import Schedule, data_of, line_of, lines_of
from pytest_kmigrate.faults.schedules.spelling import Mistake
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.running.carrying_out import walkable

KIP, GROUPS = walkable("kip-866"), walkable("kip-125")


def _data(**changes: Any) -> dict[str, Any]:
    kill = {
        "id": 1,
        "fault": {"kind": "kill", "target": "active-controller"},
        "begin": {"state": "HYBRID"},
        "release": {},
    }
    pause = {
        "id": 2,
        "fault": {"kind": "pause", "target": "random-broker"},
        "begin": {"state": "HYBRID", "of": 1, "when": "begun", "after_operations": 10},
        "release": {"operations": 5, "at_most_s": 2.5},
    }
    return {
        "schema": 1,
        "document": "kip-866",
        "topology": "zk1-broker3-controller3",
        "starts_at": "HYBRID",
        "walk": ["HYBRID", "ALL_KRAFT"],
        "changes_per_s": 0.5,
        "seed": 7,
        "happenings": [kill, pause],
        **changes,
    }


def _read(data: object) -> tuple[Schedule | None, list[str]]:
    mistakes: list[Mistake] = []
    found = schedule_of(json.dumps(data), _one, mistakes)
    return found, [str(each) for each in mistakes]


_LONG = {"kind": "hold", "point": "long-copy"}


def _one(document: str) -> Walkable:
    if document not in (KIP.document, GROUPS.document):
        raise WrongUseError(f"expected kip-866, got {document!r}")
    return KIP if document == KIP.document else GROUPS


def test_a_line_comes_back_as_it_was() -> None:
    """The same text for the same schedule, so its digest is the test's name everywhere."""
    schedule, mistakes = _read(_data())
    assert mistakes == []
    assert schedule is not None
    assert data_of(schedule) == _data()
    again, _ = _read(json.loads(line_of(schedule)))
    assert again is not None
    assert (again.digest, again.name) == (schedule.digest, schedule.name)
    assert schedule.name == f"HYBRID-kill-pause-{schedule.digest[:8]}"


def test_a_crash_point_comes_back_as_it_was() -> None:
    """As the begin of a happening, and as the place where a node is held."""
    schedule, mistakes = _read(_data(happenings=[{**_LATE, "release": {}}, {**_HOLD, "fault": _LONG, "release": {}}]))
    assert mistakes == []
    assert schedule is not None
    assert Capability.CRASH_POINTS in schedule.needs
    assert schedule.without(2).needs >= {Capability.CRASH_POINTS}
    assert data_of(schedule)["happenings"][0]["begin"] == {"state": "HYBRID", "at": "late-config"}
    assert data_of(schedule)["happenings"][1]["fault"] == _LONG
    assert schedule.name.startswith("HYBRID-kill-hold-")


def test_acts_come_back_as_they_were() -> None:
    """They follow each other, so they have neither begin nor release."""
    acts = [{"id": 1, "act": "toggle"}, {"id": 2, "act": "kill"}]
    schedule, mistakes = _read(_data(**_GROUP, happenings=acts))
    assert mistakes == []
    assert schedule is not None
    assert data_of(schedule)["happenings"] == acts
    assert data_of(schedule.without(1))["happenings"] == acts[1:]
    assert schedule.name.startswith("START-toggle-kill-")


def test_what_a_schedule_needs_is_known_before_it_runs() -> None:
    """Of its faults, its traffic and its changes of metadata."""
    schedule, _ = _read(_data())
    assert schedule is not None
    assert {Capability.KILL, Capability.PAUSE, Capability.TRAFFIC, Capability.CHANGE} <= schedule.needs
    assert Capability.PAUSE not in schedule.without(2).needs


def test_without_a_happening_the_others_stay_as_they_are() -> None:
    """Also one that waited for it: it waits for its state alone."""
    schedule, _ = _read(_data())
    assert schedule is not None
    (left,) = schedule.without(1).happenings
    assert (left.fault, left.begin.state, left.begin.of) == (schedule.happenings[1].fault, "HYBRID", None)
    assert schedule.without(1).named(1) is None


_KILL = _data()["happenings"][0]
_PAUSE = _data()["happenings"][1]
_LATE = {**_KILL, "begin": {"state": "HYBRID", "at": "late-config"}}
_HOLD: dict[str, Any] = {"id": 2, "fault": {"kind": "hold", "point": "late-config"}, "begin": {"state": "HYBRID"}}
_GROUP: dict[str, Any] = {"document": "kip-125", "walk": [], "starts_at": None, "changes_per_s": 0}
_ALL_BROKERS = {"kind": "kill", "target": "every-broker"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema": 2}, "schema: expected 1; got 2"),
        ({"schema": True}, "schema: expected 1; got True"),
        ({"schema": None}, "schema: expected 1; got none"),
        ({"document": ["kip-866"]}, "document: expected the name of a document, such as kip-866; got"),
        ({"document": "kip-125", "walk": ["HYBRID"]}, "walk: expected .., as kip-125 walks through nothing"),
        ({"changes_per_s": 10**400}, "changes_per_s: expected a number from 0 to 100; got 1000*[.][.][.]$"),
        ({"seed": 10**400}, "seed: expected a whole number from 0 to 999999999999999999; got 10*[.]"),
        (
            {"happenings": [{**_KILL, "fault": {"kind": "starve", "target": "random-broker", "percent": -1}}]},
            "fault.percent: expected a whole number from 1 to 99; got -1",
        ),
        (
            {"happenings": [{**_KILL, "fault": {"kind": "kill", "target": f"leader-of(orders-{'9' * 5000})"}}]},
            "fault.target: expected a target",
        ),
        (
            {"happenings": [{**_KILL, "fault": {"kind": "kill", "target": "leader-of(orders-\u0663)"}}]},
            "fault.target: expected a target",
        ),
        ({"document": "kip-86"}, "document: expected kip-866"),
        ({"topology": "zk1-broker3-controler3"}, "topology: "),
        ({"topology": None}, "topology: expected the name of a shipped topology"),
        ({"walk": ["HYBRD"]}, "walk: expected a list of PREPARING, HYBRID, ALL_KRAFT, FINALIZED"),
        ({"walk": ["ALL_KRAFT", "HYBRID"]}, "walk: expected the states in their order"),
        ({"starts_at": "ALL_KRAFT"}, "walk: expected the states in their order"),
        ({"starts_at": "PREPARING"}, "starts_at: expected HYBRID, ALL_KRAFT, or null"),
        ({"changes_per_s": -1}, "changes_per_s: expected a number from 0 to 100"),
        ({"seed": 1.5}, "seed: expected a whole number"),
        ({"seed": True}, "seed: expected a whole number"),
        ({"happenings": []}, "happenings: expected a list of 1 to 8; got 0"),
        ({"happenings": [_KILL] * 9}, "happenings: expected a list of 1 to 8; got 9"),
        ({"happening": []}, 'happening: expected no such key: there are .*; did you mean "happenings"'),
        ({"happenings": [_KILL, {**_PAUSE, "id": 1}]}, "happenings[0].id: expected an id of its own; got 1"),
        ({"happenings": [{**_KILL, "begin": {"state": "FINALIZED"}}]}, "begin.state: expected a state on the walk"),
        ({"happenings": [{**_KILL, "begin": {"of": 1}}]}, "begin.of: expected a happening that does not wait"),
        ({"happenings": [{**_KILL, "begin": {"of": 3}}]}, "begin.of: expected the id of another happening"),
        ({"happenings": [{**_KILL, "begin": {"when": "begn"}}]}, 'begin.when: .*did you mean "begun"'),
        ({"happenings": [{**_KILL, "release": {"at_most_s": 0}}]}, "release.at_most_s: expected more than 0"),
        ({"happenings": [{**_KILL, "release": {"across": 1}}]}, "release.across: expected true or false"),
        ({"happenings": [{**_KILL, "release": {"forever": 1}}]}, "release.forever: expected no such key"),
        ({"happenings": [{**_KILL, "release": []}]}, "release: expected an object of operations"),
        ({"happenings": ["kill"]}, "happenings[0]: expected an object of id, fault, begin, release"),
        (
            {"happenings": [{**_KILL, "begin": {"state": "HYBRID", "at": "late-confg"}}]},
            'begin.at: .*mean "late-config"',
        ),
        ({"happenings": [{**_KILL, "begin": {"state": "HYBRID", "at": 1}}]}, "begin.at: expected the name"),
        ({"happenings": [{**_KILL, "begin": {"at": "late-config"}}]}, "begin.state: expected the state in which"),
        ({"happenings": [_LATE, {**_LATE, "id": 2}]}, "happenings[1].begin.at: expected a crash point that no other"),
        ({"happenings": [_LATE, _HOLD]}, "happenings[1].fault.point: expected a crash point that no other"),
        (
            {"happenings": [{**_HOLD, "fault": {**_HOLD["fault"], "role": "broker"}}]},
            "fault.role: expected controller, which comes to late-config; got 'broker'",
        ),
        ({"happenings": [{"id": 1, "act": "toggle"}]}, "happenings[0].act: expected none, as kip-866 has faults"),
        ({**_GROUP, "happenings": [_KILL]}, "fault: expected no such key: there are id, act"),
        ({**_GROUP, "happenings": [{"id": 1, "act": "togle"}]}, 'happenings[0].act: .*did you mean "toggle"'),
        ({**_GROUP, "happenings": ["toggle"]}, "happenings[0]: expected an object of id, act"),
        (
            {**_GROUP, "happenings": [{"id": 1}], "changes_per_s": 1},
            "changes_per_s: expected 0, as acts change what they change",
        ),
        (
            {"happenings": [{**_KILL, "fault": _ALL_BROKERS, "release": {"across": True}}]},
            "release.across: expected false, as no step ends without any of every-broker",
        ),
        (
            {"happenings": [{**_KILL, "fault": {"kind": "expire-session", "target": "every-broker"}}]},
            "fault.target: expected one node, as a session is of one",
        ),
        (
            {"happenings": [_KILL, {**_PAUSE, "fault": {"kind": "pause", "target": "active-controller"}}]},
            "fault.target: expected a node that no other fault has stopped",
        ),
    ],
)
def test_a_line_with_a_mistake_is_none(changes: dict[str, Any], words: str) -> None:
    """It is refused before anything starts, by the key, and by what was expected there."""
    schedule, mistakes = _read(_data(**changes))
    assert schedule is None
    with pytest.raises(AssertionError, match=re.sub(r"\[(\d)\]", r"\\[\1\\]", words)):
        raise AssertionError("\n".join(mistakes))


def test_all_mistakes_of_a_line_are_reported_at_once() -> None:
    """A night of mistakes is mended in one go."""
    wrong = {**_KILL, "fault": {"kind": "kil"}, "begin": {"when": "x"}, "release": {"operations": -1}}
    _, mistakes = _read(_data(seed="x", walk="HYBRID", happenings=[wrong]))
    assert [each.partition(":")[0] for each in mistakes] == [
        "walk",
        "happenings[0].fault.kind",
        "happenings[0].begin.when",
        "happenings[0].release.operations",
        "seed",
    ]


def test_one_mistake_of_a_key_does_not_hide_another() -> None:
    """Neither in what starts_at holds beside a walk that is none, nor what of one happening is none."""
    _, mistakes = _read(_data(walk=None, starts_at="X", happenings=[None, {**_KILL, "id": -1}]))
    assert [each.partition(":")[0] for each in mistakes] == [
        "walk",
        "starts_at",
        "happenings[0]",
        "happenings[1].id",
    ]
    _, mistakes = _read(_data(happenings=[{"id": 1, "act": "toggle", "fault": {"kind": "kil"}}]))
    assert mistakes == ["happenings[0].act: expected none, as kip-866 has faults; got 'toggle'"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"seed": 1, "seed": 2}', "seed: expected once; got the key twice in one object"),
        (
            json.dumps(_data()).replace('"id": 2', '"id": 2, "id": 3'),
            "id: expected once; got the key twice in one object",
        ),
        (json.dumps(_data(topology="\ud800")), "the line: expected text that UTF-8 has; got half a character: \\ud800"),
        (json.dumps(_data()).replace("0.5", "9" * 5000), "changes_per_s: expected a number from 0 to 100; got 999"),
        (json.dumps(_data()).replace("0.5", "NaN"), "changes_per_s: expected a number from 0 to 100; got nan"),
        ("null", "the line: expected an object; got none"),
    ],
    ids=lambda each: each[-30:],
)
def test_json_that_no_schedule_is_written_in(line: str, expected: str) -> None:
    """The last of two values would be taken, and a text that no file can hold has no digest."""
    mistakes: list[Mistake] = []
    assert schedule_of(line, _one, mistakes) is None
    assert [each for each in map(str, mistakes) if each.startswith(expected)]


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    """Text may hold what Python takes for an end; an editor may mark the file, and end its lines by two characters."""
    fault = {"kind": "tamper", "path": "/migration", "data": "a\u2028b\x85c"}
    schedule, mistakes = _read(_data(happenings=[{**_KILL, "fault": fault}]))
    assert mistakes == []
    assert schedule is not None
    file = tmp_path / "night.jsonl"
    header = header_of([schedule], document="kip-866", seed=7, space="0" * 64, tables=None, harness="1" * 64)
    file.write_text(lines_of([schedule], header), encoding="utf-8")
    assert read_night(file, _one).schedules[0].digest == schedule.digest
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert read_night(file, _one).header["seed"] == 7


def test_a_schedule_over_several_lines_is_one_mistake(tmp_path: Path) -> None:
    """As the guide shows it, and as editors write it."""
    file = tmp_path / "night.jsonl"
    file.write_text(f"{json.dumps(_data())}\n{json.dumps(_data(), indent=1)}\n")
    with pytest.raises(WrongUseError) as refused:
        read_night(file, _one)
    (only,) = str(refused.value).splitlines()
    assert only.endswith(
        "line 2: the line: expected a schedule as one line of JSON; got JSON over 42 lines: join them, as jq -c does"
    )


def test_a_line_that_comes_twice_is_refused(tmp_path: Path) -> None:
    """Both would be one test, which has one run and one place in the night."""
    file = tmp_path / "night.jsonl"
    file.write_text(f"{json.dumps(_data())}\n{json.dumps(_data(seed=8))}\n\n{json.dumps(_data())}\n")
    with pytest.raises(WrongUseError, match="line 4: the line: expected another schedule than line 1; got the same: "):
        read_night(file, _one)


def test_a_night_is_read_with_its_header_or_without(tmp_path: Path) -> None:
    """Its first line may say where it comes from; a night that lost lines is not whole."""
    schedule, _ = _read(_data())
    assert schedule is not None
    file = tmp_path / "night.jsonl"
    file.write_text(lines_of([schedule, schedule.without(1)]))
    assert [each.digest for each in read_night(file, _one).schedules] == [schedule.digest, schedule.without(1).digest]
    file.write_text(lines_of([schedule], {"night": 1, "lines": 1}))
    assert read_night(file, _one).header["lines"] == 1
    file.write_text(lines_of([schedule], {"night": 1, "lines": 2}))
    with pytest.raises(WrongUseError, match="line 1: lines: expected 2 schedules to follow; got 1"):
        read_night(file, _one)


def test_a_file_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    """Not there, empty, no text, damaged in the second line."""
    file = tmp_path / "night.jsonl"
    with pytest.raises(WrongUseError, match="expected a file of schedules, one a line; got none: No such file"):
        read_night(file, _one)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WrongUseError, match="got no text in UTF-8: save it as such"):
        read_night(file, _one)
    file.write_text("\n")
    with pytest.raises(WrongUseError, match="expected at least one schedule"):
        read_night(file, _one)
    file.write_text(f"{json.dumps(_data())}\n{json.dumps(_data())[:40]}\n[]\n")
    with pytest.raises(
        WrongUseError, match=r"(?s)line 2: the line: expected JSON.*line 3: the line: expected an object"
    ):
        read_night(file, _one)


def test_a_damaged_night_is_refused_with_what_is_wrong(tmp_path: Path) -> None:
    """A line that was changed, one that is missing, a first line with mistakes, lines of another document."""
    schedule, _ = _read(_data())
    assert schedule is not None
    lines = [schedule, schedule.without(1)]
    header = header_of(lines, document="kip-866", seed=7, space="0" * 64, tables=None, harness="1" * 64)
    file = tmp_path / "night.jsonl"
    file.write_text(lines_of(lines, header))
    assert read_night(file, _one).header["seed"] == 7
    for damaged, expected in (
        (lines_of([schedule, schedule], header), "line 1: digest: expected that of the lines that follow"),
        (lines_of([schedule], header), "line 1: lines: expected 2 schedules to follow; got 1"),
        (lines_of(lines, {**header, "document": "kip-500"}), "line 1: document: expected the document of every line"),
        (lines_of(lines, {**header, "harness": "x", "seed": -1}), "(?s)line 1: harness: .*line 1: seed: "),
        (lines_of(lines, {**header, "without": ["reading"]}), "line 1: without: expected a list of final-read, images"),
        (lines_of(lines, {**header, "sede": 1, "night": 2}), "(?s)line 1: sede: expected no such key.*line 1: night: "),
        (lines_of(lines, {**header, "night": True}), "line 1: night: expected 1; got True"),
        (lines_of(lines, header)[5:], "line 1: the line: expected JSON"),
        (f"\n{lines_of(lines, header)}", "line 2: the line: expected a schedule; got the first line of a night"),
        (lines_of(lines, header) * 2, "line 4: the line: expected a schedule; got the first line of a night"),
    ):
        file.write_text(damaged)
        with pytest.raises(WrongUseError, match=expected):
            read_night(file, _one)
