"""Settings that a connector is not constructed with."""

import pytest

from pytest_kmigrate.documents.kip_125.kinds import ROOT, ROUND_ROBIN, WITH

pytestmark = pytest.mark.topology("zk1-broker1")

ENABLED, SERVERS = "coordination.migration.enabled", "coordination.migration.bootstrap.servers"
REFUSED_WITHIN_S = 30
REFUSED = (
    (ENABLED, "maybe", "K125-CFG-enabled-validation"),
    (SERVERS, "", "K125-CFG-bootstrap-only-required"),
    ("offsets.storage", "zookeeper", "K125-CFG-mezkcc-triple"),
    ("dual.commit.enabled", "false", "K125-CFG-mezkcc-triple"),
)


@pytest.mark.requirement("K125-CFG-enabled-validation", "K125-CFG-bootstrap-only-required", "K125-CFG-mezkcc-triple")
def test_wrong_settings_are_refused_by_their_key(group, zookeeper, expect, verify):
    """The connector ends with status 2, names the key, and has created nothing in ZooKeeper."""
    started = [(group.start(WITH, **{key.replace(".", "_"): value}), key, row) for key, value, row in REFUSED]
    for member, key, row in started:
        refusal = lambda member=member: group.refusal(member)  # noqa: E731
        expect(f"{key} is refused", refusal, equals=key, within_s=REFUSED_WITHIN_S, requirements=[row])
        expect(f"{key}: no znode", lambda: zookeeper.get(ROOT), equals=None, within_s=5, requirements=[row])

    verify()


@pytest.mark.requirement("K125-OWN-full-coverage")
def test_a_member_of_another_chroot_takes_no_partition(group, cluster, expect, verify_group):
    """It is refused by its key before Kafka assigns it anything, and the group goes on as it was."""
    elsewhere = f"{cluster.zookeeper_servers}/consumers"
    group.await_owned(group.join(WITH, 2, **ROUND_ROBIN))
    group.await_stable(2)
    group.toggle("kafka")
    group.flow(500)
    moves = group.moves()
    stray = group.start(WITH, zookeeper_connect=elsewhere, **ROUND_ROBIN)
    refusal = lambda: group.refusal(stray)  # noqa: E731
    expect(
        "what it refuses",
        refusal,
        equals="zookeeper.connect",
        within_s=REFUSED_WITHIN_S,
        requirements=["K125-OWN-full-coverage"],
    )
    group.flow(500)
    expect(
        "partitions that moved by it",
        lambda: group.moves() - moves,
        equals=0,
        within_s=0,
        requirements=["K125-OWN-full-coverage"],
    )

    verify_group()
