"""Challenges: a nonce of the reader chooses tests and seeds, so that they cannot be picked from old runs."""

import hashlib
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.certificates.evidence_of_runs import Evidence
from pytest_kmigrate.certificates.statement import Challenge, Sampled
from pytest_kmigrate.distributions.distribution import RUNS_IMAGES, is_image
from pytest_kmigrate.judging.coherence.header import name_under_test
from pytest_kmigrate.model.errors import ClusterError, WrongUseError

_TESTS = 5
_SEEDS = 10**9
_SHORTEST = 16


@dataclass(frozen=True)
class Task:
    """One test to run again, with the seed that the challenge derives."""

    test: str
    seed: int


def tasks(tests: Iterable[str], nonce: str, classes: str) -> list[Task]:
    """What a nonce asks for of one build of Kafka: five of the tests that it can run, or all if there are fewer.

    The nonce alone draws the tests, so a vendor who builds anew until they are easy ones gets the same. Seeds hang on
    the classes of the build, too: what else is in its jars, such as a date in a manifest, changes nothing. Tests whose
    runs show nothing of their seed are left out, as an old run would answer, unless a document has no others.
    """
    if len(nonce) < _SHORTEST:
        raise WrongUseError(f"--challenge: expected a nonce of {_SHORTEST} characters or more, got {nonce!r}")
    drawn = sorted(tests, key=lambda test: _number(nonce, test, "test"))[:_TESTS]
    return [Task(test, _number(nonce, classes, test, "seed") % _SEEDS) for test in drawn]


def answered(profile: str, nonce: str, evidence: Evidence, runs_folder: Path) -> Challenge:
    """The runs that answer a challenge; ClusterError with the commands to make those that are missing."""
    runs = {(run.header.test_id, run.header.seed): run for run in evidence.runs if not run.departs}
    possible = evidence.possible(profile)
    drawn = [each.test for each in possible if each.seeded] or [each.test for each in possible]
    wanted = tasks(drawn, nonce, evidence.classes or evidence.digest)
    missing = [task for task in wanted if (task.test, task.seed) not in runs]
    if missing:
        commands = "\n".join(_command(profile, _chosen(evidence), task, runs_folder) for task in missing)
        raise ClusterError(
            f"--challenge: expected runs of {len(wanted)} tests with seeds of this nonce, {len(missing)} are missing; "
            f"make them, then certify again:\n{commands}"
        )
    found = [Sampled(test=each.test, seed=each.seed, run=runs[each.test, each.seed].header.run_id) for each in wanted]
    return Challenge(nonce=nonce, sample=found)


def _chosen(evidence: Evidence) -> str:
    """What ``--kmigrate-kafka`` was for the software under test: its release, or the path of a build."""
    named = [name for run in evidence.runs if not run.is_void and (name := name_under_test(run.header)) is not None]
    return named[-1]


def _command(profile: str, kafka: str, task: Task, runs_folder: Path) -> str:
    options = [f"--kmigrate-seed={task.seed}", f"--kmigrate-profile={profile}", f"--kmigrate-kafka={kafka}"]
    options.append(f"--kmigrate-runs={runs_folder}")
    options += [f"--kmigrate-provider={RUNS_IMAGES}"] if is_image(kafka) else []
    return shlex.join(["pytest", "--pyargs", task.test, *options])


def _number(*parts: str) -> int:
    return int.from_bytes(hashlib.sha256("\n".join(parts).encode()).digest()[:8])
