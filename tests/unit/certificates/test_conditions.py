"""Conditions that would weaken a test or excuse what it shows: each is found, or named in the certificate."""

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_kmigrate.certificates.grading import CONFORMS, DOES_NOT
from pytest_kmigrate.certificates.statement import Claims
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import CertificateError, KmigrateError
from pytest_kmigrate.model.event import EventKind, RuleOutcome
from pytest_kmigrate.recording.run_folder import EVIDENCE, RunFolder
from pytest_kmigrate.recording.sessions import SESSIONS, digest_of_line
from tests.unit.certificates.test_evidence_that_decides import folders, red
from tests.unit.certificates.vendors import certified, noted_anew, shipped_with, sign_anew, verified
from tests.unit.judging.coherence.honest_runs import CLASSES, DIGEST, Line, change_header, change_lines, sealed_anew

FEW = [Capability.START, Capability.KILL, Capability.LOGS]
RULE = "RULE changes something"


def inserted(folder: RunFolder, at: int, *events: Line) -> None:
    """Events before event ``at``, numbered anew."""

    def change(lines: list[Line]) -> list[Line]:
        there = {key: lines[at][key] for key in lines[at] if key not in ("kind", "node", "data")}
        more = [{**there, "node": None, **each} for each in events]
        return [{**line, "seq": seq} for seq, line in enumerate([*lines[:at], *more, *lines[at:]])]

    change_lines(folder.history, change)


def claims_of(runs: Path) -> Claims:
    """The claims of these runs, which the forger seals, judges and notes anew."""
    for each in folders(runs):
        sealed_anew(each)
    noted_anew(runs)
    return certified(runs, runs.parent / "x.kmcert").predicate.claims


CONDITIONS: dict[str, tuple[dict[str, object], str]] = {
    "an operator was watched": ({"extra": {"observed": True}}, "an operator was watched, and nothing tested"),
    "the process provider offers less": ({"extra": {"capabilities": FEW}}, "it offers all capabilities, and run.json"),
    "a provider that is none": ({"provider": "acme", "extra": {"capabilities": FEW}}, "there are process, docker, att"),
    "no cluster of somebody else's": ({"provider": "attach", "extra": {"capabilities": FEW}}, "it knows no jars, and"),
    "no container": (
        {"provider": "docker", "extra": {"capabilities": FEW}},
        "run.json has no image that",
    ),
    "a checkpoint of the end": (
        {"extra": {"checkpoint": {"state": "HYBRID", "log_offset": 10**9, "zxid": 10**9}}},
        "the plan begins the test in a cluster that was just started, but the run began from a checkpoint of HYBRID",
    ),
    "an image of no container": (
        {"extra": {"images": {"3.6.0": f"sha256:{'ab' * 32}"}}},
        "run.json has the provider process, but it runs no image, and run.json has 3.6.0",
    ),
    "a provider without what its own test needed": (
        {"provider": "docker", "extra": {"images": {"3.6.0": f"sha256:{'ab' * 32}"}, "capabilities": ["start"]}},
        "the plan needs kill for the test, but run.json has a provider without that",
    ),
    "no digest of classes": (
        {"extra": {"distribution_classes": {}}},
        "run.json has the digest of the jars of 3.6.0, but it has none of their classes",
    ),
    "another Kafka in the command that does it again": (
        {"extra": {"reproduce": "pytest --kmigrate-kafka /opt/acme"}},
        "run.json has the kafka 3.6.0, but the command that does it again has /opt/acme",
    ),
    "members of the vendor's that no command names": (
        {"extra": {"member": ["acme-consumer", "--all"]}},
        "run.json has the members acme-consumer --all, but the command that does it again has none",
    ),
    "rules in the command": (
        {"extra": {"command": ["pytest", "--kmigrate-byteman", "x.btm"]}},
        "the run was asked for with --kmigrate-byteman, but run.json has no byteman",
    ),
}


@pytest.mark.parametrize("named", CONDITIONS)
@pytest.mark.slow
def test_a_condition_that_weakens_a_test_is_found(runs: Path, named: str) -> None:
    """In all runs: none counts, so nothing is decided, and nothing does not apply."""
    changed, reason = CONDITIONS[named]
    for each in folders(runs):
        change_header(each, **changed)
    claims = claims_of(runs)
    assert [reason in run.reason for run in claims.runs] == [True] * 3, claims.runs
    assert claims.parts[0].by_word == {"not judged": claims.parts[0].required}
    assert any("ran less often than the plan asks for" in each for each in claims.missing)


