"""Facts about the migration driver: the order of moves, steps taken by halves, every way back, wrong order refused."""

import json
from collections.abc import Callable
from unittest.mock import Mock

import pytest

from pytest_kmigrate.documents.kip_866 import driver as driver_module
from pytest_kmigrate.documents.kip_866.driver import MigrationDriver
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.documents.kip_866.procedure import ENTER_MIGRATION, FINALIZE, MIGRATION_FLAG, ROLL_TO_KRAFT
from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError, WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.protocols import Reading
from pytest_kmigrate.model.topology import BrokerMode, Role
from tests.unit.fakes import Stage

BROKERS = ["broker-0", "broker-1", "broker-2"]
CONTROLLERS = ["controller-3000", "controller-3001", "controller-3002"]


class Kafka:
    """Reads the phase off the fake nodes, as a cluster that obeys at once would show it."""

    def __init__(self, stage: Stage) -> None:
        self._cluster = stage.cluster

    def state(self, name: str) -> Reading:
        """The phase that these modes and properties lead to."""
        assert name == "phase"
        return Reading(self._phase().name)

    def _phase(self) -> Phase:
        controllers = self._cluster.nodes(Role.CONTROLLER)
        brokers = self._cluster.nodes(Role.BROKER)
        if not any(node.alive for node in controllers):
            return Phase.ZOOKEEPER
        if not all("zookeeper.connect" in node.properties for node in controllers):
            in_part = any("zookeeper.connect" in node.properties for node in controllers)
            return Phase.ALL_KRAFT if in_part else Phase.FINALIZED
        if all(node.mode is BrokerMode.KRAFT for node in brokers):
            return Phase.ALL_KRAFT
        joined = all(MIGRATION_FLAG in node.properties or node.mode is BrokerMode.KRAFT for node in brokers)
        return Phase.HYBRID if joined else Phase.PREPARING


