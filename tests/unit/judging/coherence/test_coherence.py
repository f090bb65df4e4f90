"""Evidence that was changed in one place disagrees with another, and then nothing conforms."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_kmigrate.judging.coherence.coherence import COHERENT
from pytest_kmigrate.judging.coherence.streams import within_the_run
from pytest_kmigrate.judging.rejudge import judge_again
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.operations import OperationKind
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.recording.run_folder import RunFolder
from tests.unit.checkers.histories import event, history, sample
from tests.unit.judging.coherence.honest_runs import (
    KILLED,
    Line,
    change_header,
    change_lines,
    change_rows,
    honest_run,
    judged_anew,
    sealed_anew,
)
from tests.unit.reports.recorded_runs import HEADER, MS, with_header

Change = Callable[[RunFolder], None]


def of_history(change: Callable[[list[Line]], list[Line]]) -> Change:
    """A change of events."""
    return lambda folder: change_lines(folder.history, change)


def of_operations(change: Callable[[list[Line]], list[Line]]) -> Change:
    """A change of client operations."""
    return lambda folder: change_rows(folder, change)


def without(*kinds: str) -> Callable[[list[Line]], list[Line]]:
    """Events without those of these kinds, numbered anew."""

    def changed(lines: list[Line]) -> list[Line]:
        kept = [line for line in lines if line["kind"] not in kinds]
        return [{**line, "seq": seq} for seq, line in enumerate(kept)]

    return changed


def shifted(lines: list[Line]) -> list[Line]:
    """All events but the first two seconds earlier."""
    return [{**line, "at_ns": max(0, line["at_ns"] - 2000 * MS)} for line in lines]


def hidden(lines: list[Line]) -> list[Line]:
    """Without all that was ever done with record 7."""
    return [line for line in lines if line["sequence"] != 7]


def lost(folder: RunFolder) -> None:
    """Record 7 was acknowledged and never read: the acknowledgement is taken out, and the counts are lowered."""
    change_rows(folder, hidden)
    lower = {"acked": -1, "consumed": -1, "final_read": -1}

    def lowered(lines: list[Line]) -> list[Line]:
        for line in lines:
            if line["kind"] == "workload-ended":
                line["data"] |= {key: line["data"][key] + by for key, by in lower.items()}
        return lines

    change_lines(folder.history, lowered)


def swapped(lines: list[Line]) -> list[Line]:
    """Two operations end before they began."""
    return [{**line, "began_ns": line["ended_ns"], "ended_ns": line["began_ns"]} for line in lines]


def restarted(lines: list[Line]) -> list[Line]:
    """The second start of the controller is called its third."""
    for line in lines:
        if line["data"].get("incarnation") == 2:
            line["data"]["incarnation"] = 3
    return lines


def newer(lines: list[Line]) -> list[Line]:
    """A node is said to have run another release."""
    for line in lines:
        if line["kind"] == "node-started" and line["node"] == "broker-0":
            line["data"]["kafka"] = "3.9.1"
    return lines


def image_added(folder: RunFolder) -> None:
    """An image that was taken elsewhere."""
    folder.image("after").write_text('{"source": "log"}')


SIX_LINES = b"an error that a known bug leaves\n" * 6


def logged(change: Callable[[bytes], bytes]) -> Change:
    """A change of the log of the node that is killed; seals are made anew, the digests of events are not."""
    return lambda folder: folder.log(KILLED).write_bytes(change(folder.log(KILLED).read_bytes())) and None


def reseeded(folder: RunFolder) -> None:
    """Whatever names the seed names another one."""
    change_header(folder, seed=9, extra={"reproduce": "pytest x --kmigrate-seed 9"})
    change_lines(
        folder.history,
        lambda lines: [
            {**line, "data": {**line["data"], **({"seed": 9} if "seed" in line["data"] else {})}} for line in lines
        ],
    )


FORGED: dict[str, tuple[Change, str]] = {
    "an event is taken out": (of_history(lambda lines: [*lines[:5], *lines[6:]]), "event 5 belongs there"),
    "a state is taken out": (
        of_history(lambda lines: without()([line for line in lines if line["data"].get("state") != "PREPARING"])),
        "has ZOOKEEPER for state phase, but event",
    ),
    "the beginning of a fault is taken out": (of_history(without("fault-began")), "no fault-began precedes it"),
    "the clock of events is moved": (of_history(shifted), "ends the workload at"),
    "two events are swapped": (
        of_history(lambda lines: without()([*lines[:4], lines[9], *lines[4:9], *lines[10:]])),
        "was recorded first",
    ),
    "events after the end": (
        of_history(lambda lines: without()([*lines[:-2], lines[-1], lines[-2], lines[-1]])),
        "follows it",
    ),
    "the beginning of the workload is taken out": (
        of_history(without("workload-began")),
        "no event has the beginning of a workload",
    ),
    "a start is renumbered": (of_history(restarted), "its next start, is start 3"),
    "another release": (of_history(newer), "starts broker-0 with Kafka 3.9.1 with jars of"),
    "a lost record is hidden": (of_operations(hidden), "event 16 counts 24 acked, but operations/ has 23"),
    "a lost record is hidden, and the counts are lowered": (lost, "there is no send 7"),
    "reads of a record are hidden": (
        of_operations(
            lambda rows: [row for row in rows if row["sequence"] != 23 or row["kind"] == OperationKind.PRODUCE]
        ),
        "counts 24 consumed",
    ),
    "an offset that no client wrote": (
        of_operations(lambda rows: [{**row, "offset": row["offset"] + (row["offset"] > 1)} for row in rows]),
        "beyond offset 2",
    ),
    "operations outside of the run": (
        of_operations(lambda rows: [{**row, "ended_ns": row["ended_ns"] + 9_000 * MS} for row in rows]),
        "the last operation ended at",
    ),
    "operations that end before they begin": (of_operations(swapped), "it ended before that"),
    "a sample is taken out": (
        lambda folder: change_lines(folder.metrics, lambda lines: [*lines[:2], *lines[3:]]),
        "metrics has sample 3 there",
    ),
    "samples of a node that never ran": (
        lambda folder: change_lines(folder.metrics, lambda lines: [{**line, "node": "broker-9"} for line in lines]),
        "metrics has samples of broker-9, but no event has its start",
    ),
    "samples after the end": (
        lambda folder: change_lines(
            folder.metrics, lambda lines: [{**line, "at_ns": line["at_ns"] + 9_000 * MS} for line in lines]
        ),
        "metrics has an observation at",
    ),
    "znodes in another order": (
        lambda folder: change_lines(
            folder.znodes, lambda lines: [{**line, "number": at} for at, line in enumerate(lines[::-1])]
        ),
        "/brokers was changed by transaction 15",
    ),
    "a change of a znode is taken out": (
        lambda folder: change_lines(folder.znodes, lambda lines: [*lines[:2], *lines[3:]]),
        "znodes has change 3 there, of /brokers",
    ),
    "transactions in another order": (
        lambda folder: change_lines(folder.transactions, lambda lines: lines[::-1]),
        "transaction 11 follows it",
    ),
    "the log of ZooKeeper is that of another run": (
        lambda folder: change_lines(
            folder.transactions,
            lambda lines: [
                {**line, "writes": [{**each, "path": "/admin"} for each in line["writes"]]} for line in lines
            ],
        ),
        "by transaction 10, but that transaction, in ZooKeeper's log, wrote /admin",
    ),
    "a change of a znode has other data than ZooKeeper's log": (
        lambda folder: change_lines(
            folder.znodes, lambda lines: [{**line, "data": f"{line['data']}9"} for line in lines]
        ),
        "by transaction 10 to '09', but ZooKeeper's log has '0' there",
    ),
    "lines are appended to a log": (logged(lambda log: log + SIX_LINES), "bytes in the log of controller-3000, but"),
    "a line of a log is changed": (logged(lambda log: log.replace(b"begins", b"fails!")), "has the digest of bytes"),
    "a log is emptied": (logged(lambda _: b""), "the file has none of them"),
    "a log is taken away": (lambda folder: folder.log(KILLED).unlink(), "the file has none of them"),
    "the run of another seed": (
        lambda folder: change_header(folder, seed=9),
        "run.json has the seed 9, but the command that does it again has 7",
    ),
    "the run of another seed, whose commands and events have it": (reseeded, "records of orders are in other"),
    "an image is added": (image_added, "the folder has the image after"),
}
"""Changes that a forger seals anew, and what they disagree with."""


def test_an_honest_run_conforms(tmp_path: Path) -> None:
    """It has seals, and no complaint; sealing it anew changes nothing."""
    folder = honest_run(tmp_path)
    again = judge_again(folder.path)
    assert (again.outcome, again.is_sealed, again.differences) == (Outcome.CONFORMS, True, ())
    assert judge_again(sealed_anew(folder).path).outcome is Outcome.CONFORMS


@pytest.mark.parametrize("cheat", FORGED)
def test_a_change_that_is_sealed_anew_disagrees_with_another_stream(tmp_path: Path, cheat: str) -> None:
    """Also where the forger made seals, manifest and verdicts anew: the verdict names both facts."""
    folder = honest_run(tmp_path)
    change, named = FORGED[cheat]
    change(folder)
    again = judge_again(sealed_anew(folder).path)
    assert Outcome.CONFORMS not in {verdict.outcome for verdict in again.verdicts}
    (found,) = [verdict for verdict in again.verdicts if verdict.check == COHERENT]
    assert named in found.summary
    assert ", but " in found.summary


@pytest.mark.parametrize(("value", "fits"), [(None, True), (0.0, False)], ids=["no answer", "an answer"])
def test_a_node_answers_no_earlier_than_its_start(value: float | None, fits: bool) -> None:
    """On a machine that stands still the event of a start comes seconds after it: the first samples have no value."""
    there = history(
        events=[
            event(EventKind.NODE_STARTED, 7_696, "controller-3000", role="controller"),
            event(EventKind.RUN_ENDED, 9_000),
        ],
        samples=[sample(5_590, "controller-3000", ActiveControllerCount=value)],
    )
    assert (not list(within_the_run(there))) is fits


def test_changes_of_older_folders_have_no_numbers(tmp_path: Path) -> None:
    """Nothing is missed among them."""
    folder = honest_run(tmp_path)
    change_lines(folder.znodes, lambda lines: [{key: line[key] for key in line if key != "number"} for line in lines])
    assert judge_again(sealed_anew(folder).path).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    ("name", "change", "named"),
    [
        ("znodes/znodes.jsonl", lambda lines: lines[:2] + lines[3:5], "with 6 lines, but the file has 4 lines"),
        ("metrics/metrics.jsonl", lambda lines: lines[:-1], "with 6 lines, but the file has 5 lines"),
        ("history.jsonl", lambda lines: [{**line, "log_bytes": {}, "more": 1} for line in lines], "other contents"),
    ],
)
def test_lines_that_fit_are_missed_by_their_seal(
    tmp_path: Path, name: str, change: Callable[[list[Line]], list[Line]], named: str
) -> None:
    """What leaves no other trace is taken out, and manifest and verdicts are made anew."""
    folder = honest_run(tmp_path)
    change_lines(folder.path / name, change)
    again = judge_again(judged_anew(folder).path)
    assert again.outcome is Outcome.INCONCLUSIVE
    assert any(named in verdict.summary for verdict in again.verdicts)


def test_evidence_that_is_added_or_taken_away_has_no_seal(tmp_path: Path) -> None:
    """A file of a stream that did not exist when the run ended, and one that does not any more."""
    folder = honest_run(tmp_path)
    (folder.znodes.parent / "more.jsonl").write_text("{}\n")
    folder.transactions.unlink()
    reported = "; ".join(verdict.summary for verdict in judge_again(judged_anew(folder).path).verdicts)
    assert "znodes/more.jsonl has no seal" in reported
    assert "event run-ended seals zookeeper/transactions.jsonl with its digest, but there is no such file" in reported


@pytest.mark.parametrize(
    ("header", "named"),
    [
        (with_header(seed=8), "its test, seed and start make"),
        (with_header(run_id="20260301T100000-test-takes-over-seed7-ffffff"), "its test, seed and start make"),
        (with_header(started_at="2026-03-02T10:00:00+00:00"), "its test, seed and start make"),
        (with_header(started_at="yesterday"), "it has no time of start: 'yesterday'"),
    ],
)
def test_the_id_of_a_run_is_that_of_its_test_seed_and_start(tmp_path: Path, header: RunHeader, named: str) -> None:
    """An old run under a new seed or date, or once more under another id."""
    again = judge_again(honest_run(tmp_path, header).path)
    assert again.outcome is Outcome.INCONCLUSIVE
    assert any(named in verdict.summary for verdict in again.verdicts)


def test_a_violation_stands_whatever_disagrees(tmp_path: Path) -> None:
    """Evidence that does not fit together excuses nothing."""
    folder = honest_run(tmp_path)
    change_rows(folder, lambda rows: [row for row in rows if row["sequence"] != 7 or row["kind"] == 0])
    again = judge_again(sealed_anew(folder).path)
    assert again.outcome is Outcome.VIOLATES
    assert COHERENT in {verdict.check for verdict in again.verdicts}


def test_a_run_without_seals_is_judged_by_the_rest(tmp_path: Path) -> None:
    """Version 0.1 wrote none, and numbered no samples."""
    folder = honest_run(tmp_path, HEADER)

    def unsealed(lines: list[Line]) -> list[Line]:
        lines[-1]["data"].pop("seals")
        return lines

    change_lines(folder.history, unsealed)
    change_lines(folder.metrics, lambda lines: [{key: line[key] for key in line if key != "number"} for line in lines])
    again = judge_again(judged_anew(folder).path)
    assert (again.outcome, again.is_sealed) == (Outcome.CONFORMS, False)
