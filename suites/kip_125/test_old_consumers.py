"""The real consumer of Kafka 1.1.1 in the group: undisturbed by what is new, and what it must not be mixed with."""

import pytest

from pytest_kmigrate import checks
from pytest_kmigrate.documents.kip_125.kinds import MIGRATING, NAME, NEW, OLD, WITH, WITHOUT
from pytest_kmigrate.documents.kip_125.operating import Operator
from pytest_kmigrate.documents.kip_125.tree import shape
from pytest_kmigrate.model.document import Servers

pytestmark = pytest.mark.topology("zk1-broker1")

JOINED_S = 4.0
"""A claim that an old consumer misses costs it ``rebalance.backoff.ms``, 2 s, and a new rebalance."""
READ_S = 10.0
"""A JVM that has just started is slow with what was sent before."""


@pytest.mark.requirement("K125-KIND-ozkcc-real", "K125-ZN-old-clients-tolerate")
def test_real_old_consumers_are_full_members(group, zookeeper, expect, verify_group):
    """What is new in the tree moves nothing of theirs; beside a member with migration each owns its share."""
    old = group.join(OLD, 2)
    group.await_owned(old)
    group.flow(1000)
    moves = group.moves()
    zookeeper.set(f"{MIGRATING}/somebody", None)
    group.write_mode("zookeeper")
    group.flow(1500)
    row = ["K125-ZN-old-clients-tolerate"]
    expect("partitions that moved by it", lambda: group.moves() - moves, equals=0, requirements=row)
    zookeeper.delete(f"{MIGRATING}/somebody")
    (new,) = group.join(WITH)
    group.await_owned([*old, new])
    row = ["K125-KIND-ozkcc-real"]
    shares = lambda: [group.share(each) for each in (*old, new)]  # noqa: E731
    expect("shares of the three", shares, equals=[4, 4, 4], within_s=10, requirements=row)
    group.flow(1000)
    old[0].stop()
    group.await_owned([old[1], new])
    group.flow(1000)

    verify_group(owned_within_s=JOINED_S, read_within_s=READ_S)


@pytest.mark.requirement("K125-CMP-mix-old-mig", "K125-OWN-even-canary-mezkcc")
@pytest.mark.parametrize(
    "kinds",
    [
        (OLD, WITHOUT, WITH),
        pytest.param((WITH, OLD, WITHOUT), marks=pytest.mark.nightly),
        pytest.param((WITHOUT, WITH, OLD), marks=pytest.mark.nightly),
    ],
    ids="-".join,
)
def test_three_kinds_share_a_group(kinds, group, expect, verify_group):
    """A consumer of an older build, one without and one with migration own and read equally many partitions."""
    members = [member for kind in kinds for member in group.join(kind)]
    group.await_owned(members)
    row = ["K125-CMP-mix-old-mig"]
    shares = lambda: [group.share(each) for each in members]  # noqa: E731
    expect("shares of the three", shares, equals=[4, 4, 4], within_s=10, requirements=row)
    group.flow(1500)

    verify_group(checks.owners_are_even(), owned_within_s=JOINED_S, read_within_s=READ_S)


@pytest.mark.requirement("K125-CTRL-naive-mix")
def test_a_group_that_was_not_migrated_reads_twice(group, verify):
    """A real old consumer and a plain KafkaConsumer in one group: a control, in which the overlap must be seen."""
    group.await_owned(group.join(OLD))
    group.flow(500)
    (plain,) = group.join(NEW)
    group.await_owned([plain])
    group.flow(1500)

    verify()


@pytest.mark.requirement("K125-CMP-unsupported-mix")
def test_a_toggle_beside_plain_consumers_is_reported(group, expect, verify):
    """The document has no rule against it: partitions are read twice, and members warn of it."""
    group.await_owned(group.join(WITH, 2))
    group.await_stable(2)
    group.toggle("kafka")
    (plain,) = group.join(NEW)
    group.await_owned([plain])
    group.flow(500)
    before = sorted(group.warnings())
    group.write_mode("zookeeper")
    group.await_mode("zookeeper")
    expect(
        "members warn of the mix since",
        lambda: "unsupported-mix" in group.warnings() - set(before),
        equals=True,
        within_s=15,
        requirements=["K125-CMP-unsupported-mix"],
    )
    group.flow(1000)

    verify()


@pytest.mark.requirement("K125-CMP-default-unchanged")
def test_a_consumer_without_migration_leaves_what_an_old_one_left(group, zookeeper, expect, verify):
    """The same tree in ZooKeeper as the real consumer of Kafka 1.1.1, and no gauge of the migration."""
    row = ["K125-CMP-default-unchanged"]
    (old,) = group.join(OLD)
    group.await_owned([old])
    group.flow(1500)
    left = shape(zookeeper, old.consumer_id)
    old.stop()
    (new,) = group.join(WITHOUT)
    group.await_owned([new])
    group.flow(1500)
    expect("the tree", lambda: shape(zookeeper, new.consumer_id), equals=left, within_s=10, requirements=row)
    expect("its gauges", group.gauge_names, equals={"OwnedPartitionsCount"}, requirements=row)

    verify()


@pytest.mark.requirement("K125-OFF-precondition-old")
def test_old_members_that_commit_to_kafka_are_flagged(group, cluster, expect, verify):
    """A group whose members do not commit to ZooKeeper only is not ready for its first member with migration."""
    row = ["K125-OFF-precondition-old"]
    warned = lambda: ["offsets.storage" in each for each in _findings(cluster)]  # noqa: E731
    (old,) = group.join(OLD)
    group.await_owned([old])
    group.flow(1000)
    expect("findings about a group that is ready", warned, equals=[], requirements=row)
    old.stop()
    group.await_owned(group.join(OLD, offsets_storage="kafka", dual_commit_enabled="false"))
    group.flow(1000)
    expect("findings about one that commits to Kafka", warned, equals=[True], within_s=15, requirements=row)

    verify()


def _findings(cluster):
    servers = Servers(cluster.zookeeper_servers, cluster.bootstrap_servers())
    return Operator().status(NAME, servers).findings