@pytest.fixture
def stage(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A ZooKeeper cluster whose phase follows its nodes; the controllers are not provisioned yet."""
    for node in stage.cluster.nodes(Role.CONTROLLER):
        node.kill()
    stage.znodes.set("/cluster/id", json.dumps({"version": "1", "id": "the-id"}).encode())
    stage.view.controller = "broker-0"
    monkeypatch.setattr(stage.view, "state", Kafka(stage).state)
    monkeypatch.setattr(driver_module, "PATIENCE_S", 0)
    stage.recorder.events.clear()
    return stage


@pytest.fixture
def driver(stage: Stage) -> MigrationDriver:
    """The driver of that cluster."""
    return MigrationDriver(stage.scene)


def started(stage: Stage) -> list[str | None]:
    """The nodes in the order they were started."""
    return [event.node for event in stage.of(EventKind.NODE_STARTED)]


def test_the_moves_come_in_the_documented_order(stage: Stage, driver: MigrationDriver) -> None:
    """Controllers first and formatted, brokers into migration one by one, brokers to KRaft, controllers finalized."""
    driver.advance_to(Phase.FINALIZED)

    assert [event.data["step"] for event in stage.of(EventKind.STEP_BEGAN)] == [
        "provision-controllers",
        "roll-brokers-into-migration",
        "roll-brokers-to-kraft",
        "finalize",
    ]
    assert started(stage) == [*CONTROLLERS, *BROKERS, *BROKERS, *CONTROLLERS]
    assert {node.formatted_with for node in stage.cluster.nodes(Role.CONTROLLER)} == {"the-id"}
    assert {event.data["outcome"] for event in stage.of(EventKind.STEP_ENDED)} == {"done"}


def test_the_configuration_is_the_documented_one(stage: Stage, driver: MigrationDriver) -> None:
    """Flag, voters and ZooKeeper are set where the procedure says, and gone where it says so."""
    driver.advance_to(Phase.HYBRID)
    for node in stage.cluster.nodes(Role.CONTROLLER):
        assert node.properties[MIGRATION_FLAG] == "true"
        assert node.properties["zookeeper.connect"] == stage.cluster.zookeeper_connect
    for node in stage.cluster.nodes(Role.BROKER):
        assert node.properties[MIGRATION_FLAG] == "true"
        assert node.properties["controller.quorum.voters"] == stage.cluster.quorum_voters
        assert node.mode is BrokerMode.ZOOKEEPER

    driver.advance_to(Phase.FINALIZED)
    for node in [*stage.cluster.nodes(Role.CONTROLLER), *stage.cluster.nodes(Role.BROKER)]:
        assert not {MIGRATION_FLAG, "zookeeper.connect"} & set(node.properties)
    assert {node.mode for node in stage.cluster.nodes(Role.BROKER)} == {BrokerMode.KRAFT}


def test_a_step_is_stopped_half_way_and_the_rest_taken_later(stage: Stage, driver: MigrationDriver) -> None:
    """``begin`` takes the first moves only, a second ``begin`` the next ones, ``advance_to`` what is left."""
    driver.advance_to(Phase.HYBRID)
    stage.recorder.events.clear()
    driver.begin(ROLL_TO_KRAFT, moves=1)
    assert started(stage) == ["broker-0"]
    driver.begin(ROLL_TO_KRAFT, moves=1)
    assert started(stage) == ["broker-0", "broker-1"]
    assert driver.phase is Phase.HYBRID
    driver.advance_to(Phase.ALL_KRAFT)
    assert started(stage) == BROKERS
    assert [event.data["outcome"] for event in stage.of(EventKind.STEP_ENDED)] == ["stopped", "stopped", "done"]


@pytest.mark.parametrize(
    ("phase", "half", "ways"),
    [
        (Phase.PREPARING, None, ["deprovision-controllers", "roll-brokers-out-of-migration"]),
        (Phase.PREPARING, ENTER_MIGRATION, ["deprovision-controllers", "roll-brokers-out-of-migration"]),
        (
            Phase.HYBRID,
            None,
            ["roll-brokers-back-to-zookeeper", "deprovision-controllers", "roll-brokers-out-of-migration"],
        ),
        (
            Phase.HYBRID,
            ROLL_TO_KRAFT,
            ["roll-brokers-back-to-zookeeper", "deprovision-controllers", "roll-brokers-out-of-migration"],
        ),
        (
            Phase.ALL_KRAFT,
            None,
            ["roll-brokers-back-to-zookeeper", "deprovision-controllers", "roll-brokers-out-of-migration"],
        ),
    ],
)
def test_revert_leads_back_from_every_phase_and_on_again(
    stage: Stage, driver: MigrationDriver, phase: Phase, half: object, ways: list[str]
) -> None:
    """After a revert no trace of the migration is left, and a second migration goes through."""
    driver.advance_to(phase)
    if half is not None:
        driver.begin(half, moves=1)  # type: ignore[arg-type]  # a Step
    stage.znodes.set("/controller", b"{}")
    stage.znodes.set("/migration", b"{}")
    stage.recorder.events.clear()

    driver.revert()

    assert [event.data["step"] for event in stage.of(EventKind.STEP_BEGAN)] == ways
    assert driver.phase is Phase.ZOOKEEPER
    for node in stage.cluster.nodes(Role.CONTROLLER):
        assert (node.alive, node.formatted_with) == (False, None)
    for node in stage.cluster.nodes(Role.BROKER):
        assert (node.alive, node.mode, dict(node.properties)) == (True, BrokerMode.ZOOKEEPER, {})
    if phase is not Phase.PREPARING:
        assert (stage.znodes.get("/controller"), stage.znodes.get("/migration")) == (None, None)
    driver.advance_to(Phase.FINALIZED)
    assert driver.phase is Phase.FINALIZED


def test_revert_rolls_back_only_brokers_in_kraft_mode(stage: Stage, driver: MigrationDriver) -> None:
    """Half-way to KRaft, the way back to ZooKeeper mode touches the brokers that had left it."""
    driver.advance_to(Phase.HYBRID)
    driver.begin(ROLL_TO_KRAFT, moves=1)
    stage.recorder.events.clear()
    driver.revert()
    assert started(stage) == ["broker-0", *BROKERS]


def test_revert_restarts_only_brokers_that_had_joined(stage: Stage, driver: MigrationDriver) -> None:
    """Before a broker is rolled, stopping the controllers is all there is to undo."""
    driver.advance_to(Phase.PREPARING)
    stage.recorder.events.clear()
    driver.revert()
    assert started(stage) == []

    driver.advance_to(Phase.PREPARING)
    driver.begin(ENTER_MIGRATION, moves=1)
    stage.recorder.events.clear()
    driver.revert()
    assert started(stage) == ["broker-0"]


def test_an_operator_may_forget_a_znode(stage: Stage, driver: MigrationDriver) -> None:
    """It stays; the others go; one that is not to be deleted cannot be forgotten, and nothing is undone then."""
    driver.advance_to(Phase.HYBRID)
    stage.znodes.set("/controller", b"{}")
    stage.znodes.set("/migration", b"{}")
    with pytest.raises(WrongUseError, match="expected some of /controller, /migration, got /migrations"):
        driver.revert(forgetting=["/migrations"])
    assert driver.phase is Phase.HYBRID

    driver.revert(forgetting=["/migration"])

    assert (stage.znodes.get("/controller"), stage.znodes.get("/migration")) == (None, b"{}")


def test_an_operator_may_leave_brokers_in_migration_mode(stage: Stage, driver: MigrationDriver) -> None:
    """Only the controllers go; before the migration began they leave no znode to delete, so none can go with it."""
    driver.advance_to(Phase.PREPARING)
    with pytest.raises(WrongUseError, match="removing: expected to be where znodes are deleted, got /contr"):
        driver.revert(removing=["/controller_epoch"])
    driver.advance_to(Phase.HYBRID)
    driver.revert(leaving=False)
    assert [event.data["step"] for event in stage.of(EventKind.STEP_BEGAN)][-1] == "deprovision-controllers"


def test_there_is_no_way_back_after_finalization(driver: MigrationDriver) -> None:
    """Reverting a finalized migration is refused."""
    driver.advance_to(Phase.FINALIZED)
    with pytest.raises(WrongUseError, match="no way back from FINALIZED"):
        driver.revert()


def test_revert_of_nothing_does_nothing(stage: Stage, driver: MigrationDriver) -> None:
    """In ZOOKEEPER there is nothing to revert."""
    driver.revert()
    assert stage.recorder.events == []


def test_a_step_out_of_order_is_refused(stage: Stage, driver: MigrationDriver) -> None:
    """The error names the step that is next; nothing was moved."""
    with pytest.raises(WrongUseError, match="expected to be provision-controllers; got finalize"):
        driver.begin(FINALIZE, moves=1)
    assert stage.recorder.events == []


def test_an_earlier_phase_is_no_way_forward(driver: MigrationDriver) -> None:
    """Going back is another verb: the mistake is reported at once, not after a timeout."""
    driver.advance_to(Phase.HYBRID)
    with pytest.raises(WrongUseError, match=r"expected one of HYBRID, ALL_KRAFT, FINALIZED, .*; got PREPARING"):
        driver.advance_to(Phase.PREPARING)


def test_copying_cannot_be_advanced_to(driver: MigrationDriver) -> None:
    """COPYING passes by itself: asking for it is a mistake, reported with what to do instead."""
    with pytest.raises(WrongUseError, match="advance to HYBRID"):
        driver.advance_to(Phase.COPYING)


def test_a_failing_move_is_recorded_and_taken_again(
    stage: Stage, driver: MigrationDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step ends as failed with the reason; trying again goes on with the move that failed."""
    driver.advance_to(Phase.PREPARING)
    broker = stage.cluster.node("broker-1")
    with monkeypatch.context() as broken:
        broken.setattr(broker, "start", failing("broker-1 ready: not within 60 s"))
        with pytest.raises(ClusterError, match="broker-1 ready"):
            driver.advance_to(Phase.HYBRID)
    (ended,) = [event for event in stage.of(EventKind.STEP_ENDED) if event.data["outcome"] == "failed"]
    assert ended.data["step"] == "roll-brokers-into-migration"
    assert "broker-1 ready" in str(ended.data["reason"])

    stage.recorder.events.clear()
    driver.advance_to(Phase.HYBRID)
    assert started(stage) == ["broker-1", "broker-2"]


def test_a_phase_never_reached_fails_the_step(
    stage: Stage, driver: MigrationDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moves alone are no step: without its phase it ends as failed, and the error names the phase last seen."""
    monkeypatch.setattr(driver, "await_state", lambda *state: MigrationDriver.await_state(driver, *state, within_s=0))
    monkeypatch.setattr(stage.view, "state", lambda _: Reading("PREPARING"))
    driver.advance_to(Phase.PREPARING)
    with pytest.raises(AwaitTimeoutError, match="phase HYBRID: not within 0 s; last seen: phase PREPARING"):
        driver.advance_to(Phase.HYBRID)
    assert stage.of(EventKind.STEP_ENDED)[-1].data["outcome"] == "failed"


def failing(text: str) -> Callable[..., None]:
    """Something that raises ClusterError."""
    return Mock(side_effect=ClusterError(text))
