"""Facts about what goes wrong before the KRaft controllers take over."""

import json

import pytest

from pytest_kmigrate.documents.kip_866.checks.copying.takeover import takeover_waits_for_every_broker
from pytest_kmigrate.model.event import EventKind
from tests.unit.checkers.histories import event, history, phase, sample, znode
from tests.unit.documents.kip_866.checks.nodes import broker, migrating, with_flag
from tests.unit.documents.kip_866.diagnoses.naming import BROKERS, named, named_of_expectations, started, unmet


@pytest.mark.parametrize(
    ("registered", "active", "bugs"),
    [(3, 1, ("takeover-without-a-broker",)), (2, 1, ()), (None, 1, ()), (3, 0, ())],
    ids=["it had registered", "it had not", "not known", "by a standby"],
)
@pytest.mark.parametrize("claimed_ms", [11_000, 12_003], ids=["claim seen first", "phase seen first"])
def test_a_takeover_without_a_broker_that_had_registered_is_named(
    registered: float | None, active: int, bugs: tuple[str, ...], claimed_ms: int
) -> None:
    """A take-over that does not wait for a broker's registration is another defect."""
    down = event(EventKind.NODE_STOPPED, 8_000, "broker-0", how="killed")
    phases = [phase(10, "ZOOKEEPER"), phase(1_000, "PREPARING"), phase(12_000, "HYBRID")]
    counted = sample(12_000, "controller-3000", ActiveControllerCount=active, MigratingZkBrokerCount=registered)
    earlier = sample(2_000, "controller-3000", ActiveControllerCount=1, MigratingZkBrokerCount=3)
    claim = znode(claimed_ms, "/controller", json.dumps({"brokerid": 3000, "kraftControllerEpoch": 1}))
    events = [*started(*BROKERS, "controller-3000"), *phases, down]
    run = history(events=events, samples=[earlier, counted], znodes=[claim])
    assert named(run, takeover_waits_for_every_broker.judge(run)) == bugs


@pytest.mark.parametrize(
    ("again", "bugs"), [(3, ("takeover-without-a-broker",)), (2, ())], ids=["it had registered", "it had not"]
)
def test_of_two_takeovers_each_has_its_own_count(again: int, bugs: tuple[str, ...]) -> None:
    """What was counted at the first one says nothing of a migration that was undone and begun again."""
    down = event(EventKind.NODE_STOPPED, 68_000, "broker-0", how="killed")
    names = ((10, "ZOOKEEPER"), (1_000, "PREPARING"), (12_000, "HYBRID"), (40_000, "ZOOKEEPER"), (50_000, "PREPARING"))
    phases = [phase(at_ms, name) for at_ms, name in (*names, (82_000, "HYBRID"))]
    counts = [
        sample(at_ms, "controller-3000", ActiveControllerCount=1, MigratingZkBrokerCount=count)
        for at_ms, count in ((12_000, 3), (82_000, again))
    ]
    holders = ((11_000, 1), (40_000, -1), (81_000, 1))
    held = [
        znode(at_ms, "/controller", json.dumps({"brokerid": 3000, "kraftControllerEpoch": epoch}))
        for at_ms, epoch in holders
    ]
    events = sorted([*started(*BROKERS, "controller-3000"), *phases, down], key=lambda each: each.at_ns)
    run = history(events=events, samples=counts, znodes=held)
    assert named(run, takeover_waits_for_every_broker.judge(run)) == bugs


REGISTERED = "INFO Registered new broker: RegisterBrokerRecord(brokerId=0, isMigratingZkBroker=true, incarnationId=x)\n"
CLAIMED = "INFO Successfully registered KRaft controller 3000 with ZK epoch 3\n"


