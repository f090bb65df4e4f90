"""The general driver: forward by a document's steps, parts of a step, and back."""

from dataclasses import dataclass

import pytest

from pytest_kmigrate.model.capabilities import Needs
from pytest_kmigrate.model.document import Step
from pytest_kmigrate.model.errors import (
    AwaitTimeoutError,
    ClusterError,
    EnvironmentLackError,
    KmigrateError,
    WrongUseError,
)
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.protocols import Reading, Scene
from pytest_kmigrate.procedures.driver import ProcedureDriver
from tests.unit.fakes import Stage
from tests.unit.typical_events import typical


@dataclass(frozen=True)
class Comes:
    """A move after which a state has another value."""

    name: str
    value: str
    needs: Needs = frozenset()

    def make(self, scene: Scene) -> None:
        """Carry it out."""
        scene.view.readings[self.name] = Reading(self.value)  # type: ignore[attr-defined]  # of the fake


RAISE = Step("raise", lambda _: [Comes("level", "HALF"), Comes("level", "HIGH")], ("level", "HIGH"))
OPEN = Step("open", lambda _: [Comes("door", "OPEN")], ("door", "OPEN"))
CLOSE = Step("close", lambda _: [Comes("door", "SHUT")], ("door", "SHUT"))


@pytest.fixture
def driver(stage: Stage) -> ProcedureDriver:
    """Of a document with two states that two steps lead through."""
    stage.view.readings = {"level": Reading("LOW"), "door": None}
    return ProcedureDriver(stage.scene, (RAISE, OPEN))


def steps(stage: Stage) -> list[object]:
    """The steps that began, by name."""
    return [event.data["step"] for event in stage.of(EventKind.STEP_BEGAN)]


def test_steps_are_taken_up_to_the_one_that_reaches_a_value(stage: Stage, driver: ProcedureDriver) -> None:
    """Each once, whichever state it leads to; a half-taken one goes on where it stopped."""
    driver.begin(RAISE, moves=1)
    assert stage.view.readings["level"] == Reading("HALF")
    driver.advance_to("HIGH")
    driver.advance_to("HIGH")
    driver.advance_to("OPEN")
    assert steps(stage) == ["raise", "raise", "open"]
    assert [event.data["first_move"] for event in stage.of(EventKind.STEP_BEGAN)] == [0, 1, 0]


def test_a_value_that_no_step_reaches_is_refused(stage: Stage, driver: ProcedureDriver) -> None:
    """The error names those that can be reached from here; nothing was moved."""
    with pytest.raises(WrongUseError, match="advance_to: expected one of HIGH, OPEN, got LOW"):
        driver.advance_to("LOW")
    assert stage.recorder.events == []
    driver.advance_to("OPEN")
    with pytest.raises(WrongUseError, match="expected one of OPEN, as the way leads forward only; got HIGH"):
        driver.advance_to("HIGH")


def test_a_way_back_is_taken_whole_and_the_way_forward_begins_anew(stage: Stage, driver: ProcedureDriver) -> None:
    """Whatever was half taken before."""
    driver.advance_to("OPEN")
    driver.go_back([CLOSE, CLOSE])
    driver.advance_to("HIGH")
    assert steps(stage) == ["raise", "open", "close", "close", "raise"]
    assert {event.data["first_move"] for event in stage.of(EventKind.STEP_BEGAN)} == {0}


def test_what_a_state_never_comes_to_is_told_with_what_it_was(driver: ProcedureDriver) -> None:
    """One that cannot be read is none."""
    with pytest.raises(AwaitTimeoutError, match="level HIGH: not within 0 s; last seen: level LOW"):
        driver.await_state("level", "HIGH", within_s=0)
    with pytest.raises(AwaitTimeoutError, match="door OPEN: not within 0 s; last seen: door unknown"):
        driver.await_state("door", "OPEN", within_s=0)


def test_a_new_active_controller_is_another_than_before_the_fault(stage: Stage, driver: ProcedureDriver) -> None:
    """The one before the last fault does not count, though a look during the fault may still have seen it."""
    stage.recorder.record(typical(EventKind.ACTIVE_CONTROLLER, controller="controller-3000"), "controller-3000")
    stage.recorder.record(typical(EventKind.FAULT_BEGAN))
    stage.view.controller = "controller-3000"
    with pytest.raises(AwaitTimeoutError, match="other than controller-3000"):
        driver.await_new_active_controller(within_s=0)
    stage.view.controller = "controller-3002"
    stage.recorder.record(typical(EventKind.ACTIVE_CONTROLLER, controller="controller-3002"), "controller-3002")
    assert driver.await_new_active_controller(within_s=0) == "controller-3002"


def test_a_controller_that_took_over_is_the_former_one_of_the_next_fault(stage: Stage, driver: ProcedureDriver) -> None:
    """The probe records it late: after the next fault began, which it would seem to have taken over by."""
    stage.recorder.record(typical(EventKind.ACTIVE_CONTROLLER, controller="controller-3000"), "controller-3000")
    stage.recorder.record(typical(EventKind.FAULT_BEGAN))
    stage.view.controller = "controller-3002"
    assert driver.await_new_active_controller(within_s=0) == "controller-3002"
    stage.recorder.record(typical(EventKind.FAULT_BEGAN))
    stage.recorder.record(typical(EventKind.ACTIVE_CONTROLLER, controller="controller-3002"), "controller-3002")
    with pytest.raises(AwaitTimeoutError, match="other than controller-3002"):
        driver.await_new_active_controller(within_s=0)
    stage.view.controller = "controller-3001"
    assert driver.await_new_active_controller(within_s=0) == "controller-3001"