def test_the_runs_of_another_build_are_found(runs: Path) -> None:
    """All nodes ran the jars of Apache, as their events have it; the header has those of a build beside them."""
    name, own = "/opt/acme", "ab" * 32
    for each in folders(runs):
        digests = {"3.6.0": DIGEST, name: own}
        more = {"distribution_digests": digests, "distribution_classes": dict.fromkeys(digests, CLASSES)}
        more["topology_digest"] = shipped_with("3.6.0", name)
        change_header(each, kafka=f"3.6.0+acme.{own[:8]}", extra=more)
    reasons = {run.reason for run in claims_of(runs).runs}
    named = f"for broker-0, but event 1 starts it with Kafka 3.6.0 and jars of {DIGEST[:12]}"
    assert [named in each for each in reasons] == [True], reasons


def test_what_a_later_release_recorded_is_refused(runs: Path) -> None:
    """Nothing is known of its streams."""
    change_header(folders(runs)[0], extra={"evidence": EVIDENCE + 1})
    with pytest.raises(KmigrateError, match="a later release recorded it: certify and verify it with that one"):
        claims_of(runs)


@pytest.mark.slow
def test_a_fault_that_the_plan_does_not_have_is_found(runs: Path) -> None:
    """What a cluster does while a broker is paused is excused by that."""
    known_as = {"fault_id": "fault-2"}
    of_it: Sequence[tuple[EventKind, Line]] = (
        (EventKind.FAULT_BEGAN, {"fault": "pause(broker-0)", "effect": "pause", "trigger": "now"}),
        (EventKind.FAULT_APPLIED, {"targets": ["broker-0"], "began": 6}),
        (EventKind.FAULT_WITNESSED, {"witness": "it stands still", "facts": {}}),
        (EventKind.FAULT_HEALED, {"fault": "pause(broker-0)"}),
    )
    inserted(folders(runs)[1], 6, *({"kind": kind, "data": {**data, **known_as}} for kind, data in of_it))
    (reason,) = [run.reason for run in claims_of(runs).runs if run.reason]
    assert reason == "the plan has the faults kill(active-controller), but event 6 begins pause(broker-0)"


@pytest.mark.slow
def test_a_death_is_not_excused_by_an_end_that_no_plan_expects(runs: Path) -> None:
    """As by an event that allows any node to end."""
    expected = {"nodes": ["broker-0"], "within_s": 60.0, "naming": None, "began_ns": 0, "is_optional": True}
    inserted(folders(runs)[1], 8, {"kind": EventKind.EXPECTED_END, "data": expected})
    (reason,) = [run.reason for run in claims_of(runs).runs if run.reason]
    assert reason == "the plan expects no node to end by itself, but event 8 expects that of broker-0"


@pytest.mark.parametrize(
    ("outcome", "asks_for_it", "grade", "is_finding"),
    [
        (RuleOutcome.CARRIED_OUT, True, CONFORMS, False),
        (RuleOutcome.CARRIED_OUT, False, DOES_NOT, True),
        (RuleOutcome.WOVEN, True, DOES_NOT, False),
        (None, True, DOES_NOT, True),
    ],
)
@pytest.mark.slow
def test_a_red_run_is_no_mutant_by_words(
    runs: Path, outcome: RuleOutcome | None, grade: str, *, asks_for_it: bool, is_finding: bool
) -> None:
    """It counts unless its command asked for a rule, and a node carried one out; then the conclusion names it."""
    run = folders(runs)[1]
    red(run)
    again = "pytest x --kmigrate-seed=2" + (" --kmigrate-byteman x.btm" if asks_for_it else "")
    change_header(run, extra={"byteman": RULE, "reproduce": again})
    if outcome is not None:
        inserted(run, 3, {"kind": EventKind.RULES_TOLD, "node": "broker-0", "data": {"rules": {RULE: outcome}}})
    claims = claims_of(runs)
    assert (claims.grade, len(claims.findings)) == (grade, int(is_finding))
    concluded = certified(runs, runs.parent / "x.kmcert").predicate.conclusion
    assert "Runs of mutants of Kafka, whose violations do not count: 1." in concluded or grade == DOES_NOT


