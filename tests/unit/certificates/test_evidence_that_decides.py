"""What decides a verdict or an excuse cannot be changed unnoticed, and a violation stands wherever it is."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from pytest_kmigrate.certificates.grading import CONFORMS, DOES_NOT
from pytest_kmigrate.certificates.statement import Claims
from pytest_kmigrate.judging.rejudge import judge_again
from pytest_kmigrate.model.errors import KmigrateError
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.operations import OperationKind
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.recording.recorder import write_manifest
from pytest_kmigrate.recording.run_folder import RunFolder, run_id_of
from tests.unit.certificates.vendors import TEST, certified, change_events, header_of, make_run, noted_anew
from tests.unit.judging.coherence.honest_runs import (
    KILLED,
    Line,
    change_header,
    change_lines,
    change_rows,
    sealed_anew,
)

Cheat = Callable[[RunFolder, RunFolder], None]
"""What is done to one run, with another at hand."""


def folders(runs: Path) -> list[RunFolder]:
    """The runs, the oldest first."""
    return [RunFolder(file.parent) for file in sorted(runs.glob("*/run.json"))]


def found(runs: Path) -> str:
    """What certifying reports; empty if nothing is found."""
    try:
        claims = certified(runs, runs.parent / "x.kmcert").predicate.claims
    except KmigrateError as error:
        return str(error)
    return "; ".join([*claims.findings, *(run.reason for run in claims.runs if run.reason)])


def logged(change: Callable[[bytes, bytes], bytes]) -> Cheat:
    """A change of the log of the killed node; the other run's log is at hand."""

    def cheat(own: RunFolder, other: RunFolder) -> None:
        log = own.log(KILLED)
        log.write_bytes(change(log.read_bytes(), other.log(KILLED).read_bytes()))

    return cheat


def dropped(*kinds: str) -> Cheat:
    """Events of these kinds are taken out."""
    return lambda own, _: change_events(own, lambda line: None if line["kind"] in kinds else line)


def one_nanosecond_later(own: RunFolder, other: RunFolder) -> None:
    """The other run's evidence, each time one nanosecond later, and nothing in it has the digest that it had."""
    for name in ("history.jsonl", "metrics", "operations", "znodes", "zookeeper", "logs"):
        shutil.rmtree(own.path / name) if (own.path / name).is_dir() else (own.path / name).unlink()
        copy: Callable[[Path, Path], object] = shutil.copytree if (other.path / name).is_dir() else shutil.copy
        copy(other.path / name, own.path / name)
    for file in (own.history, own.metrics, own.znodes, own.transactions):
        change_lines(file, lambda lines: [{**line, "at_ns": line["at_ns"] + 1} for line in lines])
    change_rows(
        own, lambda rows: [{**row, "ended_ns": row["ended_ns"] + 1, "began_ns": row["began_ns"] + 1} for row in rows]
    )


def forgotten(own: RunFolder, _: RunFolder) -> None:
    """A log is gone, and so is what events have of logs."""
    own.log(KILLED).unlink()
    change_events(own, lambda line: {key: value for key, value in line.items() if "log_" not in key})


def called_a_mutant(own: RunFolder, _: RunFolder) -> None:
    """Runs of mutants do not count."""
    change_header(own, extra={"byteman": "RULE x"})


SIX_LINES = b"a line that a known bug leaves\n" * 6

CHEATS: dict[str, tuple[Cheat, str]] = {
    "six lines in a log": (
        logged(lambda own, _: own + SIX_LINES),
        "of controller-3000, but",
    ),
    "a line of a log is other": (logged(lambda own, _: own.replace(b"killed", b"hanged")), "the digest of bytes"),
    "the log of another run": (logged(lambda _, other: other), "once more: logs/controller-3000/server.log"),
    "a log is empty": (logged(lambda *_: b""), "the file has none of them"),
    "a log is gone": (lambda own, _: own.log(KILLED).unlink(), "the file has none of them"),
    "all logs are gone": (lambda own, _: shutil.rmtree(own.logs), "the file has none of them"),
    "a log without what events have of it": (
        forgotten,
        "its log is not in the last event",
    ),
    "metrics of another run": (
        lambda own, other: shutil.copy(other.metrics, own.metrics) and None,
        "once more: metrics/metrics.jsonl",
    ),
    "each time one nanosecond later": (one_nanosecond_later, " once more: "),
    "a kill without its end": (dropped("node-stopped"), "which was witnessed, but it never stopped"),
    "a mutant that is none": (called_a_mutant, "is called a mutant, and no node reported of a rule"),
    "a znode with other data": (
        lambda own, _: change_lines(own.znodes, lambda lines: [{**line, "data": "x"} for line in lines]),
        "but ZooKeeper's log has '0' there",
    ),
    "an older kind of evidence": (
        lambda own, _: change_header(own, extra={"evidence": 1}),
        "an earlier release recorded it, without digests of logs: run its test again",
    ),
}
"""Changes of one run, after which seals, verdicts, manifest and sessions are made anew; what is found."""


@pytest.mark.parametrize("cheat", CHEATS)
@pytest.mark.slow
def test_a_change_of_what_decides_is_found(runs: Path, cheat: str) -> None:
    """The forger rewrites everything else, and what lies elsewhere disagrees."""
    change, named = CHEATS[cheat]
    one, two, _ = folders(runs)
    change(two, one)
    sealed_anew(two)
    noted_anew(runs)
    assert named in found(runs)


