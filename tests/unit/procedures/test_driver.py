"""The general driver: forward by a document's steps, parts of a step, and back."""

from dataclasses import dataclass

import pytest

from pytest_kmigrate.model.capabilities import Needs
from pytest_kmigrate.model.document import Step
from pytest_kmigrate.model.errors import AwaitTimeoutError, WrongUseError
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
