"""A document needs nothing outside its folder: the toy is brought by another package, and runs on the fake provider."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.processes import Kill
from pytest_kmigrate.faults.targets import active_controller
from pytest_kmigrate.faults.triggers import on_state
from pytest_kmigrate.judging import checks
from pytest_kmigrate.judging.coverage import coverage
from pytest_kmigrate.judging.judge import judge_folder
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.providers.bench import small_topology
from pytest_kmigrate.providers.fake import FakeProvider
from pytest_kmigrate.recording.reading import read_history
from pytest_kmigrate.reports.one_run.run_reports import write_run_reports
from pytest_kmigrate.running import Claim, Run, RunSettings, open_run
from pytest_kmigrate.running.standing_up import Goal
from pytest_kmigrate.waiting import until
from tests.brought import installed
from tests.contract.toy.document import DOCUMENT, NEW, REST

ROW = "TOY-UPGRADE-every-broker"
SHAPE = small_topology(zookeepers=0, brokers=3, controllers=1)


@pytest.fixture(autouse=True)
def toy(tmp_path: Path) -> Iterator[None]:
    """The toy, as if its package were installed."""
    with installed(tmp_path / "site", "toy = tests.contract.toy"):
        yield


@contextmanager
def opened(runs: Path) -> Iterator[Run]:
    """A run by the toy, of three brokers and a controller."""
    settings = RunSettings(runs, seed=1, profile="toy")
    with open_run(settings, FakeProvider(), SHAPE, Claim("t.py::test_upgrade", (ROW,)), write_run_reports) as run:
        yield run


def await_recorded(run: Run, value: str) -> None:
    """Return when the observer has seen the phase."""

    def is_recorded() -> bool:
        return any(event.kind is EventKind.STATE and event.data["state"] == value for event in run.recorder.events)

    until(is_recorded, awaited=f"phase {value} recorded", within_s=60)


def test_the_procedure_is_walked_and_its_requirement_judged(tmp_path: Path) -> None:
    """States are events, a fault begins at one, the check of the document judges the row, here and from the folder."""
    with opened(tmp_path / "runs") as run:
        await_recorded(run, "OLD")
        with inject(run.scene, Kill(active_controller()), at=on_state("phase", "MIXED")) as kill:
            run.driver.advance_to("MIXED")
            kill.await_bitten()
            await_recorded(run, "MIXED")
        run.driver.advance_to("NEW")
        await_recorded(run, "NEW")
        judgement = run.verify([checks.every_broker_runs_the_new_release()])
    history = read_history(run.folder)
    assert [event.data["state"] for event in history.states("phase")] == ["OLD", "MIXED", "NEW"]
    assert [event.data["step"] for event in history.of(EventKind.STEP_BEGAN)] == ["upgrade-one-broker", REST.name]
    assert [event.data["version"] for event in history.of(EventKind.NODE_INSTALLED)] == [NEW] * 3
    assert kill.targets == ("controller-3000",)
    abouts = [about for verdict in judgement.verdicts for about in verdict.about]
    assert {(about.requirement, about.outcome) for about in abouts} == {(ROW, Outcome.CONFORMS)}
    assert {each for sample in history.samples for each in sample.values} <= set(DOCUMENT.metrics)
    assert judge_folder(run.folder).verdicts == judgement.verdicts
    assert "MIXED for " in run.folder.timeline.read_text()


def test_a_half_done_upgrade_violates(tmp_path: Path) -> None:
    """The check can fail: brokers were left behind, and each is named."""
    with opened(tmp_path / "runs") as run:
        run.driver.advance_to("MIXED")
        run.driver.begin(REST, moves=1)
        judgement = run.verify([checks.every_broker_runs_the_new_release()])
    (verdict,) = (each for each in judgement.verdicts if each.check == "every_broker_runs_the_new_release")
    assert verdict.outcome is Outcome.VIOLATES
    assert [violation.observed for violation in verdict.violations] == ["it runs 3.9.1"]
    assert [row.requirement.id for row in coverage("toy", tmp_path / "runs").rows] == [ROW]


def test_a_cluster_is_stood_up_in_a_phase_of_it() -> None:
    """As ``kmigrate up --profile toy --phase`` has it: only one that its steps reach."""
    Goal(DOCUMENT, "MIXED").check(SHAPE)
    with pytest.raises(WrongUseError, match="--phase: expected one of MIXED, NEW; got OLD"):
        Goal(DOCUMENT, "OLD").check(SHAPE)
