"""KIP-778: a snapshot is loaded over what a node holds, also one that was written after the level was changed."""

import pytest

from pytest_kmigrate import Kind, Pause, targets
from pytest_kmigrate.documents.kip_778.levels import lossless_down_to
from pytest_kmigrate.wire.features import SAFE_DOWNGRADE

TOPICS = [f"made-{number}" for number in range(60)]


@pytest.mark.since("3.7.0")  # before, no level lies below the highest one that loses nothing
@pytest.mark.topology("kraft-broker2-controller3-snapshots", brokers=2, controllers=3)
@pytest.mark.requirement("K778-MVC-hot-load")
def test_a_snapshot_replaces_what_a_broker_holds(
    workload,
    inject,
    created,
    deleted,
    tellers,
    set_level,
    top_level,
    levels,
    log_begins_with_a_snapshot,
    images_fetched,
    expect,
    claim,
    verify_clients,
):
    """A broker stands still while the level is lowered and topics are deleted, until a snapshot alone has that."""
    workload.await_committed(3)
    created(*TOPICS, partitions=1, replication=2)
    lowest, fetched = lossless_down_to(top_level()), images_fetched()
    with inject(Pause(targets.node("broker-1"))):
        claim("the answer to the lower level", set_level(lowest, SAFE_DOWNGRADE).first_error, "NONE")
        deleted(*TOPICS[:30])
        expect(
            "whether the log of controller 3000 begins with a snapshot",
            lambda: log_begins_with_a_snapshot("controller-3000"),
            equals=True,
            within_s=120,  # the log is cleaned once a minute
            kind=Kind.LIVENESS,
        )
    expect(
        "whether broker 1 fetched an image",
        lambda: images_fetched() > fetched,
        equals=True,
        within_s=60,
        kind=Kind.LIVENESS,
    )
    expect("the levels in force", lambda: set(levels().values()), equals={lowest}, within_s=60)
    expect(
        "the brokers that list a topic that was deleted, and one that stays",
        lambda: (tellers(TOPICS[0]), tellers(TOPICS[-1])),
        equals=([], [0, 1]),
        within_s=60,
    )
    workload.await_acked(200)
    verify_clients()
