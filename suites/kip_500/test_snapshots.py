"""KIP-500: snapshots of the metadata log, from which nodes restart, and which they fetch when they are far behind."""

import pytest

from pytest_kmigrate import Kind, Pause, targets
from pytest_kmigrate.procedures.moves import Roll

TOPICS = [f"made-{number}" for number in range(60)]
LAST = "made-after-the-snapshot"
BOTH = [0, 1]
RESTART = "K500-SNP-restart-from"
CONTROLLERS = ("controller-3000", "controller-3001", "controller-3002")


@pytest.mark.topology("kraft-broker2-controller3-snapshots", brokers=2, controllers=3)
@pytest.mark.requirement(
    "K500-SNP-periodic",
    "K500-SNP-from-memory",
    "K500-SNP-restart-from",
    "K500-SNP-full-image-no-cache",
    "K500-SNP-full-image-far-behind",
    "K500-SNP-hot-load",
    "K500-SNP-delta-normal",
    "K500-LOG-restart-delta-only",
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
    snapshots_since,
    topics_in_log,
    topics_listed,
    topics_counted,
    snapshots_loaded,
    created_through,
    log_begins_with_a_snapshot,
    formatted_anew,
    images_fetched,
    expect,
    claim,
    verify_clients,
):
    """Topics are deleted while a broker stands still, every node is restarted, a controller loses its log."""
    workload.await_committed(3)
    fetched, writing = images_fetched(), snapshots_since()
    created(*TOPICS, partitions=1, replication=2)
    all_have_a_snapshot(expect, writing)
    they_follow_without_images(expect, tellers, lambda: images_fetched() - fetched)
    writing = snapshots_since()
    with inject(Pause(targets.node("broker-1"))):
        deleted(*TOPICS[:30])
        all_have_a_snapshot(expect, writing)
        they_are_gone_from_the_logs(expect, log_begins_with_a_snapshot, topics_in_log)
    it_is_given_an_image(expect, tellers, holders, lambda: images_fetched() > fetched)
    created(LAST, partitions=1, replication=2)
    in_memory = dict.fromkeys(CONTROLLERS, topics_listed())
    they_have_all_in_memory(expect, "before", topics_counted, in_memory)
    one_restarts_without_an_image(claim, quorum, images_fetched)
    quorum.make("restart-all", *(Roll(node.name) for node in cluster.nodes()))
    they_have_all_in_memory(expect, "after", topics_counted, in_memory)
    requests_find_all(claim, created_through, tellers, snapshots_loaded())
    fetched = images_fetched()
    formatted_anew("controller-3001")
    it_has_the_topics_again(expect, topics_in_log, lambda: images_fetched() > fetched)
    began = images_fetched()
    formatted_anew("broker-1")
    it_lists_the_topics_again(expect, tellers, holders, lambda: images_fetched() > began)
    workload.await_acked(200)
    verify_clients()


def they_follow_without_images(expect, tellers, fetched_since):
    """Brokers that are not behind are given changes alone, although there are snapshots."""
    expect(
        "the brokers that list the last topic, and images fetched while they followed",
        lambda: (tellers(TOPICS[-1]), fetched_since()),
        equals=(BOTH, 0),
        within_s=30,
        requirements=["K500-SNP-delta-normal"],
    )


def they_are_gone_from_the_logs(expect, log_begins_with_a_snapshot, topics_in_log):
    """Each log begins with a snapshot, which was made of what the controller has in memory."""
    expect(
        "controllers whose log does not begin with a snapshot, and the deleted topics in the logs",
        lambda: (
            [each for each in CONTROLLERS if not log_begins_with_a_snapshot(each)],
            set(TOPICS[:30]) & set().union(*map(topics_in_log, CONTROLLERS)),
        ),
        equals=([], set()),
        within_s=120,  # the log is cleaned once a minute
        requirements=["K500-SNP-from-memory"],
    )


def one_restarts_without_an_image(claim, quorum, images_fetched):
    """Logs of controllers begin with a snapshot, so that a broker without its own log would fetch one."""
    fetched = images_fetched()
    quorum.make("restart-one", Roll("broker-0"))
    claim("images fetched at the restart of broker 0", images_fetched() - fetched, 0, "K500-LOG-restart-delta-only")


def they_have_all_in_memory(expect, when, topics_counted, in_memory):
    """What a new process counts it has loaded; the files were there before."""
    expect(
        f"how many topics each controller has in memory {when} the restart",
        topics_counted,
        equals=in_memory,
        within_s=30,
        requirements=[RESTART],
    )


def requests_find_all(claim, created_through, tellers, loaded):
    """Nodes loaded snapshots; the leader refuses to create what there is, and brokers list it."""
    claim("nodes that loaded no snapshot", [name for name, count in loaded.items() if not count], [], RESTART)
    again = {created_through("broker-0", topic)[topic] for topic in (*TOPICS[30:], LAST)}
    claim("the answers to creations of topics that there are", again, {"TOPIC_ALREADY_EXISTS"}, RESTART)
    listing = [tellers(topic) for topic in (TOPICS[0], TOPICS[30], LAST)]
    claim("the brokers that list a deleted topic, one that stays, and the last one", listing, [[], BOTH, BOTH], RESTART)


def all_have_a_snapshot(expect, writing):
    """Each controller writes its own, again and again."""
    expect(
        "controllers that wrote no snapshot",
        writing,
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
        equals=(BOTH, BOTH),
        within_s=60,
        requirements=["K500-SNP-hot-load"],
    )


def it_has_the_topics_again(expect, topics_in_log, was_fetched):
    """Controller 3001 fetches what it lost."""
    expect(
        "whether an image was fetched for controller 3001",
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


def it_lists_the_topics_again(expect, tellers, holders, was_fetched):
    """Broker 1 comes back with an empty disk."""
    expect(
        "whether an image was fetched for broker 1",
        was_fetched,
        equals=True,
        within_s=60,
        kind=Kind.LIVENESS,
        requirements=["K500-SNP-full-image-no-cache"],
    )
    expect(
        "the brokers that list, and those that hold, topics that broker 1 had lost",
        lambda: [(tellers(topic), holders(topic)) for topic in (TOPICS[30], LAST)],
        equals=[(BOTH, BOTH)] * 2,
        within_s=60,
        kind=Kind.LIVENESS,
        requirements=["K500-SNP-full-image-no-cache"],
    )