@pytest.mark.parametrize(
    ("log", "flagged", "kafka", "bugs"),
    [
        (REGISTERED + CLAIMED, True, "3.5.2", ("takeover-without-a-broker",)),
        (CLAIMED + REGISTERED, True, "3.5.2", ()),
        (REGISTERED, True, "3.5.2", ()),
        (CLAIMED, True, "3.5.2", ()),
        (REGISTERED.replace("=0", "=1") + CLAIMED, True, "3.5.2", ()),
        (REGISTERED.replace("=true", "=false") + CLAIMED, True, "3.5.2", ()),
        (REGISTERED + CLAIMED, False, "3.5.2", ()),
        (REGISTERED + CLAIMED, True, "3.6.0", ()),
    ],
    ids=["it had", "later", "no claim", "never", "another", "not for it", "without the flag", "the metric is missing"],
)
def test_a_release_without_the_metric_logs_who_had_registered(
    log: str, flagged: bool, kafka: str, bugs: tuple[str, ...]
) -> None:
    """3.5 has no MigratingZkBrokerCount; where there is one, the log says nothing in its place."""
    came = migrating(1_500, 0) if flagged else broker(1_500, 0)
    down = event(EventKind.NODE_STOPPED, 8_000, "broker-0", how="killed")
    phases = [phase(10, "ZOOKEEPER"), phase(1_000, "PREPARING")]
    events = [*started(*BROKERS, "controller-3000"), *phases, *came, down, phase(12_000, "HYBRID")]
    claim = znode(11_000, "/controller", json.dumps({"brokerid": 3000, "kraftControllerEpoch": 1}))
    run = history(events=events, znodes=[claim], kafka=kafka, logs={"controller-3000": log})
    assert named(run, takeover_waits_for_every_broker.judge(run)) == bugs


CLOSED = (
    "INFO [KafkaApi-2] Closing connection 127.1.0.4:9092-127.0.0.1:59406-484 because it sent an `Envelope` request "
    "even though forwarding has not been enabled (kafka.server.KafkaApis)\n"
)
ANOTHER_ID = "ERROR InvalidRequestException: Unexpected broker id, expected 0, but received 1\n"


@pytest.mark.parametrize(
    ("log", "name", "phase_name", "kafka", "bugs"),
    [
        (CLOSED, "broker-0 accepts a config of its own", "PREPARING", "3.6.0", ("KAFKA-16539",)),
        (ANOTHER_ID, "broker-0 accepts a config of its own", "PREPARING", "3.6.0", ("KAFKA-16539",)),
        (CLOSED, "broker-0 accepts a config of its own", "PREPARING", "3.9.1", ()),
        ("", "broker-0 accepts a config of its own", "PREPARING", "3.6.0", ()),
        (CLOSED, "broker-0 accepts a config of its own", "HYBRID", "3.6.0", ()),
        (CLOSED, "the answer to the reassignment", "PREPARING", "3.6.0", ()),
    ],
)
def test_a_config_that_a_broker_hands_on_in_vain_is_kafka_16539(
    log: str, name: str, phase_name: str, kafka: str, bugs: tuple[str, ...]
) -> None:
    """A config that is refused for another reason is another defect."""
    refused = unmet(60_000, name, expected="NONE", observed="REQUEST_TIMED_OUT")
    events = [*started(*BROKERS), phase(1_000, phase_name), refused]
    assert named_of_expectations(history(events=events, kafka=kafka, logs={"broker-2": log})) == bugs


@pytest.mark.parametrize(("flagged", "bugs"), [(["broker-0"], ("KAFKA-16539",)), ([], ())])
def test_brokers_with_the_flag_hand_on_before_there_is_a_quorum(flagged: list[str], bugs: tuple[str, ...]) -> None:
    """Brokers that are ready first; without the flag none hands on a config, so that it is another defect."""
    refused = unmet(60_000, "the answer to a change of a config of broker-0", expected="NONE", observed="no answer")
    flags = [with_flag(2_000, each) for each in flagged]
    events = [phase(0, "ZOOKEEPER"), *started(*BROKERS), *flags, *started(*flagged, at_ms=3_000), refused]
    run = history(events=events, kafka="3.6.2", logs={"broker-2": CLOSED})
    assert named_of_expectations(run) == bugs
