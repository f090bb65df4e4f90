"""KIP-778: clusters of a preview of KRaft, which has no metadata.version, on the way to a release and back."""

import pytest

from pytest_kmigrate import moves
from pytest_kmigrate.documents.kip_778.levels import level_changes

FIRST_LEVEL = 1


@pytest.mark.until("4.0.0")
@pytest.mark.topology("kraft-broker1-controller1-preview", brokers=1, controllers=1)
@pytest.mark.requirement("K778-INI-preview-upgrade", "K778-INI-level1-compat")
def test_a_preview_goes_to_a_release_and_back(
    workload, cluster, created, tellers, upgrade, levels, log_of, expect, claim, verify_clients
):
    """The release takes the log of the preview for the first level, and the preview reads what the release wrote."""
    new, old = cluster.topology.kafka, cluster.node("broker-0").spec.kafka
    workload.await_acked(200)
    created("by-the-preview", partitions=2, replication=1)
    upgrade.make("to-the-release", *(moves.Roll(node.name, kafka=new) for node in cluster.nodes()))
    expect("the levels in force", lambda: set(levels().values()), equals={FIRST_LEVEL}, requirements=[INITIALISED])
    claim("the levels that the log records", level_changes(log_of("broker-0")), [FIRST_LEVEL], INITIALISED)
    created("by-the-release", partitions=2, replication=1)
    workload.await_acked(200)
    upgrade.make("back", *(moves.Roll(node.name, kafka=old) for node in cluster.nodes()))
    workload.await_acked(200)
    listed = [tellers(topic) for topic in ("by-the-preview", "by-the-release")]
    claim("the brokers that list each topic on the preview again", listed, [[0], [0]], "K778-INI-level1-compat")
    verify_clients()


INITIALISED = "K778-INI-preview-upgrade"
