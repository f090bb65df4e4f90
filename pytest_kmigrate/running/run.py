"""One run, from top to bottom: header, cluster, traffic, what the test does, verdicts, reports, manifest."""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pytest_kmigrate.documents import document
from pytest_kmigrate.faults.injection import Injector
from pytest_kmigrate.faults.schedules.header import FINAL_READ, WITHOUT
from pytest_kmigrate.judging.judge import Judgement, judge_folder
from pytest_kmigrate.model.capabilities import Capability, require
from pytest_kmigrate.model.checkpoint import Start, Znode
from pytest_kmigrate.model.checks import Check
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.errors import (
    AwaitTimeoutError,
    ClusterError,
    EnvironmentLackError,
    KmigrateError,
    WrongUseError,
)
from pytest_kmigrate.model.event import Ending
from pytest_kmigrate.model.events.evidence import (
    ChecksRequested,
    HarnessTrouble,
    RunEnded,
    StartConditionMade,
)
from pytest_kmigrate.model.history import SCHEDULE, RunHeader
from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.model.provider import Provider
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.probes.client_metadata import ClientMetadataProbe
from pytest_kmigrate.probes.exercise import ExerciseProbe
from pytest_kmigrate.probes.observer import Observer
from pytest_kmigrate.probes.pressure import PressureProbe
from pytest_kmigrate.probes.standstill import StandstillProbe
from pytest_kmigrate.probes.znode_watcher import ZnodeWatcher
from pytest_kmigrate.procedures.driver import described
from pytest_kmigrate.recording.hiding import hide_secrets, require_no_secret
from pytest_kmigrate.recording.recorder import RunRecorder, write_manifest
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.sessions import note_end_of_run, note_run
from pytest_kmigrate.running.checkpoints import Checkpoint, record_inherited, resume
from pytest_kmigrate.running.header import Claim, RunSettings, header_of, new_folder
from pytest_kmigrate.running.logs import record_raft_logs, record_zookeeper_log
from pytest_kmigrate.running.losses import Losses
from pytest_kmigrate.running.members import GroupMembers
from pytest_kmigrate.running.metadata import Metadata
from pytest_kmigrate.running.scene import driver_of, scene_of, zookeeper_client
from pytest_kmigrate.running.standing import Standing
from pytest_kmigrate.running.traffic import Traffic
from pytest_kmigrate.waiting import ended_early_by

_Opened = TypeVar("_Opened")
_HURRIED_S = 1.0
"""So long a change of metadata may still take when nothing is read back."""


