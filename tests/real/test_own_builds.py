"""A build of one's own conforms where its code does: alone, beside a release, on somebody else's cluster, certified."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.certificates.evidence_of_runs import evidence_of
from pytest_kmigrate.distributions.releases import locked_release
from pytest_kmigrate.judging import checks
from pytest_kmigrate.judging.coherence.coherence import COHERENT
from pytest_kmigrate.judging.rejudge import judge_again
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.procedures.moves import Roll
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.recording.reading import read_header, read_history
from pytest_kmigrate.running import Claim, RunSettings, open_run
from pytest_kmigrate.topology.loading import find, load
from tests.real.attach.standing import Watching, attach_file, operated
from tests.real.own_builds import build_of

RELEASE = "3.9.1"
ROOT = Path(__file__).parents[2]
PLANNED = "pytest_kmigrate.suites.kip_500.test_shapes::test_one_process_is_a_cluster"
"""The test of the smallest cluster that a plan has."""
PARTIAL = 3
MIXED = """
name = "mixed"
purpose = "A build beside the release that it was made of."
kafka = "{build}"
[broker]
count = 1
[controller]
count = 1
kafka = "{release}"
"""


@pytest.fixture(scope="module")
def build() -> Path:
    """It is found again by the next run of these tests."""
    return build_of(RELEASE)


def test_a_build_conforms_and_its_runs_are_certified(build: Path, tmp_path: Path) -> None:
    """By a planned test: its run counts, and the certificate is of these very jars, which are no release's."""
    runs, file = tmp_path / "runs", tmp_path / "acme.kmcert"
    options = ["--kmigrate-profile", "kip-500", "--kmigrate-kafka", str(build), "--kmigrate-runs", str(runs)]
    tested = python("pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--pyargs", PLANNED, *options)
    assert tested.returncode == 0, tested.stdout
    certified = python("pytest_kmigrate.cli", "certify", str(runs), "--profile", "kip-500", "--out", str(file))
    assert certified.returncode == PARTIAL, certified.stderr  # one test of many was run
    assert "1 of 1 count" in " ".join(f"{certified.stdout} {certified.stderr}".split())
    (run,) = evidence_of(runs, "kip-500").runs
    assert (run.outcome, run.departs) == (Outcome.CONFORMS, "")
    digest = (run.header.digests or {})[str(build)]
    assert run.header.kafka == f"{RELEASE}+{build.name.replace('.', '-')}.{digest[:8]}"
    assert digest != locked_release(RELEASE).digest()
    started = read_history(run.folder).of(EventKind.NODE_STARTED)
    assert {(each.data["kafka"], each.data["digest"]) for each in started} == {(RELEASE, digest)}


def test_a_build_beside_its_release_conforms_and_the_release_is_rolled_to_it(build: Path, tmp_path: Path) -> None:
    """Both have the same version; digests show which node runs which."""
    file = tmp_path / "mixed.toml"
    file.write_text(MIXED.format(build=build, release=RELEASE))
    settings = RunSettings(tmp_path / "runs", seed=1)
    with open_run(settings, ProcessProvider(print), load(file), Claim("t::mixed"), lambda _folder: None) as run:
        run.traffic.start()
        run.traffic.await_acked(200)
        Roll("controller-3000", kafka=str(build)).make(run.scene)
        run.traffic.await_acked(200)
        judgement = run.verify([checks.no_acked_record_lost()])
    assert judgement.outcome is Outcome.CONFORMS, judgement.verdicts
    digests = read_header(run.folder).digests or {}
    assert digests.keys() == {str(build), RELEASE}
    started = [(each.node, each.data["digest"]) for each in read_history(run.folder).of(EventKind.NODE_STARTED)]
    ours, theirs = digests[str(build)], digests[RELEASE]
    assert started == [("controller-3000", theirs), ("broker-0", ours), ("controller-3000", ours)]
    assert judge_again(run.folder.path).outcome is Outcome.CONFORMS


def test_somebody_elses_cluster_of_a_build_conforms_as_the_release_that_its_file_claims(
    build: Path, tmp_path: Path
) -> None:
    """Its jars are not here, so nodes have a version and no digest."""
    wish = load(find("zk1-broker1"))
    nodes = tuple(replace(node, kafka=str(build)) for node in wish.nodes)
    with operated(replace(wish, kafka=str(build), nodes=nodes), tmp_path) as operator:
        file = attach_file(operator.cluster, tmp_path)
        file.write_text(file.read_text().replace(f'"{build}"', f'"{RELEASE}"'))
        watching = Watching(file, tmp_path / "runs")
        watching.await_images("zookeeper")
        watching.process.send_signal(signal.SIGINT)
        _, printed = watching.ended()
    (verdicts,) = (tmp_path / "runs").glob("*/verdicts.jsonl")
    judged = {each["check"]: each["outcome"] for each in map(json.loads, verdicts.read_text().splitlines())}
    assert COHERENT not in judged, printed
    conforming = {check for check, outcome in judged.items() if outcome == Outcome.CONFORMS.name}
    assert {"metadata_equivalent", "one_active_controller_per_epoch"} <= conforming, printed


def python(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A module in a process of its own, to its end."""
    command = [sys.executable, "-m", module, *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=400, check=False)
