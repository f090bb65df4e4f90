"""What was logged has times and a release of its own, which events cannot change."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pytest_kmigrate.distributions.releases import locked_release
from pytest_kmigrate.judging.coherence import clocks
from pytest_kmigrate.judging.coherence.coherence import disagreements
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.recording.run_folder import RunFolder
from tests.unit.judging.coherence.honest_runs import DIGEST, KILLED, Line, change_header, change_lines, honest_run
from tests.unit.reports.recorded_runs import HEADER, MS

NODE = "broker-0"


def line_at(
    at_ms: int, zone: timedelta = timedelta(), text: str = "Kafka version: 3.6.0 (x)", between: str = " "
) -> str:
    """A line that a node logs so long after the run began; ``between``: date and time, a T from Kafka 4.0 on."""
    moment = datetime.fromisoformat(HEADER.started_at) + timedelta(milliseconds=at_ms) + zone
    return f"{moment:%Y-%m-%d}{between}{moment:%H:%M:%S},{moment.microsecond // 1000:03} INFO {text}\n"


def with_log(folder: Path, *lines: str, digest: str | None = DIGEST) -> RunFolder:
    """An honest run whose broker has logged these lines before its last event."""
    run = honest_run(folder)
    log, begun = "".join(["it begins\n", *lines]).encode(), len(b"it begins\n")
    run.log(NODE).write_bytes(log)

    def logged(events: list[Line]) -> list[Line]:
        for event in events:
            event.pop("log_sha256", None)
            event["log_bytes"] = {NODE: len(log) if event is events[-1] else begun}
            if event["kind"] == "node-started":
                event["data"]["digest"] = digest
        return events

    change_lines(run.history, logged)
    return run


def found(run: RunFolder) -> list[str]:
    """What excludes each other about the log."""
    return [
        str(each) for each in disagreements(run, read_history(run)) if "log of" in str(each) or "its log" in str(each)
    ]


@pytest.mark.parametrize("hours", [0, -7, 5.75, 14])
def test_what_was_logged_between_two_events_lies_between_them(tmp_path: Path, hours: float) -> None:
    """In whatever time zone the node is; a held node logs what it had begun to."""
    zone = timedelta(hours=hours)
    assert found(with_log(tmp_path, line_at(2700, zone), line_at(2900, zone))) == []
    assert found(with_log(tmp_path / "held", line_at(2900 - 90_000, zone))) == []


@pytest.mark.parametrize("between", [" ", "T"])
@pytest.mark.parametrize("at_ms", [2900 + 7 * 60_000, 2900 + 60_000, 2900 - 5 * 60_000])
def test_a_run_under_another_start_is_found(tmp_path: Path, at_ms: int, between: str) -> None:
    """Minutes before or after, by the last line with a time."""
    lines = (line_at(2700, between=between), line_at(at_ms, between=between), "no time\n")
    (one,) = found(with_log(tmp_path, *lines))
    assert "the log of broker-0 grew from byte 10 to " in one
    assert "its last line there has the time 2026-" in one


def test_clocks_of_others_are_not_compared(tmp_path: Path) -> None:
    """A cluster that stands elsewhere has no digest of its jars, and a clock of its own."""
    assert found(with_log(tmp_path, line_at(7 * 60_000), digest=None)) == []


PATCHED = (
    "event 1 starts broker-0 with Kafka 3.6.0, but its log has the commit 0123456789abcdef, which that release is not "
    "built from"
)

OTHER_LINE = "event 1 starts broker-0 with Kafka 3.6.0, but its log has Kafka 3.9.1, of another line"


@pytest.mark.parametrize(
    ("text", "digest", "named"),
    [
        ("Kafka version: 3.6.0 (x)", DIGEST, []),
        ("Kafka version: 3.5.2 (x)", DIGEST, ["event 1 starts broker-0 with Kafka 3.6.0, but its log has Kafka 3.5.2"]),
        ("Kafka version: 7.1-acme (x)", "ab" * 32, []),
        ("Kafka version: 3.6.2 (x)", "ab" * 32, []),
        ("Kafka version: 3.9.1 (x)", "ab" * 32, [OTHER_LINE]),
        ("Kafka commitId: 60e845626d8a465a (x)", DIGEST, []),
        ("Kafka commitId: 0123456789abcdef (x)", DIGEST, [PATCHED]),
        ("Kafka commitId: 0123456789abcdef (x)", "ab" * 32, []),
    ],
)
def test_a_node_logs_the_release_that_it_runs(tmp_path: Path, text: str, digest: str, named: list[str]) -> None:
    """Another release, or a patched build, under its name and digest is found; a build may log a name of its own."""
    run = with_log(tmp_path, line_at(2900, text=text), digest=digest)
    change_header(run, extra={"distribution_digests": {"3.6.0": digest}})
    assert found(run) == named
    assert locked_release("3.6.0").digest() == DIGEST


def at(ms_after: int) -> Callable[[list[Line]], list[Line]]:
    """The first znode is ephemeral, and has a time so long after the run began."""
    written = int(datetime.fromisoformat(HEADER.started_at).timestamp() * 1000) + ms_after
    return lambda lines: [
        {**line, "is_ephemeral": True, "data": f'{{"brokerid":1,"timestamp":"{written}"}}', "mzxid": 5 + number}
        for number, line in enumerate(lines)
    ]


@pytest.mark.parametrize(("ms_after", "is_found"), [(100, False), (-3_600_000, True), (600_000, True)])
def test_a_time_in_an_ephemeral_znode_is_one_of_the_run(tmp_path: Path, ms_after: int, *, is_found: bool) -> None:
    """A node wrote it by its clock, in no time zone; an hour before the run began is another run's."""
    run = with_log(tmp_path, line_at(2900))
    change_lines(run.znodes, at(ms_after))
    named = [str(each) for each in disagreements(run, read_history(run)) if "it has a time" in str(each)]
    assert bool(named) is is_found
    assert MS


def _with_clock_of(run: RunFolder, node: str) -> RunFolder:
    """Its fault set the clock of a node instead, when the run was 300 to 350 ms old."""

    def another(events: list[Line]) -> list[Line]:
        for event in events:
            if event["kind"] == EventKind.FAULT_BEGAN:
                event["data"]["effect"] = "clock"
            if event["kind"] == EventKind.FAULT_APPLIED:
                event["data"]["targets"] = [node]
        return events

    change_lines(run.history, another)
    return run


@pytest.mark.parametrize(
    ("node", "within_ns", "is_found"),
    [(NODE, clocks.READ_WITHIN_NS, False), (KILLED, clocks.READ_WITHIN_NS, True), (NODE, 0, True)],
    ids=["its clock", "the clock of another", "long before"],
)
def test_a_clock_that_a_fault_has_set_is_no_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, node: str, within_ns: int, *, is_found: bool
) -> None:
    """What the node logs meanwhile has another time; a node whose clock was right has to have the right one."""
    monkeypatch.setattr(clocks, "READ_WITHIN_NS", within_ns)
    run = with_log(tmp_path, line_at(2700), line_at(2900, timedelta(seconds=-600)))
    assert found(run)
    assert bool(found(_with_clock_of(run, node))) is is_found
