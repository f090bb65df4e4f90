"""The metadata of one run: fill it before the migration, change it meanwhile, take images and let them settle."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Self

from pytest_kmigrate.checkers.metadata.differences import differences
from pytest_kmigrate.model.capabilities import SIDES, require
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.evidence import ImagesSettled
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.model.protocols import Cluster, View
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.probes.zookeeper import ZookeeperClient
from pytest_kmigrate.procedures.joining import joined
from pytest_kmigrate.recording.recorder import RunRecorder
from pytest_kmigrate.running.images import LOG, ZOOKEEPER, ImageSource, Taken, settled
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until
from pytest_kmigrate.workloads.metadata.filling import FAMILIES, Filling, FillingPlan, fill, renew_tokens, take_back
from pytest_kmigrate.workloads.metadata.metadata_change import FIRST_ROUND, MetadataChange, Scope
from pytest_kmigrate.workloads.metadata.metadata_invocation import MetadataAdmin
from pytest_kmigrate.workloads.metadata.metadata_workload import MetadataWorkload, RunningMetadata, run_metadata
from pytest_kmigrate.workloads.metadata.reassigning import HeldReassignment

SETTLED_WITHIN_S = 30
_OTHER_VALUES = 1 << 32
"""Away from every seed that a person gives."""


class Metadata:
    """What a test does with metadata; leaving the block ends the metadata workload."""

    def __init__(
        self,
        cluster: Cluster,
        view: View,
        zookeeper: ZookeeperClient | None,
        recorder: RunRecorder,
        seed: int,
        order: str,
        *,
        place: int = 1,
    ) -> None:
        """``order``: with the seed, decides in which order a workload changes families.

        ``place``: which of the runs on this cluster it is of; each changes metadata under names of its own.
        """
        self._cluster = cluster
        self._recorder = recorder
        self._seed = seed
        self._order = order
        self._sources = ImageSource(cluster, view, zookeeper)
        self._running: RunningMetadata | None = None
        self._begun = 0
        self._names = "changing" if place == 1 else f"changing-run{place}"
        self._changed = tuple(FIRST_ROUND)
        """Families that a workload changes."""
        self.left_out: set[str] = set()
        """Families that the cluster has no room for, or its document cannot take along."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def leave_out(self, unfilled: Collection[str]) -> None:
        """Change none of these families, which the document cannot take along; fill those only that a test names."""
        self.left_out |= set(unfilled)
        self._changed = tuple(family for family in self._changed if family not in unfilled)

    def fill(self, families: Sequence[str] | None = None, *, again: bool = False) -> None:
        """Put every family of metadata (or those named) into the cluster; each change is recorded.

        ``again``: with other values than those of a former filling, so that what is lost shows.
        ClusterError when a change is refused: a cluster that is not full proves nothing later.
        """
        filling = fill(self._admin, self._recorder, self._plan(families, again=again))
        _accepted(filling, "filling")
        self.left_out |= filling.left_out.keys()

    def take_back(self, families: Sequence[str]) -> None:
        """Undo what ``fill`` did of these families; each change is recorded. ClusterError when one is refused."""
        filled = [family for family in families if family not in self.left_out]
        _accepted(take_back(self._admin, self._recorder, self._plan(filled)), "taking back")

    def make(self, *changes: MetadataChange, may_be_refused: bool = False) -> None:
        """Make some changes, one after the other; each is recorded.

        ClusterError when one is refused that may not be. One that is not answered, as its controller died, may have
        been carried out.
        """
        for change in changes:
            completion = self._admin.record(change, self._recorder)
            if completion.outcome is OperationOutcome.FAILED and not may_be_refused:
                raise ClusterError(f"{change.change} {change.subject}: expected to be accepted, got {completion.error}")

    def renew_tokens(self) -> None:
        """Renew the delegation tokens that ``fill`` made for ourselves; each is recorded. ClusterError when refused."""
        _accepted(renew_tokens(self._admin, self._recorder, self._plan(["delegation-tokens"])), "renewing")

    @cached_property
    def _admin(self) -> MetadataAdmin:
        """Fills, and knows what to take back; NotApplicableError if the provider allows no changes."""
        require(self._cluster.capabilities, FillingPlan.needs, "filling with metadata", self._recorder)
        return MetadataAdmin(self._cluster.client_connection(), within_s=30)

    def _plan(self, families: Sequence[str] | None, *, again: bool = False) -> FillingPlan:
        brokers, seed = self._brokers(), self._seed + _OTHER_VALUES * again
        wanted = families or [family for family in FAMILIES if family not in self.left_out]
        return FillingPlan(seed, brokers, min(3, len(brokers)), tuple(wanted))

    def _brokers(self) -> tuple[int, ...]:
        return tuple(node.spec.node_id for node in joined(self._cluster, Role.BROKER))

    def fill_with_reassignment(self) -> HeldReassignment:
        """Fill with every family, and have a partition on its way to another broker, until ``let_go`` of the result."""
        self.fill()
        peers = {node.spec.node_id: self._cluster.peer(node.name) for node in joined(self._cluster, Role.BROKER)}
        connection = self._cluster.client_connection()
        moving = HeldReassignment(connection, peers, self._recorder, "filled-moving", self._seed)
        moving.begin()
        return moving

    def change(self, per_s: float = 1.0) -> None:
        """Begin to change metadata of every family, again and again, until ``stop`` or ``verify``.

        A family that the document cannot take along is left out. A first round comes at once, whatever ``per_s`` is.
        Each time under names of its own, so that nothing of the last time can pass for new, and in an order of its own,
        as in every test.
        """
        self._begun += 1
        brokers = self._brokers()
        scope = Scope(f"{self._names}-{self._begun}", brokers, min(3, len(brokers)), self._changed)
        workload = MetadataWorkload(per_s=per_s, seed=f"{self._seed} {self._order} {self._begun}", scope=scope)
        require(self._cluster.capabilities, workload.needs, "a metadata workload", self._recorder)
        self._running = run_metadata(workload, self._cluster.client_connection(), self._recorder)
        self._running.start()

    @contextmanager
    def changing(
        self,
        settled_as: str,
        per_s: float = 1.0,
        sides: Sequence[str] = (LOG, ZOOKEEPER),
        within_s: float = SETTLED_WITHIN_S,
    ) -> Iterator[None]:
        """Metadata of every family changes while the block runs; then ``sides`` settle, as images with this label.

        Changes of every family were acknowledged before the block begins, and some are again after it: what is in it
        meets them both.
        """
        before = self._recorder.now_ns()
        self.change(per_s)
        self._await_first_round(before)
        yield
        self.await_acknowledged()
        self.stop()
        self.settle(settled_as, sides, within_s)

    def await_acknowledged(self, more: int = 2, within_s: float = PATIENCE_S) -> None:
        """Return when so many more changes than now were acknowledged: what follows meets changes already made."""
        before = len(self._changes())

        def enough() -> bool | NotYet:
            ended = Counter(f"{data['outcome']} {data['error']}".strip() for data in self._changes()[before:])
            return ended["ok"] >= more or NotYet(", ".join(f"{count} {how}" for how, count in ended.items()) or "none")

        until(
            enough, awaited=f"{more} more acknowledged metadata changes", within_s=within_s, abort=self._still_changes
        )

    def _still_changes(self) -> None:
        if self._running is not None:
            self._running.raise_trouble()

    def _await_first_round(self, since_ns: int, within_s: float = PATIENCE_S) -> None:
        """Return when every change that a stream begins with was acknowledged; one that Kafka refuses never will be."""

        def all_answered() -> bool | NotYet:
            events = [event for event in self._recorder.events if event.at_ns >= since_ns]
            changes = [event.data for event in events if event.kind is EventKind.METADATA_CHANGE]
            answered = {data["change"] for data in changes if data["outcome"] != "indefinite"}
            lacking = {change for family in self._changed for change in FIRST_ROUND[family]} - answered
            return NotYet(f"none of {', '.join(sorted(lacking))}") if lacking else True

        awaited = "an acknowledged metadata change of every kind"
        until(all_answered, awaited=awaited, within_s=within_s, abort=self._still_changes)

    def _changes(self) -> list[Mapping[str, Any]]:
        return [event.data for event in self._recorder.events if event.kind is EventKind.METADATA_CHANGE]

    def stop(self, within_s: float | None = None) -> None:
        """Stop changing metadata; nothing when that was never begun.

        The change under way may end; ``within_s``: not waited for longer.
        """
        if self._running is not None:
            running, self._running = self._running, None
            running.stop(within_s)

    def seen(self, side: str) -> MetadataImage:
        """One side's image now (log, zookeeper, brokers), to look at; nothing is recorded. ClusterError without it."""
        return self._takes([side])[side]()

    def visible(self, sides: Sequence[str]) -> list[str]:
        """Those of these sides that the provider shows, and that are there now."""
        shown = self._sources.sides().keys()
        return [side for side in sides if side in shown and SIDES[side] <= self._cluster.capabilities]

    def settle(self, label: str, sides: Sequence[str] = (LOG, ZOOKEEPER), within_s: float = SETTLED_WITHIN_S) -> None:
        """Take images of two or more sides until they agree or time is up; both as they then are go into the history.

        What was acknowledged may be written behind; how long that took is recorded, whether it suffices is for a
        check to say.
        """
        takes = {f"{label}-{side}": take for side, take in self._takes(sides).items()}
        images, took_s = settled(lambda: self._taken(takes), _differences_in, within_s)
        for name, (image, began_ns) in images.items():
            self._recorder.image(name, image, began_ns)
        self._recorder.record(ImagesSettled(label, list(images), round(took_s, 2)))

    def _takes(self, sides: Sequence[str]) -> dict[str, Callable[[], MetadataImage]]:
        """How these sides are looked at; ClusterError when one is not there, or not now.

        NotApplicableError if the provider does not show it.
        """
        needs = frozenset(need for side in sides for need in SIDES.get(side, ()))
        require(self._cluster.capabilities, needs, f"metadata of {' and '.join(sides)}", self._recorder)
        there = self._sources.sides()
        if not there.keys() >= set(sides):
            raise ClusterError(f"expected to see {', '.join(sides)}; now there is only {', '.join(sorted(there))}")
        return {side: there[side] for side in sides}

    def _taken(self, takes: dict[str, Callable[[], MetadataImage]]) -> Taken:
        taken: Taken = {}
        for name, take in takes.items():
            began_ns = self._recorder.now_ns()
            taken[name] = (take(), began_ns)
        return taken


def _accepted(filling: Filling, doing: str) -> None:
    if filling.failed:
        refused = "; ".join(filling.failed)
        raise ClusterError(f"expected every change of the {doing} to be accepted; refused: {refused}")


def _differences_in(taken: Taken) -> int:
    first, *others = (image for image, _ in taken.values())
    return sum(len(differences(first, other)) for other in others)
