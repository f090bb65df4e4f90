"""Facts about runs whose harness died: what is missing of their evidence is never held against Kafka."""

from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pytest_kmigrate.checkers.run.losses import loss_of, until_loss
from pytest_kmigrate.judging.interrupted import TAIL_S, without_its_tail
from pytest_kmigrate.judging.judge import judged, read_to_judge
from pytest_kmigrate.judging.rejudge import judge_again
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.operations import OperationKind
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.recording.reading import read_history, torn_streams
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.still_folder import StillFolder
from tests.killed import killed
from tests.unit.checkers.histories import MS
from tests.unit.judging.coherence.honest_runs import honest_run
from tests.unit.reports.recorded_runs import RecordedRun, faulty_run

DEATHS = 100
_ROWS = 8


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """An honest run with parts as its clients close them: what was done, every now and then, and the final read."""
    folder = honest_run(tmp_path_factory.mktemp("honest"))
    (part,) = folder.operations.glob("*.parquet")
    rows = pq.read_table(part).sort_by("ended_ns")
    part.unlink()
    is_final = pa.compute.equal(rows["kind"], int(OperationKind.FINAL_READ))
    done = rows.filter(pa.compute.invert(is_final))
    for number in range(0, len(done), _ROWS):
        pq.write_table(done.slice(number, _ROWS), folder.operations / f"clients-{number // _ROWS + 1:06d}.parquet")
    pq.write_table(rows.filter(is_final), folder.operations / "clients-reader-3-000001.parquet")
    return folder


@pytest.mark.slow
def test_no_death_of_the_harness_is_held_against_kafka(run: RunFolder, tmp_path: Path) -> None:
    """At seeded moments, alone or with its machine, which tears lines: nothing is violated, and nothing conforms."""
    torn = set[str]()
    for seed in range(DEATHS):
        copy = RunFolder(tmp_path / f"{seed}")
        killed(run, copy.path, Random(seed))
        torn |= {*torn_streams(copy)}
        verdicts = judged(read_to_judge(StillFolder(copy.path)))
        assert {each.outcome for each in verdicts} <= {Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE}, seed
    assert torn == {"history.jsonl", "metrics/metrics.jsonl", "znodes/znodes.jsonl"}


def test_what_was_violated_long_before_the_death_stands(tmp_path: Path) -> None:
    """As what a test found wrong; what came in the last seconds may have an answer that is not on the disk."""
    wrong = ExpectationEnded("topics", 3, 2, met=False, kind="SAFETY", within_s=1, took_ms=1)
    for ended_ms, outcome in ((TAIL_S * 1000 + 4000, Outcome.VIOLATES), (6000, Outcome.INCONCLUSIVE)):
        made = faulty_run(tmp_path / f"{ended_ms}")
        made.recorder.now_ms = 2500
        made.recorder.record(wrong)
        made.at(ended_ms, EventKind.SETTLED)
        assert judge_again(made.cut_off().path).outcome is outcome


@pytest.mark.parametrize("is_sampled", [True, False])
def test_the_moment_is_as_early_as_the_first_stream_ends(tmp_path: Path, is_sampled: bool) -> None:
    """Nodes are asked for their metrics all the time, so that these end where the disk ended."""
    made = RecordedRun(tmp_path)
    for at_ms in (0, 20_000, 40_000, 60_000):
        made.at(at_ms, EventKind.SETTLED)
    if is_sampled:
        made.sample(50_000, "broker-0", ActiveControllerCount=1.0)
    history = without_its_tail(made.folder, read_history(made.cut_off()))
    loss = loss_of(history)
    assert loss is not None
    assert loss.at_ns == (20_000 if is_sampled else 30_000) * MS
    cut = until_loss(history)
    assert [each.at_ns for each in cut.events][-2:] == [20_000 * MS, loss.at_ns]
    assert until_loss(cut).events == cut.events


def test_a_live_run_lacks_nothing(tmp_path: Path) -> None:
    """It is judged before its end is recorded."""
    made = RecordedRun(tmp_path)
    made.at(10, EventKind.SETTLED)
    folder = made.cut_off()
    assert read_to_judge(folder, is_live=True).death is None
    assert read_to_judge(folder).death is not None
