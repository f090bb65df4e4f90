"""Expected ends: a test claims that nodes must end by themselves, and the run waits for that and records it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError, WrongUseError
from pytest_kmigrate.model.event import Recorder, is_a
from pytest_kmigrate.model.events.evidence import EndExpected
from pytest_kmigrate.model.events.nodes import NodeDied
from pytest_kmigrate.model.protocols import Cluster, Node
from pytest_kmigrate.waiting import NotYet, until


@contextmanager
def end_expected(
    cluster: Cluster,
    recorder: Recorder,
    *nodes: str,
    within_s: float = 60,
    naming: str = "",
    requirements: Sequence[str] = (),
) -> Iterator[None]:
    """Expect these nodes to end by an error while the block runs, or within ``within_s`` seconds of its beginning.

    A ClusterError out of the block is what such an end looks like to the test; it is raised on only
    if a node is still up. WrongUseError without nodes, and for one the cluster does not have.
    """
    if not nodes:
        raise WrongUseError('expect_end: expected names of nodes, got none: write expect_end("controller-3000")')
    expected = [cluster.node(name) for name in nodes]
    began_ns = recorder.now_ns()

    def all_ended() -> bool:
        return _end_within(expected, within_s - (recorder.now_ns() - began_ns) / 1e9)

    try:
        yield
        all_ended()
    except ClusterError:
        if not all_ended():
            raise
    finally:
        recorder.record(EndExpected(list(nodes), within_s, naming or None, began_ns, list(requirements) or None))


@contextmanager
def end_allowed(cluster: Cluster, recorder: Recorder, *nodes: str) -> Iterator[None]:
    """Let these nodes end while the block runs, or not become ready; nothing is judged by it.

    A ClusterError out of the block is what either looks like to the test. WrongUseError as of ``end_expected``.
    """
    if not nodes:
        raise WrongUseError('may_end: expected names of nodes, got none: write may_end("controller-3000")')
    allowed = [cluster.node(name).name for name in nodes]
    began_ns = recorder.now_ns()
    try:
        with suppress(ClusterError):
            yield
    finally:
        took_s = (recorder.now_ns() - began_ns) / 1e9
        recorder.record(EndExpected(allowed, took_s, None, began_ns, is_optional=True))


def _end_within(nodes: Sequence[Node], within_s: float) -> bool:
    """Whether all of them have ended by then; asked once more when the time is over."""
    try:
        return until(lambda: _ended(nodes), awaited="the end of nodes", within_s=within_s)
    except AwaitTimeoutError:
        return False


def _ended(nodes: Sequence[Node]) -> bool | NotYet:
    up = [node.name for node in nodes if node.alive]
    return not up or NotYet(f"{', '.join(up)} still up")


def refused(
    cluster: Cluster,
    recorder: Recorder,
    node: str,
    changes: Mapping[str, str | None],
    *,
    naming: str = "",
    within_s: float = 60,
    requirements: Sequence[str] = (),
) -> None:
    """Start a node that is down with these properties (None: unset) and expect it to end by an error.

    Whatever becomes of it, afterwards it is down again and its properties are what they were.
    """
    with (
        _trial(cluster, node, changes) as trial,
        end_expected(cluster, recorder, node, within_s=within_s, naming=naming, requirements=requirements),
    ):
        trial.start()


def started(
    cluster: Cluster, recorder: Recorder, node: str, changes: Mapping[str, str | None], *, for_s: float = 0
) -> str:
    """Start a node that is down with these properties (None: unset): ``ready``, or the error by which it ended.

    It must be ready, and up for ``for_s`` seconds more. Whatever becomes of it, afterwards it is down again, and its
    properties are what they were.
    """
    with _trial(cluster, node, changes) as trial, end_allowed(cluster, recorder, node):
        try:
            trial.start()
        except ClusterError as error:
            return str(error)
        if _end_within([trial], for_s):
            deaths = [each for each in list(recorder.events) if is_a(each, NodeDied) and each.node == node]
            return f"{node} was ready and died: {deaths[-1].what.said}"
    return "ready"


@contextmanager
def _trial(cluster: Cluster, node: str, changes: Mapping[str, str | None]) -> Iterator[Node]:
    """A node that is down with other properties; down again at the end of the block, with its own ones."""
    trial = cluster.node(node)
    if trial.alive:
        raise WrongUseError(f"{node}: expected a node that is down to be started on trial, got one that runs")
    before = {key: trial.properties.get(key) for key in changes}
    trial.reconfigure(changes)
    try:
        yield trial
    finally:
        if trial.alive:
            trial.stop()
        trial.reconfigure(before)
