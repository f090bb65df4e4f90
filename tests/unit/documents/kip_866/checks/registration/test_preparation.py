"""Check that brokers register before the take-over."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.checks.registration.preparation import brokers_register_before_the_takeover
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import fault, history, phase, sample, snapshot
from tests.unit.documents.kip_866.checks.nodes import controller, migrating, with_flag

Record = dict[str, Any]
REGISTERED = {"brokerId": 1, "brokerEpoch": 31, "isMigratingZkBroker": True}
UNFENCED = {"brokerId": 1, "brokerEpoch": 31, "fenced": -1, "inControlledShutdown": 0}


def record(offset: int, kind: str, data: Record) -> Record:
    """A record of a broker."""
    return {"offset": offset, "type": kind, "version": 3, "data": data}


HEARD = (record(31, "REGISTER_BROKER_RECORD", REGISTERED), record(33, "BROKER_REGISTRATION_CHANGE_RECORD", UNFENCED))


def log(*announced: Record, copied: tuple[int, int] | None = None, **more: object) -> MetadataImage:
    """The metadata log: these records; what is copied begins and ends at these offsets."""
    name = "ZK Migration"
    bootstrap = [{"offset": at, "event": event, "name": "Bootstrap"} for at, event in ((1, "begin"), (3, "end"))]
    transactions: list[Record] = [*bootstrap]
    if copied:
        transactions += [{"offset": copied[0], "event": "begin", "name": name}]
        transactions += [{"offset": copied[1], "event": "end", "name": name, "copied": {"TOPIC_RECORD": 1}}]
    brokers = {str(each["data"]["brokerId"]): {"is_migrating_zk_broker": True} for each in announced}
    extra = {"migration_states": [], "announced": list(announced), "transactions": transactions, "brokers": brokers}
    return MetadataImage("metadata-log", extra={**extra, **more})


def preparing(
    count: float | None,
    *events: Event,
    leads_ms: int = 5_000,
    until_ms: int = 60_000,
    kafka: str = "3.9.1",
    began: Sequence[Event] = (with_flag(0, "controller-3000"), controller()),
    image: MetadataImage | None = None,
    read_ms: int = 59_500,
) -> History:
    """A broker came up after 10 s; the leader reports this count, and the log has this."""
    reported = {"ActiveControllerCount": 1.0, "MigratingZkBrokerCount": count}
    samples = [sample(at, "controller-3000", **reported) for at in range(leads_ms, until_ms, 1_000)]
    nodes = [phase(0, "PREPARING"), *began, *migrating(10_000), *events, snapshot(read_ms, "a-log")]
    images = {"a-log": log(*HEARD) if image is None else image}
    return history(events=nodes, samples=samples, kafka=kafka, images=images)


@pytest.mark.parametrize("kafka", ["3.5.2", "3.9.1"])
def test_a_broker_that_is_registered_and_heard_conforms(kafka: str) -> None:
    """Conforming: before anything was copied; a release without the gauge is judged by the log alone."""
    for image in (log(*HEARD), log(*HEARD, copied=(40, 60))):
        verdict = brokers_register_before_the_takeover.judge(preparing(1, kafka=kafka, image=image))
        assert verdict.outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    "image",
    [
        log(*HEARD, copied=(30, 60)),
        log(*HEARD, copied=(32, 60)),
        log(HEARD[0]),
        log(HEARD[0], record(33, "BROKER_REGISTRATION_CHANGE_RECORD", {**UNFENCED, "brokerEpoch": 17})),
        log(record(31, "REGISTER_BROKER_RECORD", {**REGISTERED, "isMigratingZkBroker": False}), HEARD[1]),
    ],
    ids=["registered later", "heard later", "never heard", "another registration", "in KRaft mode"],
)
def test_the_gauge_alone_proves_nothing(image: MetadataImage) -> None:
    """Vacuous: it is the log that must have a registration and a heartbeat before the copy."""
    verdict = brokers_register_before_the_takeover.judge(preparing(1, image=image))
    assert verdict.outcome is Outcome.INCONCLUSIVE


def test_a_broker_that_is_not_in_the_log_violates() -> None:
    """Violating, whatever the gauge counts; of an image that was read too early nothing is demanded."""
    verdict = brokers_register_before_the_takeover.judge(preparing(1, image=log()))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.violations[0].observed.startswith("0 are in the metadata log (59.0 s")
    early = preparing(1, image=log(), read_ms=39_000)
    assert brokers_register_before_the_takeover.judge(early).outcome is Outcome.INCONCLUSIVE


def test_a_broker_that_is_never_counted_violates() -> None:
    """Violating: from 30 s after it was ready."""
    verdict = brokers_register_before_the_takeover.judge(preparing(0))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.violations[0].observed.startswith("controller-3000 counts 0 (40.0 s")


def test_brokers_have_to_find_a_leader_that_was_away() -> None:
    """Of a restarted controller that is active again the first samples prove nothing."""
    run = preparing(0)
    away = [each for each in run.samples if not 25_000 <= each.at_ns // 1_000_000 < 35_000]
    verdict = brokers_register_before_the_takeover.judge(replace(run, samples=away))
    assert verdict.outcome is Outcome.CONFORMS  # by the log


@pytest.mark.parametrize(
    "run",
    [
        preparing(0, until_ms=40_000),
        preparing(0, leads_ms=30_500),
        preparing(0, *fault(15_000)),
        preparing(1, phase(4_000, "HYBRID")),
        preparing(0, began=[controller()]),
    ],
    ids=["too early", "soon after an election", "under a fault", "after the take-over", "a quorum without the flag"],
)
def test_a_broker_that_need_not_be_known_is_not_demanded(run: History) -> None:
    """By neither evidence; what the log has of it is judged all the same."""
    assert brokers_register_before_the_takeover.judge(run).outcome is Outcome.CONFORMS
    empty = replace(run, images={"a-log": log()})
    assert brokers_register_before_the_takeover.judge(empty).outcome is Outcome.INCONCLUSIVE
