"""The logs of ZooKeeper and of the quorum, as they are when a run ends."""

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.evidence import HarnessTrouble, RaftLogRead
from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.probes.zookeeper import ZookeeperClient
from pytest_kmigrate.recording.recorder import RunRecorder


def record_zookeeper_log(cluster: Cluster, zookeeper: ZookeeperClient, recorder: RunRecorder, after_zxid: int) -> None:
    """What others than the harness wrote to ZooKeeper after a transaction."""
    if Capability.ZOOKEEPER_LOG not in cluster.capabilities:
        return
    try:
        logged = cluster.zookeeper_log(after_zxid)
    except ClusterError as error:
        recorder.record(HarnessTrouble("reading ZooKeeper's log", str(error)))
    else:
        own = zookeeper.sessions_had
        recorder.transactions(each for each in logged if each.session not in own)


def record_raft_logs(cluster: Cluster, recorder: RunRecorder) -> None:
    """What each node has of the metadata log that ran beside a quorum.

    A broker that is in ZooKeeper mode may have none: an operator's command fails there, and that is no trouble.
    """
    if not cluster.nodes(Role.CONTROLLER) or Capability.METADATA_LOG not in cluster.capabilities:
        return
    ran = {event.node for event in recorder.events if event.kind is EventKind.NODE_STARTED}
    for node in cluster.nodes():
        if node.name not in ran or node.spec.role is Role.ZOOKEEPER:
            continue
        try:
            batches = cluster.metadata_batches(node.name)
        except ClusterError as error:
            if node.mode is not BrokerMode.ZOOKEEPER:
                recorder.record(HarnessTrouble(f"reading the metadata log of {node.name}", str(error)))
        else:
            announced = [record for each in batches for record in each.announced]
            recorder.record(RaftLogRead([each.as_row() for each in batches], announced), node.name)