def test_moves_of_a_test_are_a_step_of_its_own(stage: Stage, driver: ProcedureDriver) -> None:
    """Recorded by its name; the documented way goes on from where it was."""
    driver.make("by-hand", Comes("level", "LOW"), Comes("door", "SHUT"))
    assert stage.view.readings == {"level": Reading("LOW"), "door": Reading("SHUT")}
    driver.advance_to("HIGH")
    assert steps(stage) == ["by-hand", "raise"]
    assert [event.data["outcome"] for event in stage.of(EventKind.STEP_ENDED)] == ["done", "done"]


@pytest.mark.parametrize(("name", "moves"), [("raise", [Comes("level", "LOW")]), ("by-hand", [])])
def test_a_documented_name_or_no_move_is_refused(
    stage: Stage, driver: ProcedureDriver, name: str, moves: list[Comes]
) -> None:
    """It would be taken for the document's step, or for one that did something."""
    with pytest.raises(WrongUseError, match="make: expected a name of the test's own and moves"):
        driver.make(name, *moves)
    assert not steps(stage)


@dataclass(frozen=True)
class Fails:
    """A move that fails."""

    error: KmigrateError
    needs: Needs = frozenset()

    def make(self, scene: Scene) -> None:
        """Raise its error."""
        raise self.error


def failing(error: KmigrateError) -> Step:
    """A step of one such move."""
    return Step("fail", lambda _: [Fails(error)], ("level", "HIGH"), ("ROW",))


@pytest.mark.parametrize(
    ("error", "of_machine"), [(EnvironmentLackError("no room"), True), (WrongUseError("no such node"), None)]
)
def test_trouble_of_user_and_machine_is_no_failed_step(
    stage: Stage, error: KmigrateError, of_machine: bool | None
) -> None:
    """It is trouble in the history, which makes verdicts INCONCLUSIVE; nothing is laid to Kafka."""
    with pytest.raises(type(error)):
        ProcedureDriver(stage.scene, [failing(error)]).advance_to("HIGH")
    [ended], [trouble] = stage.of(EventKind.STEP_ENDED), stage.of(EventKind.HARNESS_TROUBLE)
    assert (ended.data["outcome"], ended.data["reason"]) == ("stopped", str(error))
    assert (trouble.data["what"], trouble.data["error"], trouble.data.get("of_machine")) == (
        "step fail",
        str(error),
        of_machine,
    )


def test_a_step_that_failed_as_the_machine_lacked_something_names_it(stage: Stage) -> None:
    """Of what Kafka did not do the reason is in its log, and not in the error that waited for it."""
    stage.cluster.lacking = {"broker-1": "No space left on device"}
    with pytest.raises(EnvironmentLackError, match=r"broker-1 ready: .*; broker-1: No space left on device"):
        ProcedureDriver(stage.scene, [failing(AwaitTimeoutError("broker-1 ready", 1, "no answer"))]).advance_to("HIGH")


def test_a_step_that_failed_of_itself_is_a_failed_step(stage: Stage) -> None:
    """The cluster did not do what it should."""
    with pytest.raises(ClusterError) as raised:
        ProcedureDriver(stage.scene, [failing(ClusterError("no leader"))]).advance_to("HIGH")
    assert raised.value.is_recorded
    [ended] = stage.of(EventKind.STEP_ENDED)
    assert (ended.data["outcome"], ended.data["requirements"]) == ("failed", ["ROW"])


@pytest.mark.parametrize("rows", [["ROW"], []])
def test_a_state_that_is_awaited_for_requirements_is_an_expectation_of_theirs(stage: Stage, rows: list[str]) -> None:
    """Without any a test that ends in such a wait violates nothing."""
    stage.view.readings = {"door": Reading("SHUT")}
    with pytest.raises(AwaitTimeoutError) as raised:
        ProcedureDriver(stage.scene, [OPEN]).await_state("door", "OPEN", within_s=0, requirements=rows)
    assert raised.value.is_recorded is bool(rows)
    assert [event.data["requirements"] for event in stage.of(EventKind.EXPECTATION)] == [rows] * bool(rows)


def test_a_state_that_never_came_is_reported_with_what_it_waits_for(stage: Stage) -> None:
    """By a document's own sentences."""

    class Explaining(ProcedureDriver):
        def _obstacles(self, wanted: str) -> list[str]:
            return [f"{wanted} needs a key", "the door has none"]

    stage.view.readings = {"door": Reading("SHUT")}
    with pytest.raises(AwaitTimeoutError, match=r"last seen: door SHUT; OPEN needs a key; the door has none$"):
        Explaining(stage.scene, [OPEN]).await_state("door", "OPEN", within_s=0)
