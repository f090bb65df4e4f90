"""Check that no broker in ZooKeeper mode is in charge once KRaft has taken over."""

import pytest

from pytest_kmigrate.documents.kip_866.checks.znodes.in_charge import no_zookeeper_broker_is_in_charge
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import event, fault, history, sample, znode
from tests.unit.documents.kip_866.checks.migrated import CLAIM
from tests.unit.documents.kip_866.checks.nodes import broker, controller
from tests.unit.documents.kip_866.checks.outcomes import looked_at

NODES = [*broker(0), controller()]
END = event(EventKind.CHECKS, 30_000)


def ruled(*actives: float, events: list[Event] | None = None, znodes: tuple[ZnodeChange, ...] = ()) -> History:
    """Broker-1 was the active controller; KRaft took over after 10 s; it reports these from 16 s on."""
    samples = [sample(9_000, "broker-1", ActiveControllerCount=1)]
    samples += [sample(16_000 + 500 * at, "broker-1", ActiveControllerCount=each) for at, each in enumerate(actives)]
    taken = [znode(10_000, "/controller", CLAIM), *znodes]
    return history(events=[*NODES, *(events or []), END], samples=samples, znodes=taken)


def test_a_former_controller_that_resigned_conforms() -> None:
    """Conforming: it was in charge, and reports that it is not."""
    assert looked_at(no_zookeeper_broker_is_in_charge.judge(ruled(0, 0))) == {"ZNODE-controller-watch": "CONFORMS"}


def test_a_broker_that_still_believes_it_is_in_charge_violates() -> None:
    """Violating: a single sample may be of before and after."""
    assert looked_at(no_zookeeper_broker_is_in_charge.judge(ruled(1, 1))) == {"ZNODE-controller-watch": "VIOLATES"}
    assert looked_at(no_zookeeper_broker_is_in_charge.judge(ruled(1, 0))) == {"ZNODE-controller-watch": "CONFORMS"}
    under_a_fault = no_zookeeper_broker_is_in_charge.judge(ruled(1, 1, events=fault(12_000)))
    assert under_a_fault.outcome is not Outcome.VIOLATES


def test_a_broker_that_takes_the_znode_violates_and_one_that_cannot_conforms() -> None:
    """Violating, and conforming: the opportunity is a broker that starts in ZooKeeper mode."""
    stolen = znode(20_000, "/controller", '{"version":2,"brokerid":1,"timestamp":"1","kraftControllerEpoch":-1}')
    verdict = no_zookeeper_broker_is_in_charge.judge(ruled(events=broker(15_000), znodes=(stolen,)))
    assert looked_at(verdict)["ZNODE-managed-by-kraft"] == "VIOLATES"
    verdict = no_zookeeper_broker_is_in_charge.judge(ruled(events=broker(15_000)))
    assert looked_at(verdict)["ZNODE-managed-by-kraft"] == "CONFORMS"


@pytest.mark.parametrize("step", ["deprovision-controllers"])
def test_once_the_controllers_are_taken_away_a_broker_may_be_in_charge(step: str) -> None:
    """Vacuous: a way back."""
    back = [event(EventKind.STEP_BEGAN, 12_000, step=step), *broker(15_000)]
    stolen = znode(20_000, "/controller", '{"version":2,"brokerid":1,"timestamp":"1","kraftControllerEpoch":-1}')
    assert not looked_at(no_zookeeper_broker_is_in_charge.judge(ruled(1, 1, events=back, znodes=(stolen,))))
