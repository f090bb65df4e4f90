"""Check that no broker in ZooKeeper mode is in charge once KRaft has taken over."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.znodes.in_charge import no_zookeeper_broker_is_in_charge
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import MS, event, fault, history, sample, znode
from tests.unit.documents.kip_866.checks.migrated import CLAIM
from tests.unit.documents.kip_866.checks.nodes import broker, controller, stopped
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


STOLEN = znode(20_000, "/controller", '{"version":2,"brokerid":1,"timestamp":"1","kraftControllerEpoch":-1}')
DELETED = znode(18_000, "/controller", None)


def quorum_stopped(at_ms: int = 16_500, how: str = "controlled") -> Event:
    """The only controller was stopped."""
    return stopped(at_ms, "controller-3000", how)


@pytest.mark.parametrize(
    "events",
    [[quorum_stopped()], [quorum_stopped(how="killed")], [quorum_stopped(21_500, "gone")]],
    ids=["stopped", "killed", "seen to be gone later"],
)
@pytest.mark.parametrize("znodes", [(DELETED, STOLEN), (STOLEN,)], ids=["deleted", "taken at once"])
def test_once_an_operator_has_stopped_the_quorum_a_broker_may_be_in_charge(
    events: list[Event], znodes: tuple[ZnodeChange, ...]
) -> None:
    """Vacuous: a way back by hand, before the disks of the controllers are wiped."""
    run = ruled(*[0] * 4, *[1] * 20, events=events, znodes=znodes)
    late = replace(run, samples=[each for each in run.samples if each.at_ns < 17_000 * MS or each.at_ns > 20_000 * MS])
    assert no_zookeeper_broker_is_in_charge.judge(late).outcome is not Outcome.VIOLATES


@pytest.mark.parametrize(
    "events",
    [
        [],
        [*fault(16_000, "kill(every-controller)"), quorum_stopped(how="killed")],
        [event(EventKind.NODE_DIED, 16_500, "controller-3000", exit_code=1, said="")],
        [*(controller(50, number) for number in (3001, 3002)), quorum_stopped()],
        [quorum_stopped(), controller(17_000)],
        [quorum_stopped(25_500, "gone")],
    ],
    ids=["it runs", "a fault", "it died", "two of three run", "it runs again", "it went later"],
)
def test_while_the_quorum_could_be_in_charge_no_broker_may(events: list[Event]) -> None:
    """Violating, though somebody deleted the znode."""
    run = ruled(events=[*events, *broker(15_000)], znodes=(DELETED, STOLEN))
    verdict = no_zookeeper_broker_is_in_charge.judge(run)
    assert looked_at(verdict)["ZNODE-managed-by-kraft"] == "VIOLATES"


def test_a_quorum_that_takes_over_again_is_judged_again() -> None:
    """Violating: by a broker that takes the znode after the second claim of KRaft."""
    again = znode(23_000, "/controller", CLAIM, mzxid=99)
    stolen = replace(STOLEN, at_ns=25_000 * MS)
    events = [quorum_stopped(), controller(22_000)]
    verdict = no_zookeeper_broker_is_in_charge.judge(ruled(events=events, znodes=(DELETED, STOLEN, again, stolen)))
    assert [each.at_ns for each in verdict.violations] == [25_000 * MS]
    verdict = no_zookeeper_broker_is_in_charge.judge(ruled(events=events, znodes=(DELETED, STOLEN, again)))
    assert verdict.outcome is not Outcome.VIOLATES
