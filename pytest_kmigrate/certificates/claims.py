"""Computes the claims of a certificate from evidence: the same for the vendor and for each reader."""

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from pytest_kmigrate.catalogue import requirement, requirements
from pytest_kmigrate.certificates.challenge import answered
from pytest_kmigrate.certificates.counting import rows_of, untestable
from pytest_kmigrate.certificates.evidence_of_runs import Evidence, RunEvidence, evidence_of, is_release
from pytest_kmigrate.certificates.grading import (
    defects_of,
    is_red,
    missing_of,
    overall,
    parts_of,
    violations_of,
)
from pytest_kmigrate.certificates.statement import (
    BUILD,
    RELEASE_OF_APACHE,
    Artifact,
    Claims,
    Harness,
    Host,
    NotedSession,
    Offer,
    OutcomeName,
    Profile,
    TestedRun,
)
from pytest_kmigrate.documents import document
from pytest_kmigrate.judging.coherence.header import is_called_by
from pytest_kmigrate.judging.planning.plan import plan
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.recording.sessions import RecordedSession

OUTCOMES: dict[Outcome, OutcomeName] = {
    Outcome.CONFORMS: "CONFORMS",
    Outcome.VIOLATES: "VIOLATES",
    Outcome.INCONCLUSIVE: "INCONCLUSIVE",
    Outcome.NOT_APPLICABLE: "NOT_APPLICABLE",
}


def claims_of(root: Path, profile: str, *, kafka: str | None = None, nonce: str | None = None) -> Claims:
    """All that the runs below a folder say of a profile; what is stored as verdict is taken as it is.

    ``nonce``: the challenge that they answer. Errors as of ``evidence_of`` and ``answered``.
    """
    evidence = evidence_of(root, profile, kafka)
    rows = rows_of(profile, evidence)
    parts, sessions = parts_of(rows), [_noted(profile, each, evidence) for each in evidence.sessions]
    untested, findings = list(_untested(profile, evidence)), [run.finding for run in evidence.runs if run.finding]
    violations, defects = violations_of(evidence), defects_of(rows, evidence)
    core = [source for each in requirements(profile) if each.level == "MUST" for source in each.same_as or (each.id,)]
    judged_as = [requirement(each).covered_by or each for each in core]
    return Claims(
        profile=Profile(id=profile, release=version("pytest-kmigrate"), plan=plan(profile).digest),
        artifact=_artifact(evidence),
        members=evidence.members,
        harness=_harness(evidence.runs),
        hosts=_hosts(evidence.runs),
        offers=_offers(evidence.runs),
        parts=parts,
        rows=rows,
        untestable=untestable(profile),
        untested=untested,
        runs=[_tested(each, judged_as) for each in evidence.runs],
        sessions=sessions,
        violations=violations,
        findings=findings,
        defects=defects,
        grade=overall(parts[0], violations, defects),
        missing=missing_of(rows, sessions, untested, findings),
        challenge=answered(profile, nonce, evidence, root) if nonce is not None else None,
    )


def _artifact(evidence: Evidence) -> Artifact:
    is_apache = is_release(evidence.kafka, evidence.digest)
    return Artifact(
        name=f"{RELEASE_OF_APACHE if is_apache else BUILD}{evidence.kafka}",
        sha256=evidence.digest,
        classes=evidence.classes,
        also_called=list(evidence.called[1:]),
        is_release=is_apache,
        image=evidence.image,
    )


def _harness(runs: Sequence[RunEvidence]) -> list[Harness]:
    made = Counter(
        (str(run.header.circumstances.pytest_kmigrate), str(run.header.circumstances.harness_digest)) for run in runs
    )
    return [Harness(version=release, sha256=digest, runs=count) for (release, digest), count in sorted(made.items())]


def _hosts(runs: Sequence[RunEvidence]) -> list[Host]:
    on = Counter((tuple(_host(run)), run.header.provider) for run in runs)
    return [
        Host(boot=boot, kernel=kernel, cores=int(cores), memory_mb=int(memory_mb), provider=provider, runs=count)
        for ((boot, kernel, cores, memory_mb), provider), count in sorted(on.items())
    ]


def _host(run: RunEvidence) -> Iterator[str]:
    known = run.header.circumstances.host
    yield from (str(known.get("boot", "unknown")), str(known.get("kernel", "unknown")))
    yield from (str(size) if type(size := known.get(key)) is int else "0" for key in ("cores", "memory_mb"))


def _offers(runs: Sequence[RunEvidence]) -> list[Offer]:
    made = Counter((run.header.provider, tuple(sorted(run.offered))) for run in runs)
    return [
        Offer(provider=provider, offered=list(offered), lacking=sorted(set(Capability).difference(offered)), runs=count)
        for (provider, offered), count in sorted(made.items())
    ]


def _untested(profile: str, evidence: Evidence) -> Iterator[str]:
    """A vendor may leave out none that fails."""
    made = Counter(run.header.test_id for run in evidence.runs if not run.departs)
    for test in evidence.possible(profile):
        if made[test.test] < test.runs:
            yield f"{test.test}: {made[test.test]} of {test.runs}"


def _tested(run: RunEvidence, core: Sequence[str]) -> TestedRun:
    return TestedRun(
        run=run.header.run_id,
        test=run.header.test_id,
        seed=run.header.seed,
        outcome=OUTCOMES[run.outcome],
        is_red=is_red(run, core),
        manifest=run.manifest,
        counts=not run.departs,
        reason=run.departs,
    )


def _is_of(kafka: str, evidence: Evidence) -> bool:
    """Whether a run that is noted by this name is of this software."""
    return kafka in evidence.called or is_called_by(kafka, evidence.digest)


def _noted(profile: str, session: RecordedSession, evidence: Evidence) -> NotedSession:
    """Runs of another profile or Kafka are no part of this evidence, and are not missed in it.

    The very jars of this one may have run from another folder, under another name.
    """
    there = {run.header.run_id for run in evidence.runs}
    profiles = {profile, *document(profile).judges_runs_of}
    own = [run for run in session.runs if run.profile in profiles and _is_of(run.kafka, evidence)]
    return NotedSession(
        session=session.id,
        tests=len(session.tests),
        runs=[run.run_id for run in own],
        interrupted=[run.run_id for run in own if run.manifest is None],
        left_out=[run.run_id for run in own if run.manifest is not None and run.run_id not in there],
        ended=session.is_ended,
    )