class Run:
    """A live run. ``verify`` ends it: traffic stops, evidence is complete, verdicts are written."""

    def __init__(
        self,
        document: Document,
        cluster: Cluster,
        recorder: RunRecorder,
        header: RunHeader,
        checkpoint: Checkpoint | None = None,
        standing: Standing | None = None,
        *,
        member: Sequence[str] = (),
    ) -> None:
        """``checkpoint``: what its cluster is started from; ``standing``: what stands already, after another run.

        ``member``: the command of members of groups; the header has it without secrets.
        """
        place = standing.place if standing else 1
        self.place = place
        """Which of the runs on its cluster it is, from 1."""
        self.cluster = cluster
        self.recorder = recorder
        self.folder = recorder.folder
        self.zookeeper = zookeeper_client(cluster)
        self.traffic = Traffic(cluster, recorder, place, header.seed)
        self.members = GroupMembers(cluster, recorder, document.members, member)
        start = standing.start if standing else None
        phase = checkpoint.key.state if checkpoint else start.state if start else None
        scene = scene_of(
            document, cluster, self.zookeeper, recorder, header.seed, acked=self.traffic.acked, phase=phase
        )
        self.scene = replace(scene, members=self.members.by_name)
        self.inject = Injector(self.scene)
        self.view = self.scene.view
        self.driver = driver_of(document, self.scene)
        # A schedule without one of its happenings is another test, and meets the same changes in the same order.
        order = SCHEDULE if header.schedule else header.test_id
        self.metadata = Metadata(cluster, self.view, self.zookeeper, recorder, header.seed, order, place=place)
        self.metadata.leave_out(document.unfilled(cluster.topology))
        self.losses = Losses(recorder)
        self.judgement: Judgement | None = None
        self.before_judging: Callable[[], None] = lambda: None
        """Brings what lies elsewhere until then into the folder."""
        self._document = document
        self._header = header
        self._checkpoint = checkpoint
        self._standing = standing
        self._probes = ExitStack()

    def __repr__(self) -> str:
        return f"<run {self.folder.path}>"

    @property
    def steps(self) -> list[str]:
        """The names of the steps forward of its document, in their order."""
        return [step.name for step in self._document.procedure]

    @contextmanager
    def observed(self) -> Iterator[None]:
        """Probes watch while the block runs, or until ``verify``: what comes later is part of no verdict."""
        with ExitStack() as ending:
            if self.zookeeper is not None:
                ending.callback(self.zookeeper.close)
            with self._probes:
                self._start_probes()
                yield

    def begin(self) -> None:
        """Start the cluster, from its checkpoint if it has one, or take over one that stands; return when it serves."""
        if self._standing is not None:
            record_inherited(self.recorder, self._standing.changes)
            self.metadata.left_out |= self._standing.left_out
            if self._standing.start is not None:
                self.driver.resume_at(self._standing.start.state)
        elif self._checkpoint is not None:
            resume(self._checkpoint, self._document, self.scene, self.driver, self.metadata)
        else:
            self.cluster.start_initial()
            self.cluster.await_serving()

    def meet(self, conditions: Sequence[Znode]) -> None:
        """Make the start conditions of a test true, before it begins."""
        for each in conditions:
            require(self.cluster.capabilities, frozenset({Capability.ZNODE_WRITES}), each.path, self.recorder)
            self.scene.znodes.set(each.path, None if each.data is None else each.data.encode())
            self.recorder.record(StartConditionMade(each.path, each.data))

    def walk_to(self, start: Start) -> None:
        """Bring the cluster to where its test begins, unless it stands there already."""
        if self._checkpoint is None and self._standing is None:
            if start.is_filled:
                self.metadata.fill()
            self.driver.advance_to(start.state)

    def until_verify(self, recording: AbstractContextManager[_Opened]) -> _Opened:
        """Open what records evidence, such as a stub; it is closed by ``verify``, or at the end."""
        return self._probes.enter_context(recording)

    def _start_probes(self) -> None:
        paths, metrics = self._document.watched_znodes, self.cluster.topology.probe.metrics or self._document.metrics
        if self.zookeeper is not None and paths:
            watcher = ZnodeWatcher(self.zookeeper.kazoo, self.recorder.znode, self.recorder.now_ns, paths)
            watcher.start()
            self._probes.callback(watcher.stop)
        asking = ClientMetadataProbe(self.cluster, self.recorder)
        asking.start()
        self._probes.callback(asking.stop)
        observer = Observer(self.cluster, self.view, self.recorder, metrics)
        observer.start()
        self._probes.callback(observer.stop)
        if self._header.circumstances.exercise:
            exercise = ExerciseProbe(self.cluster, self.recorder)
            exercise.start()
            self._probes.callback(exercise.stop)
        standing = StandstillProbe(self.recorder, lambda: {**self.cluster.parts, **self.traffic.parts})
        standing.start()
        self._probes.callback(standing.stop)
        pressure = PressureProbe(self.recorder)
        pressure.start()
        self._probes.callback(pressure.stop)

    @property
    def without(self) -> frozenset[str]:
        """What the run goes without, as it looks for one red alone: ``FINAL_READ``, ``IMAGES``."""
        listed = (self._header.circumstances.night or {}).get(WITHOUT)
        return frozenset(map(str, listed)) if isinstance(listed, list | tuple) else frozenset()

    def verify(self, checks: Sequence[Check] | None, *, reads_back: bool = True) -> Judgement:
        """Finish recording, then judge the run folder with the same code as ``kmigrate judge``.

        With ``reads_back=False`` the final read is skipped, and so it is when a part of the harness is gone, or the red
        that the run looks for does not rest on it. ``checks`` is None if a test ended before it asked for any: then
        nothing conforms.
        """
        if self.judgement is not None:
            raise WrongUseError("verify was called already in this test: expected once, with every check")
        if checks is not None:
            self.inject.require_begun()
        for name, trouble in self.cluster.machine_troubles().items():
            self.recorder.record(HarnessTrouble("a node of the cluster", trouble, of_machine=True), name)
        is_hurried = not reads_back or self.losses.first() is not None
        self.metadata.stop(_HURRIED_S if is_hurried else None)
        self.traffic.finish(reads_back=not is_hurried and FINAL_READ not in self.without)
        self.members.finish()
        self._probes.close()
        for node in self.cluster.nodes():
            node.tell_rules()
            node.tell_dead_threads()
            node.tell_identity()
        if checks is not None:
            asked = [{"name": check.name, "arguments": dict(check.arguments)} for check in checks]
            self.recorder.record(ChecksRequested(asked))
        if self.zookeeper is not None:
            record_zookeeper_log(self.cluster, self.zookeeper, self.recorder, self._header.inherited_zxid)
        record_raft_logs(self.cluster, self.recorder)
        self.before_judging()
        self.judgement = judge_folder(self.folder)
        return self.judgement

    def ended(self, test: Ending, known_bug: str | None = None) -> None:
        """Note how the test of this judged run ended, and by which known bug of Kafka, if by one."""
        assert self.judgement is not None, "a run is judged before anybody can know how its test ended"
        self.recorder.ending = RunEnded(test, self.judgement.outcome.name, known_bug)

    def trouble(self, what: str, error: Exception) -> None:
        """Record a failure of our own: no verdict of this run is CONFORMS any more."""
        self.recorder.record(HarnessTrouble(what, str(error)))

    def dump_threads(self) -> None:
        """A thread dump of every node into its log, to explain a hang; none when a part of the harness is gone."""
        nodes = self.cluster.nodes()
        if nodes and self.losses.first() is None:
            with ThreadPoolExecutor(len(nodes)) as pool:
                list(pool.map(lambda node: node.dump_threads(), nodes))