@pytest.mark.slow
def test_an_honest_vendor_has_no_findings(runs: Path) -> None:
    """Sealing honest runs anew changes nothing."""
    for each in folders(runs):
        sealed_anew(each)
    noted_anew(runs)
    assert found(runs) == ""


def answer_of_an_old_run(runs: Path, **more: object) -> RunFolder:
    """The first run under another seed, a later start, and the id that follows from them."""
    old = folders(runs)[0]
    header = header_of(5)
    change_header(old, seed=5, started_at=header.started_at, run_id=run_id_of(TEST, 5, header_start(header)), **more)
    renamed = RunFolder(old.path.rename(runs / run_id_of(TEST, 5, header_start(header))))
    noted = runs / "sessions.jsonl"
    noted.write_text(noted.read_text().replace(old.path.name, renamed.path.name))
    return renamed


def header_start(header: RunHeader) -> datetime:
    """When a run began."""
    return datetime.fromisoformat(header.started_at)


@pytest.mark.parametrize("names_it", [False, True])
@pytest.mark.slow
def test_an_old_run_answers_no_challenge(runs: Path, *, names_it: bool) -> None:
    """Its events draw by the old seed; if they say the new one, its records are not where that seed leads them."""
    run = answer_of_an_old_run(runs)
    if names_it:
        change_events(run, lambda line: line | {"data": line["data"] | ({"seed": 5} if "seed" in line["data"] else {})})
    sealed_anew(run)
    noted_anew(runs)
    expected = "records of orders are in other partitions" if names_it else "run.json has the seed 5, but event"
    assert expected in found(runs)


def red(folder: RunFolder) -> None:
    """Record 7 is acknowledged and never read back: a violation of safety that is really there."""
    change_rows(
        folder,
        lambda rows: [row for row in rows if row["sequence"] != 7 or row["kind"] == OperationKind.PRODUCE],
    )
    lowered = {"consumed": -1, "final_read": -1}

    def lower(line: Line) -> Line:
        if line["kind"] == "workload-ended":
            line["data"] |= {key: line["data"][key] + by for key, by in lowered.items()}
        return line

    change_events(folder, lower)


def claims_of_red(runs: Path) -> Claims:
    """The claims of these runs."""
    noted_anew(runs)
    return certified(runs, runs.parent / "x.kmcert").predicate.claims


@pytest.mark.slow
def test_a_red_run_does_not_vanish_by_a_copied_file(runs: Path) -> None:
    """Its metrics are those of a green run: it does not count, is a finding, and what it violates stands."""
    one, two, _ = folders(runs)
    red(two)
    shutil.copy(one.metrics, two.metrics)
    sealed_anew(two)
    assert judge_again(two.path).outcome is Outcome.VIOLATES
    claims = claims_of_red(runs)
    assert (claims.grade, [each.run for each in claims.violations]) == (DOES_NOT, [two.path.name])
    (finding,) = claims.findings
    assert "once more: metrics/metrics.jsonl" in finding
    assert any("evidence with findings" in each for each in claims.missing)


@pytest.mark.parametrize("name", ["acme", "acme-first-try"])
@pytest.mark.slow
def test_software_is_its_digest_and_not_its_folder(runs: Path, name: str) -> None:
    """A red run of the same jars from another folder counts, and is named."""
    shutil.rmtree(runs)
    for seed, folder in ((1, "acme"), (2, name)):
        header = header_of(seed)
        built = replace(header, kafka=f"3.6.0+{folder}.cdcdcdcd")
        more = {"distribution_digests": {f"/opt/{folder}": "cd" * 32}}
        made = make_run(runs, replace(built, extra={**header.extra, **more}))
        if seed == 2:
            red(made)
            sealed_anew(made)
            write_manifest(made)
    claims = claims_of_red(runs)
    assert (claims.grade, len(claims.runs), len(claims.violations)) == (DOES_NOT, 2, 1)
    called = {claims.artifact.name.removeprefix("a build of Kafka "), *claims.artifact.also_called}
    assert called == {"3.6.0+acme.cdcdcdcd", f"3.6.0+{name}.cdcdcdcd"}


def test_a_run_of_the_same_jars_that_is_left_out_is_missed(runs: Path) -> None:
    """By the digest in its name, from whatever folder it ran."""
    shutil.rmtree(runs)
    for seed, folder in ((1, "acme"), (2, "acme-first-try")):
        header = header_of(seed)
        built = replace(header, kafka=f"3.6.0+{folder}.cdcdcdcd")
        more = {"distribution_digests": {f"/opt/{folder}": "cd" * 32}}
        made = make_run(runs, replace(built, extra={**header.extra, **more}))
    shutil.rmtree(made.path)
    claims = claims_of_red(runs)
    assert [each.left_out for each in claims.sessions] == [[made.path.name]]
    assert claims.grade == CONFORMS
    assert any("1 noted runs are left out" in each for each in claims.missing)


@pytest.mark.slow
def test_what_json_is_there_is_that_of_the_text(runs: Path) -> None:
    """A red run is named in the sentences of the certificate."""
    one, *_ = folders(runs)
    red(one)
    sealed_anew(one)
    noted_anew(runs)
    predicate = certified(runs, runs.parent / "x.kmcert").predicate
    assert "does not conform" in predicate.conclusion
    assert one.path.name in predicate.conclusion
    assert json.loads(predicate.model_dump_json())["claims"]["violations"][0]["run"] == one.path.name
