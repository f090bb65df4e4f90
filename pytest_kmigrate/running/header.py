"""The header of a run, written before anything is provisioned: which test, on what, by which harness."""

import hashlib
import os
import platform
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_kmigrate.distributions.distribution import RUNS_IMAGES, is_image
from pytest_kmigrate.documents import document
from pytest_kmigrate.limits import processors
from pytest_kmigrate.model.checkpoint import Start, Znode
from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.model.history import EXERCISE, MUTANT, NIGHT, SCHEDULE, RunHeader
from pytest_kmigrate.model.provider import Artifact, Instruments, Mutant, Provider
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.recording.run_folder import EVIDENCE, RunFolder, run_id_of
from pytest_kmigrate.recording.sessions import Session
from pytest_kmigrate.recording.sources import harness_digest
from pytest_kmigrate.redaction import nameless, redacted_id, redacted_values
from pytest_kmigrate.redaction.known import learn_from, learn_named
from pytest_kmigrate.running.checkpoints import Checkpoint, Checkpoints
from pytest_kmigrate.running.standing import Standing

if TYPE_CHECKING:
    from pytest_kmigrate.running.run import Run


@dataclass(frozen=True)
class RunSettings:
    """What is the same for every run of one pytest invocation, or comes from the command line."""

    runs: Path
    seed: int
    profile: str = "kip-866"
    keep: bool = False
    byteman: Path | None = None
    mutant: Mutant | None = None
    watched: Sequence[str] = ()
    """Patterns of Kafka's classes of which is recorded what is executed."""
    clocks: bool = False
    """Whether each node has a clock of its own, as the test sets one."""
    member: Sequence[str] = ()
    """The command of members of groups under test; empty: the document's reference."""
    commit: str | None = None
    """What the distribution was built from, as the caller names it."""
    command: tuple[str, ...] = ()
    topology: str | None = None
    """The topology file or name that the command line asked for, if it did."""
    session: Session | None = None
    """The call of pytest that the folder of runs has noted; None: nothing notes it."""
    schedules: Path | None = None
    """The file of schedules that the command line asked for, if it did."""
    checkpoints: Checkpoints | None = None
    """What runs may start from; None: every cluster is started from scratch."""
    began: Callable[["Run"], None] = lambda _run: None
    """Called with every run before its cluster is started."""

    @property
    def instruments(self) -> Instruments:
        """What is loaded into every JVM of Kafka."""
        return Instruments(self.byteman, self.mutant, self.watched, self.clocks)


@dataclass(frozen=True)
class Claim:
    """The test of a run: its id, the requirements it claims, and the digest of its source (empty: unknown)."""

    test_id: str
    requirements: Sequence[str] = ()
    source_digest: str = ""
    starts_at: Start | None = None
    """The state in which it begins; None: a cluster that was just started."""
    conditions: Sequence[Znode] = ()
    """Znodes that are there before it begins."""
    words: Sequence[str] = ()
    """What to call pytest with to run it again; empty: its id."""
    schedule: Mapping[str, object] | None = None
    """What it carries out, if it does: a line of a night, as data."""
    night: Mapping[str, object] | None = None
    """Which line of which night that is; None: it is of none."""
    observed: Sequence[str] = ()
    """The command that observes once more, where nothing was tested, and an operator was watched; empty: a test."""


def header_of(
    settings: RunSettings,
    provider: Provider,
    topology: Topology,
    claim: Claim,
    checkpoint: Checkpoint | None = None,
    standing: Standing | None = None,
) -> RunHeader:
    """The header of a run that starts now; EnvironmentLackError when what it needs cannot be had."""
    is_cold = claim.starts_at is not None and checkpoint is None and standing is None
    artifacts = provider.artifacts(topology)
    started, test_id = datetime.now(UTC), redacted_id(claim.test_id)
    _learn(settings, topology, claim)
    return RunHeader(
        run_id=run_id_of(test_id, settings.seed, started),
        test_id=test_id,
        seed=settings.seed,
        kafka=_under_test(topology, artifacts),
        topology=topology.name,
        provider=provider.name,
        profile=settings.profile,
        requirements=tuple(claim.requirements),
        started_at=started.isoformat(),
        extra=redacted_values(
            {
                "command": list(settings.command),
                "reproduce": shlex.join(claim.observed)
                or _reproduce(settings, provider, topology, claim.words or (claim.test_id,), is_cold=is_cold),
                **_software(provider, topology, artifacts),
                "observed": bool(claim.observed),
                "source_digest": claim.source_digest,
                "byteman": settings.byteman.read_text(encoding="utf-8") if settings.byteman else None,
                MUTANT: _planted(settings.mutant) if settings.mutant else None,
                EXERCISE: list(settings.watched) or None,
                "commit": settings.commit,
                SCHEDULE: dict(claim.schedule) if claim.schedule else None,
                NIGHT: dict(claim.night) if claim.night else None,
                "member": list(settings.member),
                "cold": claim.starts_at is not None and settings.checkpoints is None,
                "checkpoint": checkpoint.identity if checkpoint else None,
                "scene": standing.identity if standing else None,
                "session": settings.session.id if settings.session else None,
                "host": _host(),
                "evidence": EVIDENCE,
                "states": {each.name: list(each.values) for each in document(settings.profile).states if each.values},
            },
            instead=nameless,
        ),
    )


