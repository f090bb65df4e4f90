"""KIP-778: a cluster is rolled to the next release under load, and the level is raised online."""

import pytest

from pytest_kmigrate import Kill, Kind, checks, moves, targets
from pytest_kmigrate.documents.kip_778.forwarded import beyond, differing, offered_otherwise
from pytest_kmigrate.documents.kip_778.levels import level_changes
from pytest_kmigrate.documents.kip_778.procedure import LOWER, UpgradePhase

CONTROLLERS = ("controller-3000", "controller-3001", "controller-3002")
BROKERS = ("broker-0", "broker-1", "broker-2")
NIGHTLY = pytest.mark.nightly
FROM_3_8 = pytest.mark.since("3.9.0")
"""Nodes of that topology begin with 3.8.1."""
FROM_3_3 = [pytest.mark.since("3.4.0"), pytest.mark.until("3.9.0")]
BEGUN_WITH = [
    pytest.param(
        "3.8.1", marks=[FROM_3_8, pytest.mark.topology("kraft-broker3-controller3-upgrade", brokers=3, controllers=3)]
    ),
    pytest.param(
        "3.3.2",
        marks=[*FROM_3_3, pytest.mark.topology("kraft-broker3-controller3-from-3.3.2", brokers=3, controllers=3)],
        id="3.3.2-to-former",
    ),
    pytest.param(
        "3.3.2", marks=[NIGHTLY, pytest.mark.topology("kraft-broker3-controller3-from-3.3.2", brokers=3, controllers=3)]
    ),
    pytest.param(
        "3.4.1", marks=[NIGHTLY, pytest.mark.topology("kraft-broker3-controller3-from-3.4.1", brokers=3, controllers=3)]
    ),
    pytest.param(
        "3.5.2", marks=[NIGHTLY, pytest.mark.topology("kraft-broker3-controller3-from-3.5.2", brokers=3, controllers=3)]
    ),
    pytest.param(
        "3.6.2", marks=[NIGHTLY, pytest.mark.topology("kraft-broker3-controller3-from-3.6.2", brokers=3, controllers=3)]
    ),
    pytest.param(
        "3.7.2", marks=[NIGHTLY, pytest.mark.topology("kraft-broker3-controller3-from-3.7.2", brokers=3, controllers=3)]
    ),
]
"""The release that every node begins with."""


@pytest.mark.parametrize("begun_with", BEGUN_WITH)
@pytest.mark.requirement(
    "K778-UPG-single-roll",
    "K778-UPG-mixed-software",
    "K778-FLAG-software-does-not-bump",
    "K778-APIV-supported-range",
)
def test_controllers_first(
    begun_with,
    workload,
    cluster,
    cluster_metadata,
    supported,
    levels,
    log_of,
    upgrade,
    expect,
    verify_clients,
):
    """Every node is rolled once, one by one, and then the level is raised; metadata change all the while."""
    began = level_changes(log_of("controller-3000"))
    old = supported("broker-0")["broker-0"]
    workload.await_committed(3)
    with cluster_metadata.changing("rolled", sides=("log", "brokers")):
        upgrade.advance_to(UpgradePhase.MIXED)
        expect(
            "the ranges of brokers that were not rolled",
            lambda: supported(*BROKERS),
            equals=dict.fromkeys(BROKERS, old),
            within_s=0,
            requirements=["K778-APIV-supported-range"],
        )
        upgrade.advance_to(UpgradePhase.ROLLED)
    workload.await_acked(500)
    expect_every_node_rolled(cluster, supported, begun_with, old, expect)
    expect(
        "the levels that the log records after the roll, and those in force",
        lambda: (level_changes(log_of("controller-3000")), set(levels().values())),
        equals=(began, {began[-1]}),
        within_s=0,
        requirements=["K778-FLAG-software-does-not-bump"],
    )

    upgrade.advance_to(UpgradePhase.RAISED)

    workload.await_acked(500)
    verify_clients(
        checks.metadata_equivalent("rolled-log", "rolled-brokers"),
        checks.acknowledged_metadata_changes_present("rolled-log"),
    )


def expect_every_node_rolled(cluster, supported, begun_with, old, expect):
    """No node runs the release that it began with, or supports no more than that one."""
    expect(
        "nodes that still run the release they began with",
        lambda: [node.name for node in cluster.nodes() if node.installed == begun_with],
        equals=[],
        within_s=0,
        requirements=["K778-UPG-single-roll"],
    )
    expect(
        "nodes that still support no more than the old release",
        lambda: [node for node, (_, highest) in supported(*CONTROLLERS, *BROKERS).items() if highest <= old[1]],
        equals=[],
        requirements=["K778-APIV-supported-range"],
    )


