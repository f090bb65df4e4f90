"""The cluster of a scene: its tests run on it one after the other, each recorded and judged by itself."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pytest_kmigrate.documents import document
from pytest_kmigrate.model.checkpoint import Start
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.model.provider import Provider
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.recording.log_slices import copy_since, sizes_of
from pytest_kmigrate.recording.recorder import RunRecorder
from pytest_kmigrate.recording.relay import Relay
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.running.header import Claim, RunSettings, header_of
from pytest_kmigrate.running.run import Run, beginning_with, live, recorded
from pytest_kmigrate.running.standing import ChangedError, Found, Standing, found_on, taken_over

_LOGS = ".scenes"
"""Below the folder of runs: the logs of clusters that stand, which are cut into those of runs."""
_NOT_ENDED = "the test before it did not come to its end"


@dataclass
class _Stage:
    """A cluster that stands, and what is known of its runs."""

    cluster: Cluster
    relay: Relay
    logs: Path
    start: Start | None
    last: Run
    ending: ExitStack
    found: Found | None = None
    why_not_again: str = _NOT_ENDED


class SharedCluster:
    """Provisioned for the first run, and again for the one after a test that did not leave it as it was found."""

    def __init__(
        self, settings: RunSettings, provider: Provider, topology: Topology, say: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._document = document(settings.profile)
        self._provider = provider
        self._topology = topology
        self._say = say
        self._stage: _Stage | None = None
        self._standing: Standing | None = None

    def prepare(self) -> bool:
        """Whether the cluster can be used again; when it cannot, nothing is left of it and the reason is reported."""
        self._standing = None
        if self._stage is None:
            return False
        try:
            self._standing = _standing(self._document, self._stage)
        except ChangedError as error:
            self._say(f"the scene goes on with a cluster that is new: {error}")
            self.close()
        return self._standing is not None

    @contextmanager
    def run(self, claim: Claim, finish: Callable[[RunFolder], None]) -> Iterator[Run]:
        """The next run: on the cluster as it was found fit by ``prepare``, otherwise on a new one."""
        standing, self._standing = self._standing, None
        opened = self._further(claim, finish, standing) if standing else self._first(claim, finish)
        with opened as run:
            yield run

    def begun(self) -> None:
        """Note what the test finds that begins now; those after it must find the same."""
        assert self._stage is not None
        if self._stage.found is None:
            self._stage.found = found_on(self._stage.cluster, self._stage.last.view)

    def hand_on(self, why_not: str = "") -> None:
        """Let the next run have this cluster, unless there is a reason why not."""
        if self._stage is not None:
            self._stage.why_not_again = why_not

    def close(self) -> None:
        """End the cluster; safe to call twice."""
        stage, self._stage = self._stage, None
        if stage is not None:
            stage.ending.close()

    @contextmanager
    def _first(self, claim: Claim, finish: Callable[[RunFolder], None]) -> Iterator[Run]:
        self.close()
        relay, settings = Relay(), self._settings
        with beginning_with(settings, self._topology, claim) as (checkpoint, begun):
            header = header_of(settings, self._provider, self._topology, claim, checkpoint)
            logs = settings.runs / _LOGS / header.run_id
            with (
                recorded(settings.runs, header, finish) as recorder,
                _recorded_on(relay, logs, recorder) as copy_logs,
                ExitStack() as ending,
            ):
                cluster = self._provisioned(relay, logs, ending)
                recorder.log_files = lambda: {node.name: node.log for node in cluster.nodes()}
                run = Run(self._document, cluster, recorder, header, checkpoint, member=settings.member)
                run.before_judging = copy_logs
                settings.began(run)
                with live(run, header, claim.conditions):
                    begun()
                    self._stage = _Stage(cluster, relay, logs, claim.starts_at, run, ending.pop_all())
                    yield run

    def _provisioned(self, relay: Relay, logs: Path, ending: ExitStack) -> Cluster:
        keep = self._settings.keep
        if not keep:
            ending.callback(_remove, logs)
        instruments = self._settings.instruments
        return ending.enter_context(
            self._provider.provision(self._topology, relay, logs, instruments=instruments, keep=lambda: keep)
        )

    @contextmanager
    def _further(self, claim: Claim, finish: Callable[[RunFolder], None], standing: Standing) -> Iterator[Run]:
        stage = self._stage
        assert stage is not None, "prepare found it fit"
        stage.why_not_again = _NOT_ENDED
        header = header_of(self._settings, self._provider, self._topology, claim, standing=standing)
        with (
            recorded(self._settings.runs, header, finish) as recorder,
            _recorded_on(stage.relay, stage.logs, recorder) as copy_logs,
        ):
            recorder.log_files = lambda: {node.name: node.log for node in stage.cluster.nodes()}
            member = self._settings.member
            run = Run(self._document, stage.cluster, recorder, header, standing=standing, member=member)
            run.before_judging = copy_logs
            self._settings.began(run)
            with live(run, header):
                stage.last = run
                yield run


@contextmanager
def _recorded_on(relay: Relay, logs: Path, recorder: RunRecorder) -> Iterator[Callable[[], None]]:
    """Events of the cluster and slices of its logs are this run's while the block runs.

    The callable copies the slices into its folder, as the end of the block does.
    """
    before = sizes_of(logs)
    copy_logs = partial(copy_since, logs, before, recorder.folder.logs)
    recorder.logged_before = {logs / log: size for log, size in before.items()}
    relay.begin(recorder)
    try:
        yield copy_logs
    finally:
        relay.end()
        copy_logs()
        recorder.goes_by_its_own_logs()


def _standing(document: Document, stage: _Stage) -> Standing:
    """What the next run takes over; ChangedError when it cannot."""
    if stage.why_not_again:
        raise ChangedError(stage.why_not_again)
    if stage.relay.missed:
        missed = stage.relay.missed[0]
        raise ChangedError(f"{missed.kind} of {missed.node or 'no node'} was recorded after the test before it")
    assert stage.found is not None, "a test began"
    events = stage.last.recorder.events
    log_offset, zxid = taken_over(document, stage.cluster, stage.found, stage.start, events, stage.relay)
    changes = [event.data for event in events if event.kind is EventKind.METADATA_CHANGE]
    left_out = frozenset(stage.last.metadata.left_out)
    return Standing(stage.last.place + 1, stage.start, log_offset, zxid, changes, left_out)


def _remove(logs: Path) -> None:
    shutil.rmtree(logs, ignore_errors=True)
    with suppress(OSError):  # those of other scenes are there
        logs.parent.rmdir()