def _software(provider: Provider, topology: Topology, artifacts: Mapping[str, Artifact]) -> dict[str, object]:
    """What runs and what runs it, by digests and versions."""
    return {
        "topology_digest": topology.digest(),
        "distribution_digests": {name: each.digest for name, each in artifacts.items()},
        "distribution_classes": {name: each.classes for name, each in artifacts.items() if each.classes},
        "images": {name: each.image for name, each in artifacts.items() if each.image},
        "capabilities": sorted(provider.capabilities),
        "lacking": dict(sorted(provider.lacking.items())),
        "facts": dict(provider.facts),
        "harness_digest": harness_digest(),
        "pytest_kmigrate": version("pytest-kmigrate"),
        "python": sys.version.split()[0],
    }


def _learn(settings: RunSettings, topology: Topology, claim: Claim) -> None:
    """Know the secrets that the user handed over: a node, a tool or a member may repeat them without their names."""
    texts = [shlex.join(words) for words in (settings.command, settings.member, claim.words, claim.observed)]
    learn_from([*texts, settings.commit or "", claim.test_id])
    learn_named(os.environ)
    for each in topology.nodes:
        learn_named(each.properties)


def new_folder(runs: Path, header: RunHeader) -> RunFolder:
    """An empty folder for this run; EnvironmentLackError when it cannot be made."""
    folder = RunFolder(runs / header.run_id)
    try:
        folder.path.mkdir(parents=True)
    except OSError as error:
        raise EnvironmentLackError(
            f"{folder.path}: the run folder cannot be made: {error.strerror}; "
            "make room, or name another by --kmigrate-runs"
        ) from error
    return folder


def _planted(mutant: Mutant) -> dict[str, object]:
    digest = hashlib.sha256(mutant.file.read_bytes()).hexdigest()
    return {"id": mutant.id, "class_name": mutant.class_name, "sha256": digest}


def _host() -> dict[str, object]:
    """What a certificate names of the machine; the id of its boot as a digest, so that overlapping runs show."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_bytes()
    memory_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    return {
        "boot": hashlib.sha256(boot).hexdigest(),
        "kernel": platform.release(),
        "cores": processors(),
        "memory_mb": memory_mb,
    }


def _under_test(topology: Topology, artifacts: Mapping[str, Artifact]) -> str:
    """The release that the topology names; where it names a folder that some node runs, what lies in there."""
    artifact = artifacts.get(topology.kafka)
    return artifact.name if artifact else topology.kafka


def _reproduce(
    settings: RunSettings, provider: Provider, topology: Topology, words: Sequence[str], *, is_cold: bool
) -> str:
    """The line of a shell; a cluster that stands runs what it runs."""
    is_made = not provider.facts
    options = {
        "provider": provider.name if not is_made else RUNS_IMAGES if is_image(topology.kafka) else None,
        "kafka": topology.kafka if is_made else None,
        "seed": settings.seed,
        "profile": settings.profile,
        "topology": settings.topology,
        "byteman": settings.byteman,
        "mutant": settings.mutant.file.parent if settings.mutant else None,
        "member": shlex.join(settings.member) or None,
        "schedules": settings.schedules,
    }
    chosen = [(f"--kmigrate-{name}", str(value)) for name, value in options.items() if value is not None]
    flags = ["--kmigrate-cold"] if is_cold else []
    if settings.watched:
        flags += ["--kmigrate-exercise", f"--kmigrate-classes={':'.join(settings.watched)}"]
    return shlex.join(["pytest", *words, *chain.from_iterable(chosen), *flags])
