"""One run, told top to bottom: header, cluster, traffic, what the test does, verdicts, reports, manifest."""

import hashlib
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from pytest_kmigrate.judging.judge import Judgement, judge_folder
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.errors import AwaitTimeoutError, EnvironmentLackError, KmigrateError, WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.probes.observer import Observer
from pytest_kmigrate.probes.znode_watcher import ZnodeWatcher
from pytest_kmigrate.procedures.driver import MigrationDriver
from pytest_kmigrate.providers.process.cluster import ProcessCluster, Software, provision
from pytest_kmigrate.recording.recorder import RunRecorder, write_manifest
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.running.metadata import Metadata
from pytest_kmigrate.running.reading_metrics import read_metrics
from pytest_kmigrate.running.scene import scene_of, zookeeper_client
from pytest_kmigrate.running.traffic import Traffic
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until
from pytest_kmigrate.wire.admin import cluster_at

_LONGEST_SLUG = 60
_ASKED_EVERY_S = 0.01


@dataclass(frozen=True)
class RunSettings:
    """What is the same for every run of one pytest invocation, or comes from the command line."""

    runs: Path
    seed: int
    profile: str = "kip-866"
    provider: str = "process"
    keep: bool = False
    byteman: Path | None = None
    commit: str | None = None
    """What the distribution was built from, as the caller names it."""
    command: tuple[str, ...] = ()
    topology: str | None = None
    """The topology file or name that the command line asked for, if it did."""


class Run:
    """A live run. ``verify`` ends it: traffic stops, evidence is complete, verdicts are written."""

    def __init__(self, cluster: ProcessCluster, recorder: RunRecorder, seed: int, test_id: str) -> None:
        self.cluster = cluster
        self.recorder = recorder
        self.folder = recorder.folder
        self.zookeeper = zookeeper_client(cluster)
        self.traffic = Traffic(cluster, recorder)
        self.scene = scene_of(cluster, self.zookeeper, recorder, seed, self.traffic.acked)
        self.view = self.scene.view
        self.migration = MigrationDriver(self.scene)
        self.metadata = Metadata(cluster, self.view, self.zookeeper, recorder, seed, test_id)
        self.judgement: Judgement | None = None
        self._probes = ExitStack()

    @contextmanager
    def observed(self) -> Iterator[None]:
        """Probes watch while the block runs, or until ``verify``: what comes later is part of no verdict."""
        with ExitStack() as ending:
            if self.zookeeper is not None:
                ending.callback(self.zookeeper.close)
            with self._probes:
                self._start_probes()
                yield

    def _start_probes(self) -> None:
        if self.zookeeper is not None:
            watcher = ZnodeWatcher(self.zookeeper.kazoo, self.recorder.znode, self.recorder.now_ns)
            watcher.start()
            self._probes.callback(watcher.stop)
        observer = Observer(self.cluster, self.view, self.recorder, read_metrics, self.cluster.topology.probe.metrics)
        observer.start()
        self._probes.callback(observer.stop)

    def await_serving(self) -> None:
        """Return when every broker tells clients of all others and of a controller: before, an admin may hang."""
        brokers = self.cluster.nodes(Role.BROKER)
        expected = frozenset(node.spec.node_id for node in brokers)

        def told() -> bool | NotYet:
            for node in brokers:
                controller, known = cluster_at(self.cluster.peer(node.name))
                if controller < 0 or known != expected:
                    return NotYet(f"{node.name} knows controller {controller} and brokers {sorted(known)}")
            return True

        awaited = "every broker in every broker's metadata"
        until(told, awaited=awaited, within_s=PATIENCE_S, every_s=_ASKED_EVERY_S)

    def verify(self, checks: Sequence[Check] | None, *, reads_back: bool = True) -> Judgement:
        """Complete the evidence, and judge the folder as anybody later would; who is in a hurry reads nothing back.

        ``checks`` is None where a test ended before it asked for any: then nothing conforms.
        """
        if self.judgement is not None:
            raise WrongUseError("verify was called already in this test: expected once, with every check")
        self.metadata.stop()
        self.traffic.finish(reads_back=reads_back)
        self._probes.close()
        for node in self.cluster.nodes():
            node.tell_rules()
            node.tell_dead_threads()
        if checks is not None:
            asked = [{"name": check.name, "arguments": dict(check.arguments)} for check in checks]
            self.recorder.record(EventKind.CHECKS, checks=asked)
        self.judgement = judge_folder(self.folder)
        return self.judgement

    def trouble(self, what: str, error: Exception) -> None:
        """Record a failure of our own: no verdict of this run is CONFORMS any more."""
        self.recorder.record(EventKind.HARNESS_TROUBLE, what=what, error=str(error))

    def dump_threads(self) -> None:
        """A thread dump of every node into its log, for whoever looks at a hang."""
        for node in self.cluster.nodes():
            node.dump_threads()