@FROM_3_8
@pytest.mark.topology("kraft-broker3-controller3-upgrade", brokers=3, controllers=3)
@pytest.mark.requirement("K778-UPG-mixed-software", "K778-APIV-forwarded-intersection")
def test_brokers_first_and_a_controller_dies(
    workload,
    cluster,
    cluster_metadata,
    features,
    leader,
    set_level,
    top_level,
    upgrade,
    inject,
    expect,
    claim,
    verify_clients,
):
    """Brokers are rolled before controllers, and the active controller is killed in between."""
    new = cluster.topology.kafka
    workload.await_committed(3)
    with cluster_metadata.changing("rolled", sides=("log", "brokers")):
        upgrade.make("brokers-first", *(moves.Roll(name, kafka=new) for name in BROKERS))
        rolled = offered(features)
        of_old = features(leader()).requests
        for name in BROKERS:  # a broker asks the controllers when it first forwards something
            set_level(top_level(), dry_run=True, at=name)
        expect(
            "what brokers offer that old controllers do not know",
            lambda: beyond(offered(features), of_old),
            equals=[],
            within_s=30,
            kind=None,  # judged below, when it is clear what a new broker knows by itself
        )
        mixed = offered(features)
        with inject(Kill(targets.active_controller())):
            upgrade.await_new_active_controller()
        upgrade.make("then-controllers", *(moves.Roll(name, kafka=new) for name in CONTROLLERS))
    workload.await_acked(500)
    own = features("broker-0").requests
    judge_forwarded(claim, "what new brokers offered beside old controllers", rolled, own, of_old)
    judge_forwarded(claim, "what new brokers that had forwarded offered beside old controllers", mixed, own, of_old)

    verify_clients(
        checks.metadata_equivalent("rolled-log", "rolled-brokers"),
        checks.acknowledged_metadata_changes_present("rolled-log"),
    )


def judge_forwarded(claim, name, offers, own, of_old):
    """A new broker beside an old controller offers of forwarded requests what both know."""
    claim(
        name,
        offered_otherwise(offers, own, of_old),
        [],
        "K778-APIV-forwarded-intersection",
        given=differing(own, of_old) != [],
    )


def offered(features):
    """By broker, the versions of each request that it takes."""
    return {name: features(name).requests for name in BROKERS}


@pytest.mark.known_bug("kmigrate-16")
@FROM_3_8
@pytest.mark.until("4.0.0")  # to go back from there would lose metadata, and is refused
@pytest.mark.topology("kraft-broker3-controller3-upgrade", brokers=3, controllers=3)
@pytest.mark.requirement("K778-DWN-software-after")
def test_software_goes_back_after_the_level(workload, cluster, upgrade, lower, verify):
    """The level is raised and lowered again without loss, and controllers are rolled back to the old release."""
    workload.await_acked(500)
    upgrade.advance_to(UpgradePhase.RAISED)
    upgrade.make(LOWER, lower())

    upgrade.make("roll-back", *(moves.Roll(node.name, kafka=node.spec.kafka) for node in cluster.nodes()))

    workload.await_acked(500)
    verify(checks.no_acked_record_lost())


@pytest.mark.since("3.5.0")  # of the levels that it raises
@pytest.mark.topology("kraft-broker1-controller3-low", brokers=1, controllers=3)
@pytest.mark.requirement("K778-RPC-forwarded")
def test_a_controller_dies_while_the_level_is_raised(set_level, levels, log_of, inject, expect, verify):
    """A broker takes the request as the active controller is gone, three times; each level is recorded once."""
    answers = []
    for level in (8, 9, 10):
        with inject(Kill(targets.quorum_leader())) as injection:
            injection.await_bitten()
            answers.append(set_level(level, at="broker-0", within_s=60).first_error)
    expect("the answers of broker 0", lambda: answers, equals=["NONE"] * 3, within_s=0, kind=Kind.LIVENESS)
    expect(
        "the levels that broker 0 recorded, and those in force",
        lambda: (level_changes(log_of("broker-0")), set(levels().values())),
        equals=([7, 8, 9, 10], {10}),
        within_s=10,
    )
    verify()
