"""KIP-500: snapshots of the metadata log, from which nodes restart, and which they fetch when they are far behind."""

import pytest

from pytest_kmigrate import Kind, Pause, targets
from pytest_kmigrate.procedures.moves import Roll

TOPICS = [f"made-{number}" for number in range(60)]
FIRST = "controller-3000"
CONTROLLERS = ("controller-3000", "controller-3001", "controller-3002")


@pytest.mark.topology("kraft-broker2-controller3-snapshots")
@pytest.mark.requirement(
    "K500-SNP-periodic",
    "K500-SNP-from-memory",
    "K500-SNP-restart-from",
    "K500-SNP-full-image-no-cache",
    "K500-SNP-full-image-far-behind",
    "K500-SNP-hot-load",
)
def test_nodes_restart_from_snapshots_and_fetch_them(
    workload,
    cluster,
    quorum,
    inject,
    created,
    deleted,
    tellers,
    holders,
    snapshots_of,
    topics_in_log,
    log_begins_with_a_snapshot,
    formatted_anew,
    images_fetched,
    expect,
    verify_clients,
):
    """Topics are deleted while a broker stands still, every node is restarted, a controller loses its log."""
    workload.await_committed(3)
    created(*TOPICS, partitions=1, replication=2)
    fetched = images_fetched()
    with inject(Pause(targets.node("broker-1"))):
        deleted(*TOPICS[:30])
        all_have_a_snapshot(expect, snapshots_of)
        expect(
            "whether the log of controller 3000 begins with a snapshot, and the deleted topics in it",
            lambda: (log_begins_with_a_snapshot(FIRST), set(TOPICS[:30]) & topics_in_log(FIRST)),
            equals=(True, set()),
            within_s=120,  # the log is cleaned once a minute
            requirements=["K500-SNP-from-memory"],
        )
    it_is_given_an_image(expect, tellers, holders, lambda: images_fetched() > fetched)
    quorum.make("restart-all", *(Roll(node.name) for node in cluster.nodes()))
    expect(
        "topics that controllers lack after their restart",
        lambda: [each for each in CONTROLLERS if not topics_in_log(each) >= set(TOPICS[30:])],
        equals=[],
        within_s=30,
        requirements=["K500-SNP-restart-from"],
    )
    fetched = images_fetched()
    formatted_anew("controller-3001")
    it_has_the_topics_again(expect, topics_in_log, lambda: images_fetched() > fetched)
    workload.await_acked(200)
    verify_clients()


def all_have_a_snapshot(expect, snapshots_of):
    """Each controller writes its own."""
    expect(
        "controllers without a snapshot",
        lambda: [each for each in CONTROLLERS if not snapshots_of(each)],
        equals=[],
        within_s=30,
        kind=Kind.LIVENESS,
        requirements=["K500-SNP-periodic"],
    )


def it_is_given_an_image(expect, tellers, holders, was_fetched):
    """Broker 1 was away for too long; what it had loaded is replaced by an image, and what stays is left alone."""
    expect(
        "whether broker 1 fetched an image",
        was_fetched,
        equals=True,
        within_s=60,
        kind=Kind.LIVENESS,
        requirements=["K500-SNP-full-image-far-behind"],
    )
    expect(
        "brokers that still list, or hold, a topic that was deleted",
        lambda: [each for topic in TOPICS[:30:10] for each in (*tellers(topic), *holders(topic))],
        equals=[],
        within_s=60,
        requirements=["K500-SNP-hot-load"],
    )
    expect(
        "the brokers that list a topic that stays, and those that hold it",
        lambda: (tellers(TOPICS[30]), holders(TOPICS[30])),
        equals=([0, 1], [0, 1]),
        within_s=60,
        requirements=["K500-SNP-hot-load"],
    )


def it_has_the_topics_again(expect, topics_in_log, was_fetched):
    """Controller 3001 fetches what it lost."""
    expect(
        "whether an image was fetched",
        was_fetched,
        equals=True,
        within_s=60,  # it follows before it has replayed anything
        kind=Kind.LIVENESS,
        requirements=["K500-SNP-full-image-no-cache"],
    )
    expect(
        "topics that controller 3001 lacks after it lost its log",
        lambda: sorted(set(TOPICS[30:]) - topics_in_log("controller-3001")),
        equals=[],
        within_s=60,
        kind=Kind.LIVENESS,
        requirements=["K500-SNP-full-image-no-cache"],
    )