@contextmanager
def open_run(
    settings: RunSettings,
    topology: Topology,
    software: Software,
    test_id: str,
    requirements: Sequence[str],
    finish: Callable[[RunFolder], None],
) -> Iterator[Run]:
    """A run with its cluster provisioned and started; ``finish`` makes the reports of the closed folder."""
    folder, header = _new_folder(settings, topology, software, test_id, requirements)
    recorder = RunRecorder(folder, header)
    try:
        with provision(
            topology, software, recorder, folder.logs, rules=settings.byteman, keep=lambda: settings.keep
        ) as cluster:
            recorder.log_files = lambda: {node.name: node.log for node in cluster.nodes()}
            run = Run(cluster, recorder, settings.seed, test_id)
            with run.observed(), run.traffic, run.metadata:
                with _told_of(folder, header, run):
                    cluster.start_initial()
                    run.await_serving()
                yield run
    finally:
        recorder.close()
        _finish(folder, finish, is_kept=settings.keep)


@contextmanager
def _told_of(folder: RunFolder, header: RunHeader, run: Run) -> Iterator[None]:
    """Whoever hears that a cluster does not start hears where to look, too; and all threads are there to be seen."""
    try:
        yield
    except KmigrateError as error:
        if isinstance(error, AwaitTimeoutError):
            run.dump_threads()
        error.add_note(f"evidence: {folder.path}\nagain: {header.extra['reproduce']}")
        raise


def _finish(folder: RunFolder, finish: Callable[[RunFolder], None], *, is_kept: bool) -> None:
    """Reports and manifest; when the disk is full or the like, that never hides what ended the run before."""
    first = sys.exception()
    try:
        finish(folder)
        write_manifest(folder, is_kept=is_kept)
    except (OSError, EnvironmentLackError) as error:
        told = EnvironmentLackError(
            f"{folder.path}: the reports cannot be written: {error}; make room and judge it again"
        )
        if first is None:
            raise told from error
        first.add_note(str(told))


def _new_folder(
    settings: RunSettings, topology: Topology, software: Software, test_id: str, requirements: Sequence[str]
) -> tuple[RunFolder, RunHeader]:
    started = datetime.now(UTC)
    slug = re.sub(r"[^A-Za-z0-9]+", "-", test_id.rpartition("::")[2]).strip("-")[:_LONGEST_SLUG]
    unique = hashlib.sha256(f"{test_id} {started.isoformat()} {settings.seed}".encode()).hexdigest()[:6]
    run_id = f"{started:%Y%m%dT%H%M%S}-{slug}-seed{settings.seed}-{unique}"
    folder = RunFolder(settings.runs / run_id)
    try:
        folder.path.mkdir(parents=True)
    except OSError as error:
        raise EnvironmentLackError(
            f"{folder.path}: the run folder cannot be made: {error.strerror}; "
            "make room, or name another by --kmigrate-runs"
        ) from error
    header = RunHeader(
        run_id=run_id,
        test_id=test_id,
        seed=settings.seed,
        kafka=_under_test(topology, software),
        topology=topology.name,
        provider=settings.provider,
        profile=settings.profile,
        requirements=tuple(requirements),
        started_at=started.isoformat(),
        extra={
            "command": list(settings.command),
            "reproduce": _reproduce(settings, topology, test_id),
            "topology_digest": topology.digest(),
            "distribution_digests": {name: each.digest for name, each in software.distributions.items()},
            "pytest_kmigrate": version("pytest-kmigrate"),
            "python": sys.version.split()[0],
            "byteman": settings.byteman.read_text(encoding="utf-8") if settings.byteman else None,
            "commit": settings.commit,
        },
    )
    return folder, header


def _under_test(topology: Topology, software: Software) -> str:
    """The release that the topology names; where it names a folder that some node runs, the release in there."""
    distribution = software.distributions.get(topology.kafka)
    return distribution.version if distribution else topology.kafka


def _reproduce(settings: RunSettings, topology: Topology, test_id: str) -> str:
    options = {
        "kafka": topology.kafka,
        "seed": settings.seed,
        "profile": settings.profile,
        "topology": settings.topology,
        "byteman": settings.byteman,
    }
    chosen = [(f"--kmigrate-{name}", str(value)) for name, value in options.items() if value is not None]
    return shlex.join(["pytest", test_id, *chain.from_iterable(chosen)])