@pytest.mark.slow
def test_a_run_that_trouble_hides_is_in_the_conclusion(runs: Path) -> None:
    """One event says that the clients were lost, so that nothing is held against Kafka; nothing contradicts it."""
    run = folders(runs)[1]
    red(run)
    lost = {"what": "the clients are gone", "error": "x", "lost": "clients"}
    inserted(run, 3, {"kind": EventKind.HARNESS_TROUBLE, "data": lost})
    claims_of(runs)
    concluded = certified(runs, runs.parent / "x.kmcert").predicate.conclusion
    assert "Counted runs that are inconclusive, such as by trouble of the machine or the harness: 1." in concluded


@pytest.mark.slow
def test_a_copy_is_not_excused_by_a_scene(runs: Path) -> None:
    """Tests of one scene share ZooKeeper's sessions; runs by two seeds are of two scenes."""
    one, two, _ = folders(runs)
    shutil.copy(one.transactions, two.transactions)
    change_lines(two.transactions, lambda lines: [{**line, "at_ns": line["at_ns"] * 1013 // 1000} for line in lines])
    change_header(two, extra={"scene": {"place": 2, "log_offset": 3, "zxid": 5}})
    assert "once more: its ZooKeeper had the same sessions" in "".join(claims_of(runs).findings)


def test_a_second_file_of_sessions_replaces_no_manifest(runs: Path) -> None:
    """The first is as pytest wrote it, and the second has the manifest of a run that was changed later."""
    run, noted = folders(runs)[1], (runs / SESSIONS).read_text()
    change_header(run, extra={"commit": "another"})
    sealed_anew(run)
    more, previous = list[bytes](), ""
    for line in map(json.loads, noted.splitlines()):
        own = {"manifest": hashlib.sha256(run.manifest.read_bytes()).hexdigest()}
        is_its_end = line.get("run") == run.path.name and "manifest" in line
        more.append(json.dumps({**line, **(own if is_its_end else {}), "previous": previous}).encode() + b"\n")
        previous = digest_of_line(more[-1].rstrip())
    (runs / "z").mkdir()
    (runs / "z" / SESSIONS).write_bytes(b"".join(more))
    with pytest.raises(KmigrateError, match=r"expected one file sessions.jsonl to have noted 2026.*, got two"):
        certified(runs, runs.parent / "x.kmcert")


@pytest.mark.slow
def test_a_folder_of_that_name_is_no_file_of_sessions(runs: Path) -> None:
    """It is looked past, as any other."""
    (runs / "z" / SESSIONS).mkdir(parents=True)
    assert claims_of(runs).findings == []


def test_the_issuer_does_not_witness_for_itself(certificate: Path) -> None:
    """One signature is there, and the statement names its key in both roles."""

    def change(statement: Line) -> None:
        signers = statement["predicate"]["signers"]
        signers.append({**signers[0], "role": "witness"})

    sign_anew(certificate, change)
    with pytest.raises(CertificateError, match="expected witnesses that are other parties, each once, got sha256:"):
        verified(certificate)


@pytest.mark.slow
def test_a_schedule_is_that_of_its_test(runs: Path) -> None:
    """A gentler one under the name of another: the name ends with the digest of the schedule."""
    run = folders(runs)[1]
    change_header(run, extra={"schedule": {"seed": 2, "happenings": []}})
    (reason,) = [each.reason for each in claims_of(runs).runs if each.reason]
    assert reason == "the plan has the schedule of test_takes_over, but run.json has another"


@pytest.mark.slow
def test_what_came_true_is_what_was_expected(runs: Path) -> None:
    """A forger who turns the flag alone contradicts the values beside it."""
    met = {"expected": 3, "observed": 2, "met": True, "kind": "SAFETY", "within_s": 5.0, "took_ms": 9}
    inserted(folders(runs)[1], 8, {"kind": EventKind.EXPECTATION, "data": {"name": "brokers in sync", **met}})
    (finding,) = claims_of(runs).findings
    assert "has met what was expected of 'brokers in sync', but it expected 3 and observed 2" in finding


@pytest.mark.parametrize(
    "unfindable", ["environment and plugins", "trouble", "ends of nodes", "removed with its lines"]
)
@pytest.mark.slow
def test_what_cannot_be_found_stands_in_the_certificate(certificate: Path, unfindable: str) -> None:
    """A reader of the certificate alone knows what it cannot show."""
    assert any(unfindable in each for each in verified(certificate).statement.predicate.limits)
