"""A vendor who owns the key changes evidence, certificate or both: each change is found, and its text says which."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_kmigrate.model.errors import KmigrateError
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.recording.recorder import write_manifest
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.sessions import SESSIONS
from tests.unit.certificates.vendors import (
    PLANNED,
    TEST,
    certified,
    change_events,
    header_of,
    make_run,
    noted_anew,
    shipped_with,
    verified,
)
from tests.unit.judging.coherence.honest_runs import DIGEST, Line, change_header, change_lines, change_rows, sealed_anew
from tests.unit.reports.recorded_runs import MS

Cheat = Callable[[RunFolder], None]


def first(runs: Path) -> RunFolder:
    """The run that is forged."""
    return RunFolder(min(path.parent for path in runs.glob("*/run.json")))


def found(runs: Path, **options: Any) -> str:
    """What certifying and verifying report; empty if the reader finds the row conforming in three runs."""
    out = runs.parent / "x.kmcert"
    try:
        certified(runs, out)
        claims = verified(out, **options).statement.predicate.claims
    except KmigrateError as error:
        return str(error)
    (row,) = [row for row in claims.rows if row.id == PLANNED["requirements"][0]]
    reasons = [run.reason for run in claims.runs if run.reason]
    left_out = [f"left out: {run}" for session in claims.sessions for run in session.left_out]
    return "; ".join([*reasons, *left_out, *([f"{row.strict}: {row.reason}"] if row.strict != "CONFORMS" else [])])


@pytest.mark.slow
def test_honest_runs_are_certified(runs: Path) -> None:
    """Nothing is found, and the row conforms in three of three runs."""
    assert found(runs) == ""


def events(change: Callable[[Line], Line | None]) -> Cheat:
    """Change or leave out events."""
    return lambda folder: change_events(folder, change)


def drop(*kinds: str) -> Cheat:
    """Leave out events of these kinds."""
    return events(lambda line: None if line["kind"] in kinds else line)


def less_checks(line: Line) -> Line:
    """The test asks for one check less."""
    return {**line, "data": {"checks": line["data"]["checks"][1:]}} if line["kind"] == "checks" else line


def one_check(line: Line) -> Line:
    """The number of checks is right."""
    return {**line, "data": {"checks": line["data"]["checks"][:1] * 3}} if line["kind"] == "checks" else line


def weaker_checks(line: Line) -> Line:
    """A check has another argument."""
    if line["kind"] == "checks":
        line["data"]["checks"][2]["arguments"] = {"at_most": 5}
    return line


def changed(kind: str, **data: object) -> Callable[[Line], Line]:
    """Events of this kind say something else."""
    return lambda line: {**line, "data": {**line["data"], **data}} if line["kind"] == kind else line


def failed(rows: list[Line]) -> list[Line]:
    """The record that was lost was never acknowledged, it is said."""
    produced, error = int(OperationKind.PRODUCE), int(OperationOutcome.FAILED)
    kept = [row for row in rows if row["sequence"] != 7 or row["kind"] == produced]
    return [{**row, "outcome": error} if row["sequence"] == 7 else row for row in kept]


def other_release(folder: RunFolder) -> None:
    """The run of an old Kafka is said to be one of a newer one, everywhere."""
    more = {"distribution_digests": {"3.9.1": DIGEST}, "topology_digest": shipped_with("3.9.1")}
    change_header(folder, kafka="3.9.1", extra=more)

    def newer(line: Line) -> Line:
        return {**line, "data": line["data"] | ({"kafka": "3.9.1"} if "kafka" in line["data"] else {})}

    change_events(folder, newer)


def old_seed(folder: RunFolder) -> None:
    """The run is renamed as one with another seed, and its id is derived anew; its test is the same."""
    change_header(folder, seed=9)


def verdicts_edited(folder: RunFolder) -> None:
    """A stored verdict is turned."""
    change_lines(folder.verdicts, lambda lines: [{**line, "summary": "all is well"} for line in lines])


FORGED: dict[str, tuple[Cheat, str]] = {
    "1 a lost record is hidden": (
        lambda folder: change_rows(folder, lambda rows: [row for row in rows if row["sequence"] != 7]),
        "counts 24 acked, but operations/ has 23",
    ),
    "2 operations are taken out": (lambda folder: shutil.rmtree(folder.operations), "operations/ has 0"),
    "3 the final read is taken out": (
        lambda folder: change_rows(folder, lambda rows: [row for row in rows if row["kind"] != 3]),
        "final_read, but operations/ has 0",
    ),
    "4 a check is dropped": (events(less_checks), "the plan has the check no_acked_record_lost"),
    "5 the fault is taken out": (
        drop("fault-began", "fault-applied", "fault-witnessed", "fault-healed", "node-stopped"),
        "the plan has the fault kill(active-controller), but the run has no witness of it",
    ),
    "7 another seed": (old_seed, "its test, seed and start make"),
    "8 another release": (other_release, f"run.json has Kafka 3.9.1 with jars of the digest {DIGEST[:12]}"),
    "8 a swapped jar": (
        lambda folder: change_header(folder, extra={"distribution_digests": {"3.6.0": "ef" * 32}}),
        "expected one build of Kafka 3.6.0, got jars of several digests",
    ),
    "10 more requirements": (
        lambda folder: change_header(folder, requirements=["K866-DW-full-parity", PLANNED["requirements"][0]]),
        "but the run claims K866-DW-full-parity, K866-TEST-controller-failures",
    ),
    "11 the clock of events": (
        events(lambda line: {**line, "at_ns": line["at_ns"] // 2}),
        "ends the workload at",
    ),
    "20 another test": (
        lambda folder: change_header(folder, test_id=TEST.replace("takes_over", "other")),
        "the plan of kip-866 has no test",
    ),
    "22 another source of the test": (
        lambda folder: change_header(folder, extra={"source_digest": "0" * 64}),
        "the run was made by another source of its test",
    ),
    "22 another harness": (
        lambda folder: change_header(folder, extra={"harness_digest": "0" * 64}),
        "the run was made by another harness than that of it",
    ),
    "+1 an easier topology": (
        lambda folder: change_header(folder, topology="zk1-broker1-controller1"),
        "the plan has the topology zk1-broker3-controller3, but the run had zk1-broker1-controller1",
    ),
    "+19 a topology of one's own under the same name": (
        lambda folder: change_header(folder, extra={"topology_digest": "0" * 64}),
        "the plan has the topology zk1-broker3-controller3 as this release ships it, but the run had another",
    ),
    "+2 a weaker argument": (events(weaker_checks), "but the run asked for {'at_most': 5}"),
    "+3 an unwitnessed fault": (drop("fault-witnessed"), "the run has no witness of it"),
    "+4 a mutant": (lambda folder: change_header(folder, extra={"byteman": "RULE x"}), "it ran a mutant"),
    "+9 a phase it never came to": (
        events(lambda line: None if line["data"].get("state") == "HYBRID" else line),
        "the plan has the phase HYBRID, but the run never came to it",
    ),
    "+10 a fault of another node": (
        events(changed("fault-began", fault="kill(broker-0)")),
        "the plan has the fault kill(active-controller), but the run has no witness of it",
    ),
    "+11 a gentler fault": (
        events(changed("fault-began", effect="pause")),
        "the plan has a fault kill, but the run has none that was witnessed",
    ),
    "+12 the witness of another fault": (
        events(changed("fault-witnessed", fault_id="fault-2")),
        "the plan has the fault kill(active-controller), but the run has no witness of it",
    ),
    "+13 one check three times, others not at all": (
        events(one_check),
        "the plan has the check no_phantom_record with {}, but the run did not ask for it",
    ),
    "+14 a node without its start": (
        events(lambda line: None if (line["kind"], line.get("node")) == ("node-started", "broker-0") else line),
        "metrics has samples of broker-0, but no event has its start",
    ),
    "+15 an acknowledged record as one that failed": (
        lambda folder: change_rows(folder, failed),
        "counts 24 acked, but operations/ has 23",
    ),
    "+16 a workload that began after a time without service": (
        events(lambda line: {**line, "at_ns": 450 * MS} if line["kind"] == "workload-began" else line),
        "(workload-began, 0.450 s) was recorded first, but event 8",
    ),
    "+17 a moment without metrics": (
        lambda folder: change_lines(folder.metrics, lambda lines: [*lines[:2], *lines[3:]]),
        "metrics has sample 3 there",
    ),
    "+5 another id": (
        lambda folder: change_header(folder, run_id=f"{header_of(1).run_id}x"),
        "expected each run in a folder named by its id",
    ),
}
"""Changes that are sealed, judged, listed and noted anew, and what is found."""


@pytest.mark.slow
@pytest.mark.parametrize("cheat", FORGED)
def test_evidence_that_was_forged_from_end_to_end_is_found(runs: Path, cheat: str) -> None:
    """The forger makes seals, verdicts, manifest and sessions anew."""
    change, named = FORGED[cheat]
    folder = first(runs)
    change(folder)
    sealed_anew(folder)
    noted_anew(runs)
    assert named in found(runs)


@pytest.mark.slow
def test_the_jars_of_another_release_are_found(runs: Path) -> None:
    """+18: an old Kafka that is certified as a newer one, by all runs."""
    for folder in map(RunFolder, sorted(path.parent for path in runs.glob("*/run.json"))):
        other_release(folder)
        sealed_anew(folder)
    noted_anew(runs)
    assert f"run.json has Kafka 3.9.1 with jars of the digest {DIGEST[:12]}, but those of that release" in found(runs)


@pytest.mark.slow
def test_verdicts_that_were_edited_are_found(runs: Path) -> None:
    """14: the evidence is judged again, and leads to others."""
    verdicts_edited(first(runs))
    write_manifest(first(runs))
    noted_anew(runs)
    assert "summary stored all is well, now " in found(runs)


@pytest.mark.slow
def test_lines_that_were_taken_out_are_found(runs: Path) -> None:
    """16: every third change of a znode, with a new manifest; the seal of the run counts lines."""
    change_lines(first(runs).znodes, lambda lines: [line for at, line in enumerate(lines) if at % 3])
    write_manifest(first(runs))
    noted_anew(runs)
    assert "seals znodes/znodes.jsonl with 6 lines, but the file has 4 lines" in found(runs)


def test_a_changed_file_is_found(runs: Path) -> None:
    """18: the manifest is kept."""
    first(runs).metrics.write_text("")
    assert "1 file differs from manifest.json: metrics/metrics.jsonl" in found(runs)


@pytest.mark.slow
def test_one_run_as_two_is_found(runs: Path) -> None:
    """9: under the id of another seed, with everything that hangs on it made anew."""
    (one, two, _) = sorted(path.parent for path in runs.glob("*/run.json"))
    for name in ("history.jsonl", "metrics", "operations", "znodes", "zookeeper"):
        shutil.rmtree(two / name) if (two / name).is_dir() else (two / name).unlink()
        copy: Any = shutil.copytree if (one / name).is_dir() else shutil.copy
        copy(one / name, two / name)
    sealed_anew(RunFolder(two))
    noted_anew(runs)
    assert f"it has the evidence of {one.name} once more" in found(runs)


@pytest.mark.slow
def test_a_run_left_out_is_missed(runs: Path) -> None:
    """23: its folder is gone, and the session has it."""
    gone = first(runs)
    shutil.rmtree(gone.path)
    assert f"left out: {gone.path.name}" in found(runs)


def test_lines_of_sessions_that_were_taken_out_are_found(runs: Path) -> None:
    """23: the folder and its lines are gone, and the chain has a gap."""
    gone = first(runs)
    shutil.rmtree(gone.path)
    file = runs / SESSIONS
    file.write_text("".join(line for line in file.read_text().splitlines(keepends=True) if gone.path.name not in line))
    assert "expected the digest of the line before it" in found(runs)


@pytest.mark.slow
def test_a_run_of_no_session_does_not_count(runs: Path) -> None:
    """+7: it was brought from elsewhere."""
    header = header_of(4)
    make_run(runs, replace(header, extra={**header.extra, "session": None}))
    assert f"no session in {SESSIONS} has noted it" in found(runs)


@pytest.mark.slow
def test_a_manifest_that_was_written_later_does_not_count(runs: Path) -> None:
    """+8: the session noted another one when the run ended."""
    sealed_anew(first(runs))
    write_manifest(first(runs))
    (first(runs).path / "more.txt").write_text("x")
    write_manifest(first(runs))
    assert "its session noted another manifest" in found(runs)
