"""KIP-778: a cluster in ZooKeeper mode neither has nor takes metadata.version."""

import json

import pytest

UPGRADE = ("--bootstrap-server", "{bootstrap}", "upgrade", "--feature", "metadata.version=14")


@pytest.mark.until("4.0.0")
@pytest.mark.topology("zk1-broker1-spares", brokers=3, controllers=1)
@pytest.mark.requirement("K778-FLAG-zk-ignored", "K778-ZK-feature-znode")
def test_zookeeper_mode_has_no_metadata_version(zookeeper, features, tool, expect, verify):
    """No level in the answers of a broker nor in ``/feature``, and none can be set."""
    expect(
        "the features that broker 0 supports and takes for finalized",
        lambda: (dict(features("broker-0").supported), dict(features("broker-0").finalized)),
        equals=({}, {}),
        requirements=["K778-FLAG-zk-ignored"],
    )
    expect(
        "the status of an upgrade, and what /feature holds then",
        lambda: (
            tool("broker-0", "kafka-features", *UPGRADE).status,
            json.loads(zookeeper.get("/feature"))["features"],
        ),
        equals=(1, {}),
        within_s=0,
        requirements=["K778-FLAG-zk-ignored"],
    )
    expect(
        "the version of /feature, and whether it has a minimum level",
        lambda: (json.loads(zookeeper.get("/feature"))["version"], b"min_version_level" in zookeeper.get("/feature")),
        equals=(2, False),
        requirements=["K778-ZK-feature-znode"],
    )
    verify()
