"""Metadata images of a live cluster at one named moment: metadata log, ZooKeeper, brokers."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from pytest_kmigrate.checkers.metadata.differences import untold_configs
from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.protocols import Cluster, View
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.probes.broker_images import image_of_brokers
from pytest_kmigrate.probes.metadata_replay import image_from_records
from pytest_kmigrate.probes.znodes import image_from_znodes
from pytest_kmigrate.probes.zookeeper import ZookeeperClient
from pytest_kmigrate.redaction import redacted
from pytest_kmigrate.waiting import NotYet, until

Taken = dict[str, tuple[MetadataImage, int]]
"""Images by label, each with the time its taking began (nanoseconds since the run began)."""

LOG, ZOOKEEPER, BROKERS = "log", "zookeeper", "brokers"


class ImageSource:
    """Takes images of one cluster."""

    def __init__(self, cluster: Cluster, view: View, zookeeper: ZookeeperClient | None) -> None:
        self._cluster = cluster
        self._view = view
        self._zookeeper = zookeeper

    def of_log(self) -> MetadataImage:
        """The metadata log of the quorum's leader, decoded by Kafka's own tool."""
        leader = self._view.quorum_leader()
        if leader is None:
            raise ClusterError("expected a quorum leader to read the metadata log of; there is none now")
        records = self._cluster.metadata_log(leader)
        return replace(image_from_records(records), read_from=records)

    def of_zookeeper(self) -> MetadataImage:
        """The whole ZooKeeper tree."""
        if self._zookeeper is None:
            raise ClusterError("expected a cluster with ZooKeeper; this topology has none")
        tree = self._zookeeper.snapshot()
        return replace(image_from_znodes(tree), read_from=[_shown(path, data) for path, data in tree.items()])

    def of_brokers(self) -> MetadataImage:
        """What every live broker answers."""
        return image_of_brokers(self._cluster)

    def sides(self) -> dict[str, Callable[[], MetadataImage]]:
        """The sides that can be asked now."""
        sides: dict[str, Callable[[], MetadataImage]] = {BROKERS: self.of_brokers}
        if self._zookeeper is not None:
            sides[ZOOKEEPER] = self.of_zookeeper
        if any(node.alive for node in self._cluster.nodes(Role.CONTROLLER)):
            sides[LOG] = self.of_log
        return sides


def _shown(path: str, data: bytes | None) -> dict[str, object]:
    return {"path": path, "data": None if data is None else redacted(data.decode("utf-8", "replace"))}


def settled(take: Callable[[], Taken], differences: Callable[[Taken], int], within_s: float) -> tuple[Taken, float]:
    """Images taken again until they agree or time is up, and the seconds it took: writing behind takes its time.

    AwaitTimeoutError when a side could not be seen in the end: what it was before says nothing of the others now.
    """
    began = time.monotonic()
    images: Taken = {}

    def agree() -> bool | NotYet:
        nonlocal images
        images = {}
        try:
            images = take()
        except ClusterError as error:  # no node answers, during an election for example
            return NotYet(error)
        lacking = {each for image, _ in images.values() for each in _lacking(image, images)}
        if lacking:
            return NotYet(f"no {'; no '.join(sorted(lacking))}")
        found = differences(images)
        return found == 0 or NotYet(f"{found} differences")

    try:
        until(agree, awaited="equal metadata on every side", within_s=within_s, every_s=0.2)
    except AwaitTimeoutError:
        if not images:
            raise
        # The images as they are go into the history; the checker says what differs.
    return images, time.monotonic() - began


def _lacking(image: MetadataImage, taken: Taken) -> Iterator[str]:
    """What brokers did not report."""
    yield from (f"configs of {each}" for other, _ in taken.values() for each in untold_configs(image, other))
    for family, brokers in image.of_brokers.get("unanswered", {}).items():
        yield f"{family} of {', '.join(brokers)}"