@contextmanager
def open_run(
    settings: RunSettings,
    provider: Provider,
    topology: Topology,
    claim: Claim,
    finish: Callable[[RunFolder], None],
) -> Iterator[Run]:
    """A run with its cluster provisioned and started; ``finish`` makes the reports of the closed folder."""
    with beginning_with(settings, topology, claim) as (checkpoint, begun):
        header = header_of(settings, provider, topology, claim, checkpoint)
        with (
            recorded(settings.runs, header, finish, is_kept=settings.keep) as recorder,
            provider.provision(
                topology, recorder, recorder.folder.logs, instruments=settings.instruments, keep=lambda: settings.keep
            ) as cluster,
        ):
            recorder.log_files = lambda: {node.name: node.log for node in cluster.nodes()}
            run = Run(document(header.profile), cluster, recorder, header, checkpoint, member=settings.member)
            settings.began(run)
            with live(run, header, claim.conditions):
                begun()
                yield run


@contextmanager
def beginning_with(
    settings: RunSettings, topology: Topology, claim: Claim
) -> Iterator[tuple[Checkpoint | None, Callable[[], None]]]:
    """The checkpoint to begin from, if there is one, and what to call when it has been begun from."""
    with ExitStack() as in_use:
        checkpoint = None
        if settings.checkpoints is not None and claim.starts_at is not None:
            checkpoint = in_use.enter_context(settings.checkpoints.held(topology, claim.starts_at))
        yield checkpoint, in_use.close


@contextmanager
def recorded(
    runs: Path, header: RunHeader, finish: Callable[[RunFolder], None], *, is_kept: bool = False
) -> Iterator[RunRecorder]:
    """A recorder of a new folder, which is closed, reported on by ``finish`` and sealed when the block ends."""
    folder = new_folder(runs, header)
    note_run(runs, header)
    recorder = RunRecorder(folder, header)
    try:
        yield recorder
    finally:
        recorder.close()
        _finish(folder, header, finish, is_kept=is_kept, is_hidden=recorder.is_hidden)


@contextmanager
def live(run: Run, header: RunHeader, conditions: Sequence[Znode] = ()) -> Iterator[None]:
    """Begin a run, with its probes; traffic and changes of metadata end with the block at the latest."""
    with run.observed(), run.members, run.traffic, run.metadata, ended_early_by(run.losses.require_none):
        with _judged_with_a_mutant(run, header), _with_evidence(run.folder, header, run):
            run.begin()
            run.meet(conditions)
        yield


@contextmanager
def _judged_with_a_mutant(run: Run, header: RunHeader) -> Iterator[None]:
    """Judge a cluster that does not come up with a mutant, also after a Ctrl-C: what its nodes did is what it does."""
    try:
        yield
    except BaseException:
        if header.has_mutant:
            with suppress(KmigrateError, OSError):  # which would hide what it is that does not come up
                run.verify(None, reads_back=False)
        raise


@contextmanager
def _with_evidence(folder: RunFolder, header: RunHeader, run: Run) -> Iterator[None]:
    """Add to the error of a cluster that does not start where its evidence is, and what this machine lacks.

    On a timeout, dump all threads.
    """
    try:
        yield
    except KmigrateError as error:
        if isinstance(error, AwaitTimeoutError):
            run.dump_threads()
        if isinstance(error, ClusterError) and (troubles := run.cluster.machine_troubles()):
            error.add_note(f"this machine: {described(troubles)}")
        error.add_note(f"evidence: {folder.path}\nagain: {header.circumstances.reproduce}")
        raise


def _finish(
    folder: RunFolder, header: RunHeader, finish: Callable[[RunFolder], None], *, is_kept: bool, is_hidden: bool
) -> None:
    """Reports and manifest; when the disk is full or the like, that never hides what ended the run before."""
    first = sys.exception()
    try:
        if not is_hidden:
            hide_secrets(folder)
        finish(folder)
        require_no_secret(folder)
        write_manifest(folder, is_kept=is_kept)
        note_end_of_run(folder, header)
    except (OSError, EnvironmentLackError) as error:
        reported = EnvironmentLackError(
            f"{folder.path}: the reports cannot be written: {error}; make room and judge it again"
        )
        if first is None:
            raise reported from error
        first.add_note(str(reported))
