"""How to look behind a provider that starts each node itself."""

import http.client
import json
from typing import cast

import psutil

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.protocols import Cluster, Node
from pytest_kmigrate.providers.bench import Bench
from pytest_kmigrate.providers.owned.cluster import OwnedCluster
from pytest_kmigrate.providers.owned.node import OwnedNode


class OwnedBench(Bench):
    """Looks at processes, disks and proxies from outside; what is left is for each provider to say."""

    def life_of(self, node: Node) -> int | None:
        """Its process id."""
        return cast("OwnedNode", node).pid

    def exists(self, node: Node, life: object) -> bool:
        """As the kernel says."""
        return psutil.pid_exists(cast("int", life))

    def stands_still(self, node: Node) -> bool:
        """As the kernel says."""
        return psutil.Process(self.life_of(node)).status() == psutil.STATUS_STOPPED

    def leave_a_mark(self, node: Node) -> None:
        """A file on the disk."""
        (cast("OwnedNode", node).disk / "mark").touch()

    def is_marked(self, node: Node) -> bool:
        """Whether the file is there."""
        return (cast("OwnedNode", node).disk / "mark").exists()

    def processes_left(self, cluster: OwnedCluster) -> list[str]:
        """The supervisor, and every process that its nodes ever were, if it is there still."""
        own = {node.name for node in cluster.nodes()}
        started = [event for event in self.recorder.of(EventKind.NODE_STARTED) if event.node in own]
        last = {node.pid for node in cluster.nodes()}
        pids = [cast("int", event.data["pid"]) for event in started if event.data["pid"] in last]
        return [f"process {pid}" for pid in [*pids, cluster.supervision.pid] if psutil.pid_exists(pid)]

    def disturbed(self, cluster: Cluster) -> int:
        """Proxies that Toxiproxy itself calls disabled or toxic."""
        connection = http.client.HTTPConnection(*cast("OwnedCluster", cluster).addresses.toxiproxy, timeout=10)
        connection.request("GET", "/proxies")
        proxies = json.load(connection.getresponse())
        connection.close()
        return sum(bool(proxy["toxics"]) or not proxy["enabled"] for proxy in proxies.values())
