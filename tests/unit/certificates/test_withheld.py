"""What a provider withholds is named as such: neither violated, nor lacking evidence."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.certificates.claims import claims_of
from pytest_kmigrate.certificates.evidence_of_runs import ON_A_CLUSTER_THAT_STANDS
from pytest_kmigrate.certificates.grading import CONFORMS, DOES_NOT
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.recording.recorder import write_manifest
from pytest_kmigrate.recording.sessions import Session, begin_session
from tests.unit.certificates.test_evidence_that_decides import red
from tests.unit.certificates.vendors import (
    PLANNED,
    ROW,
    certified,
    change_events,
    header_of,
    make_run,
    noted_anew,
    plan_these,
    verified,
)
from tests.unit.judging.coherence.honest_runs import DIGEST, Line, sealed_anew

WITHHELD = Capability.STARVE
WHY = "each signal goes through the engine"


def attached(seed: int) -> RunHeader:
    """The header of a run on a cluster that stands, as the provider attach records it."""
    header = header_of(seed)
    more = {"distribution_digests": {"3.6.0": ""}, "capabilities": sorted(frozenset(Capability) - {WITHHELD})}
    return replace(header, provider="attach", extra={**header.extra, **more})


def in_images(seed: int) -> RunHeader:
    """The header of a run in containers, which offer all but one capability, and say why."""
    header = header_of(seed)
    more = {
        "images": {"3.6.0": f"sha256:{'ab' * 32}"},
        "capabilities": sorted(frozenset(Capability) - {WITHHELD}),
        "lacking": {WITHHELD: WHY},
    }
    return replace(header, provider="docker", extra={**header.extra, **more})


def test_runs_on_a_cluster_that_stands_alone_make_no_certificate(out: Path) -> None:
    """One sentence says why, and what to do."""
    runs = out.parent / "runs"
    shutil.rmtree(runs)
    make_run(runs, attached(1))
    with pytest.raises(
        WrongUseError, match=r"those of a cluster that stands cannot be read: make runs of what it runs by --kmigrate-k"
    ):
        certified(runs, out)


@pytest.mark.slow
def test_a_run_on_a_cluster_that_stands_is_named_beside_those_of_the_software(runs: Path, out: Path) -> None:
    """It may run anything that calls itself so: red, it neither counts nor is it left out, and a reader sees it."""
    made = make_run(runs, attached(4))
    red(made)
    sealed_anew(made)
    write_manifest(made)
    noted_anew(runs)
    certified(runs, out)
    predicate = verified(out).statement.predicate
    (run,) = [each for each in predicate.claims.runs if each.reason]
    assert (run.reason, run.outcome, run.is_red) == (ON_A_CLUSTER_THAT_STANDS, "VIOLATES", False)
    assert (predicate.claims.grade, predicate.claims.findings) == (CONFORMS, [])
    assert [each.left_out for each in predicate.claims.sessions] == [[]]
    assert "whose software is not known and whose violations do not count: 1." in predicate.conclusion
    assert predicate.claims.artifact.sha256 == DIGEST


@pytest.mark.slow
def test_a_red_run_does_not_vanish_as_one_on_a_cluster_that_stands(runs: Path, out: Path) -> None:
    """Its nodes were started from jars that the harness had."""
    made = make_run(runs, attached(4))
    red(made)

    def from_jars(line: Line) -> Line:
        is_start = line["kind"] == EventKind.NODE_STARTED
        return {**line, "data": {**line["data"], "digest": DIGEST}} if is_start else line

    change_events(made, from_jars)
    sealed_anew(made)
    noted_anew(runs)
    claims = certified(runs, out).predicate.claims
    assert (claims.grade, len(claims.violations)) == (DOES_NOT, 1)
    assert ["runs jars that the harness had" in each for each in claims.findings] == [True]


@pytest.mark.parametrize(("needs", "required", "is_missed"), [([WITHHELD], 1, False), ([Capability.LINKS], 3, True)])
def test_a_test_that_the_provider_withholds_is_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, needs: list[str], required: int, *, is_missed: bool
) -> None:
    """A requirement by another test, which ran as often as planned, conforms; three runs are not asked for."""
    once = {**PLANNED, "runs": 1}
    other = {**PLANNED, "test": f"{PLANNED['test']}_slowly", "needs": needs, "runs": 3}
    plan_these(monkeypatch, tmp_path / "plans", once, other)
    runs = tmp_path / "runs"
    begin_session(runs, Session("s1", "", [PLANNED["test"]]))
    make_run(runs, in_images(1))
    claims = claims_of(runs, "kip-866")
    (row,) = [each for each in claims.rows if each.id == ROW]
    assert (row.required, row.strict) == (required, "INCONCLUSIVE" if is_missed else "CONFORMS")
    assert bool(claims.untested) is is_missed


def test_what_an_image_withholds_has_the_reason_of_its_provider(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A requirement whose only test cannot be asked does not apply: it is neither violated nor open."""
    linked = "K866-FAIL-zk-heal-catch-up"
    other = {**PLANNED, "test": f"{PLANNED['test']}_slowly", "requirements": [linked], "needs": [WITHHELD]}
    plan_these(monkeypatch, tmp_path / "plans", PLANNED, other)
    runs = tmp_path / "runs"
    begin_session(runs, Session("s1", "", [PLANNED["test"]]))
    make_run(runs, in_images(1))
    claims = claims_of(runs, "kip-866")
    (row,) = [each for each in claims.rows if each.id == linked]
    assert (row.word.value, row.reason) == (
        "does not apply",
        f"{other['test']} needs what this provider does not offer: {WITHHELD}; {WHY}",
    )
    assert not [each for each in claims.untested if "slowly" in each]
    assert not [each for each in claims.missing if linked in each]
