"""KIP-778: nodes of an older release, which a level must not be raised above, or which it ends."""

import pytest

from pytest_kmigrate import Kind, moves
from pytest_kmigrate.documents.kip_778.levels import (
    AN_OLD_CONTROLLER_RUNS,
    ANSWER_TO_A_LEVEL,
    RECORDED_LEVELS,
    level_changes,
)

pytestmark = pytest.mark.since("3.7.0")  # of the level that 3.6.2, which the others run, does not know
REFUSED = "INVALID_UPDATE_VERSION"
UNSUPPORTED, REJECTED = "UNSUPPORTED_VERSION", "K778-CMP-broker-rejected"
OF_3_7 = 15


@pytest.mark.topology("kraft-broker2-controller1-behind", brokers=2, controllers=1)
@pytest.mark.requirement("K778-UPG-validate-brokers", "K778-CMP-broker-rejected", "K778-FLAG-no-assume-highest")
def test_a_broker_is_left_behind(
    workload,
    cluster,
    tool,
    supported,
    set_level,
    levels,
    registered_with,
    registrations_asked_for,
    broker_registrations,
    started_up,
    takes_connections,
    brokers_known,
    may_end,
    expect,
    expect_to_stay,
    claim,
    verify,
):
    """No level above what it knows, until it is unregistered; afterwards it stays fenced, and no other is touched."""
    old, own = cluster.node("broker-1"), supported("broker-1")["broker-1"]
    workload.await_acked(500)
    answers = [set_level(OF_3_7).first_error]
    old.stop()
    answers.append(set_level(OF_3_7).first_error)
    tool("broker-0", "kafka-cluster", "unregister", "--bootstrap-server", "{bootstrap}", "--id", "1")
    answers.append(set_level(OF_3_7).first_error)
    claim(
        "the answers while the old broker runs, while it is registered and down, and after it was unregistered",
        *(answers, [REFUSED, REFUSED, "NONE"], "K778-UPG-validate-brokers"),
    )
    claim("the answer to a registration with its levels", registered_with(1, own), UNSUPPORTED, REJECTED)
    asked, registered = registrations_asked_for(), broker_registrations(1)
    with may_end("broker-1"):
        started_up("broker-1")
        it_stays_fenced(expect_to_stay, old, lambda: takes_connections("broker-1"))
        claim("whether broker 1 requested to be registered", *(registrations_asked_for() > asked, True, REJECTED))
    claim("registrations of broker 1 that were recorded", broker_registrations(1) - registered, 0, REJECTED)
    expect("the brokers that clients are given", lambda: brokers_known("broker-0"), equals=[0], requirements=[REJECTED])
    expect(
        "the levels in force",
        lambda: set(levels().values()),
        equals={OF_3_7},
        requirements=["K778-FLAG-no-assume-highest"],
    )
    verify()


def it_stays_fenced(expect_to_stay, broker, takes_connections):
    """No client is served, and the process goes on, so that the broker is a member as soon as the level fits."""
    expect_to_stay(
        "whether broker 1 takes connections of clients",
        takes_connections,
        equals=False,
        for_s=3,
        requirements=[REJECTED],
    )
    expect_to_stay(
        "whether broker 1 runs, fenced", lambda: broker.alive, equals=True, for_s=30, requirements=[REJECTED]
    )


@pytest.mark.topology("kraft-broker2-controller1-behind", brokers=2, controllers=1)
@pytest.mark.requirement("K778-CMP-broker-terminates")
def test_a_running_broker_meets_a_level_that_it_does_not_know(cluster, tool, set_level, expect, verify):
    """It was unregistered while it runs, so that the level could be raised: it has to end."""
    old = cluster.node("broker-1")
    tool("broker-0", "kafka-cluster", "unregister", "--bootstrap-server", "{bootstrap}", "--id", "1")
    expect(ANSWER_TO_A_LEVEL, lambda: set_level(OF_3_7).first_error, equals="NONE", within_s=0)
    expect("whether broker 1 runs", lambda: old.alive, equals=False, within_s=20, kind=Kind.LIVENESS)
    old.kill()
    verify()


@pytest.mark.topology("kraft-broker1-controller3-behind", brokers=1, controllers=3)
@pytest.mark.requirement(
    "K778-CMP-old-controller-joins", "K778-CMP-old-controller-terminates", "K778-UPG-quorum-majority"
)
def test_an_old_controller_joins_and_ends_at_the_new_level(
    cluster, upgrade, behind, set_level, levels, expect, expect_end, verify
):
    """It follows at the old level; the level is raised while it is down, and when it is back it has to end."""
    upgrade.make("roll-one", moves.Roll("controller-3001", kafka=cluster.topology.kafka))
    old = cluster.node("controller-3002")
    expect(
        "controllers that have not read what the leader committed",
        behind,
        equals=[],
        requirements=["K778-CMP-old-controller-joins"],
    )
    old.stop()
    expect(
        "the answer to the level while one old controller is down",
        lambda: set_level(OF_3_7).first_error,
        equals="NONE",
        within_s=0,
        kind=Kind.LIVENESS,
        requirements=["K778-UPG-quorum-majority"],
    )
    with expect_end("controller-3002", within_s=60, requirements=["K778-CMP-old-controller-terminates"]):
        old.start()
    expect(
        "the levels in force without it",
        lambda: set(levels().values()),
        equals={OF_3_7},
        requirements=["K778-CMP-old-controller-terminates"],
    )
    verify()


@pytest.mark.known_bug("kmigrate-15")
@pytest.mark.topology("kraft-broker1-controller3-behind", brokers=1, controllers=3)
@pytest.mark.requirement("K778-UPG-quorum-majority")
def test_a_level_that_most_controllers_do_not_know_is_refused(
    cluster, let_lead, set_level, log_of, expect, expect_to_stay, verify
):
    """Two of three are of an old release; accepting the level would end both, and the quorum."""
    began = level_changes(log_of("broker-0"))
    let_lead("controller-3000")
    expect(ANSWER_TO_A_LEVEL, lambda: set_level(OF_3_7).first_error, equals=REFUSED, within_s=0)
    expect(RECORDED_LEVELS, lambda: level_changes(log_of("broker-0")), equals=began, within_s=0)
    expect_to_stay(
        AN_OLD_CONTROLLER_RUNS,
        lambda: any(cluster.node(each).alive for each in ("controller-3001", "controller-3002")),
        equals=True,
        for_s=8,
    )
    verify()
