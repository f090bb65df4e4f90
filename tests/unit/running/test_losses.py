"""A live run that loses a part of the harness: no wait goes on, nothing is read back, nothing conforms."""

from pathlib import Path

import pytest

from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.errors import HarnessLostError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.model.verdict import Kind, Outcome
from pytest_kmigrate.providers.fake import FakeProvider
from pytest_kmigrate.running import Claim, Run, RunSettings, open_run
from pytest_kmigrate.running.expectations import expect
from pytest_kmigrate.running.losses import Losses
from pytest_kmigrate.waiting import until
from tests.unit.fakes import Stage
from tests.unit.running.test_run import SHAPE, opened

LOST = HarnessTrouble("the links' proxies are gone", "exit code -9", lost="links")


def _lose(run: Run) -> None:
    run.recorder.record(LOST)


def test_waits_end_at_once(tmp_path: Path) -> None:
    """A wait of a test, a step of the procedure, an expectation, which is no unmet one then."""
    with opened(tmp_path) as run:
        _lose(run)
        with pytest.raises(HarnessLostError, match=r"^the links' proxies are gone \(exit code -9\): nothing is judged"):
            until(lambda: False, awaited="it", within_s=180)
        with pytest.raises(HarnessLostError):
            run.driver.await_state("phase", "HYBRID")
        with pytest.raises(HarnessLostError):
            expect(run.recorder, "it comes", lambda: False, equals=True, within_s=180, kind=Kind.LIVENESS)
        judgement = run.verify([checks.no_unexpected_death()])
        assert not [event for event in run.recorder.events if event.kind is EventKind.EXPECTATION]
    assert judgement.outcome is Outcome.INCONCLUSIVE
    assert {each.kind for each in judgement.verdicts if each.check == "no_unexpected_death"} == {Kind.HARNESS}


def test_nothing_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clients of the final read go over the links, too."""
    reads: list[bool] = []
    with opened(tmp_path) as run:
        monkeypatch.setattr(run.traffic, "finish", lambda *, reads_back: reads.append(reads_back))
        _lose(run)
        run.verify([])
    assert reads == [False]


def test_other_trouble_is_no_loss(stage: Stage) -> None:
    """A probe that failed once, say."""
    losses = Losses(stage.recorder)
    stage.recorder.record(HarnessTrouble("a probe", "late"))
    losses.require_none()
    stage.recorder.record(LOST)
    stage.recorder.record(HarnessTrouble("the container engine is gone", "", lost="engine"))
    for _ in range(2):
        assert (loss := losses.first()) is not None
        assert loss.data["lost"] == "links"


@pytest.mark.parametrize(("without", "expected"), [([], True), (["final-read"], False), (["images"], True)])
def test_a_run_that_looks_for_one_red_reads_back_only_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without: list[str], *, expected: bool
) -> None:
    """By the file of schedules that it is a line of."""
    reads: list[bool] = []
    claim = Claim("t.py::test_it", night={"without": without})
    with open_run(RunSettings(tmp_path, seed=7), FakeProvider(), SHAPE, claim, lambda _folder: None) as run:
        monkeypatch.setattr(run.traffic, "finish", lambda *, reads_back: reads.append(reads_back))
        run.verify([])
    assert reads == [expected]
