"""Check that a copy is seen only when it has ended, on the real log of a migration and on what controllers show."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.checks.copying.copy_visibility import copy_shows_only_when_ended
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Outcome
from pytest_kmigrate.probes.metadata_replay import image_from_records
from tests.unit.checkers.histories import event, history, sample, snapshot
from tests.unit.probes.real_data import records

Log = list[dict[str, Any]]
REAL = records("3.9.1")  # the copy begins at offset 11, with a topic at 12, and ends at 55
BEGIN, END = (next(at for at, each in enumerate(REAL) if each["offset"] == of) for of in (11, 55))
ABORT = {"offset": 54, "type": "ABORT_TRANSACTION_RECORD", "version": 0, "data": {"reason": "Controller failover"}}
AGAIN = [{**each, "offset": each["offset"] + 50} for each in REAL[BEGIN:]]
ABORTED = [*REAL[: END - 1], ABORT, *AGAIN]  # the second copy has its first topic at 62 and ends at 105
STARTED = [event(EventKind.NODE_STARTED, 0, node, role="controller") for node in ("controller-3000", "controller-3001")]


def shows(
    *looks: tuple[float | None, float | None], node: str = "controller-3000", from_ms: int = 1_000
) -> list[Sample]:
    """What a controller shows every half second: high watermark, topics."""
    each = enumerate(looks)
    return [
        sample(from_ms + at * 500, node, RaftHighWatermark=hw, GlobalTopicCount=topics) for at, (hw, topics) in each
    ]


def run(*samples: Sample, log: Log = REAL, more: Sequence[Event] = ()) -> History:
    """A run whose log was read at the end."""
    events = [*STARTED, snapshot(60_000, "copied-log"), *more]
    return history(events=events, samples=samples, images={"copied-log": image_from_records(log)})


HELD = shows((12, 0), (54, 0), (54, 0), (54, 0), (54, 0), (55, 0), (60, 9))


def test_a_copy_that_shows_when_it_has_ended_conforms() -> None:
    """Conforming: topics are in the log, committed, and none is seen before the end is."""
    verdict = copy_shows_only_when_ended.judge(
        run(*HELD, *shows((40, 0), (40, 0), (54, 0), (90, 9), node="controller-3001"))
    )
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary == (
        "4 samples of 2 controllers with copied topics in the log and the copy not ended, none of which shows a topic"
    )


def test_a_copy_that_came_with_a_checkpoint_says_nothing() -> None:
    """Vacuous: a controller that reads such a log again may show topics before it knows how much is committed."""
    made = run(*shows((12, 0), (54, 5), (54, 5), (60, 9)))
    assert copy_shows_only_when_ended.judge(made).outcome is Outcome.VIOLATES
    cloned = replace(made, header=replace(made.header, extra={"checkpoint": {"log_offset": 60, "zxid": 7}}))
    verdict = copy_shows_only_when_ended.judge(cloned)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_an_aborted_copy_that_leaves_nothing_conforms() -> None:
    """Conforming: neither the first copy nor its abort lets a topic be seen, all through the second one."""
    verdict = copy_shows_only_when_ended.judge(
        run(*shows((54, 0), (54, 0), (55, 0), (58, 0), (105, 0), (106, 9)), log=ABORTED)
    )
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.facts["samples"] == 3


@pytest.mark.parametrize(
    ("log", "looks"),
    [
        (REAL, [(12, 0), (54, 0), (54, 9), (54, 9), (60, 9)]),
        (REAL, [(12, 0), (None, 1), (55, 9), (60, 9)]),
        (REAL, [(12, 0), (30, 4), (-1, 9), (40, 9)]),
        (ABORTED, [(54, 0), (54, 0), (55, 9), (58, 9), (120, 9)]),
    ],
    ids=["copied", "high watermark unknown", "a new leader", "left by the aborted one"],
)
def test_a_topic_that_is_seen_early_violates(log: Log, looks: list[tuple[float | None, float]]) -> None:
    """Violating: a high watermark that was read later says that the end was not committed yet."""
    verdict = copy_shows_only_when_ended.judge(run(*shows(*looks), *shows(*looks[:1], node="controller-3001"), log=log))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    end = 55 if log is REAL else 105
    assert verdict.violations[0].expected == f"no topic is seen before the copy ends (offset {end})"
    assert verdict.violations[0].observed.startswith("controller-3000 showed ")
    assert verdict.violations[0].evidence[:2] == ("metadata/copied-log.json", "metrics/metrics.jsonl")


@pytest.mark.parametrize("high_watermark", [55, -1, None])
def test_a_topic_seen_when_the_end_may_have_been_committed_is_none_seen_early(high_watermark: float | None) -> None:
    """A sample's values are read one after the other: its own high watermark proves nothing of its count."""
    verdict = copy_shows_only_when_ended.judge(run(*HELD[:5], *shows((high_watermark, 9), (56, 9), from_ms=3_500)))
    assert verdict.outcome is not Outcome.VIOLATES


def test_a_controller_that_is_started_again_reads_the_log_anew() -> None:
    """Its high watermark begins low, and says nothing of what the process before it showed."""
    samples = [*HELD, *shows((20, 0), (40, 0), (60, 9), from_ms=12_000)]
    restarted = event(EventKind.NODE_STARTED, 10_000, "controller-3000", role="controller")
    assert copy_shows_only_when_ended.judge(run(*samples, more=[restarted])).outcome is Outcome.CONFORMS
    assert copy_shows_only_when_ended.judge(run(*samples)).outcome is Outcome.VIOLATES


@pytest.mark.parametrize(
    "looked",
    [
        run(*shows((12, 0), (12, 0), (12, 0), (12, 0), (60, 9))),
        run(*shows((54, 0), (60, 0), (60, 9))),
        run(*shows((None, None), (None, None), (None, None))),
        run(*shows((54, None), (54, None), (54, None), (54, None), (54, None))),
        run(*HELD, more=[event(EventKind.NODE_STARTED, 0, "controller-3000", role="broker")]),
        run(*HELD, log=REAL[:END]),
        run(*HELD, log=[{**each, "snapshot": True} for each in REAL]),
        history(events=STARTED, samples=HELD),
    ],
    ids=["no topic yet", "quickly over", "old folder", "no count", "a broker", "not ended", "a snapshot", "no image"],
)
def test_a_copy_that_nobody_looked_into_is_inconclusive(looked: History) -> None:
    """Vacuous: there was no sample while topics lay in an open transaction, or the log does not show where they are."""
    verdict = copy_shows_only_when_ended.judge(looked)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_a_metadata_version_without_transactions_is_not_judged() -> None:
    """Not applicable: before 3.6-IV1 each record of the copy is seen as it comes."""
    older = [{**REAL[1], "data": {"name": "metadata.version", "featureLevel": 11}}, *REAL[BEGIN + 1 :]]
    assert copy_shows_only_when_ended.judge(run(*HELD, log=older)).outcome is Outcome.NOT_APPLICABLE


def test_each_life_of_the_log_has_offsets_of_its_own() -> None:
    """After a revert the offsets begin anew; what is judged by the second log is what was seen of it."""
    reverted = event(EventKind.STEP_ENDED, 5_000, step="deprovision-controllers", outcome="done")
    anew = event(EventKind.NODE_STARTED, 6_000, "controller-3000", role="controller")
    first = shows((54, 9), (54, 9), (54, 9), (54, 9))
    second = [replace(each, at_ns=each.at_ns + 6_000_000_000) for each in HELD]
    assert copy_shows_only_when_ended.judge(run(*first, *second, more=[reverted, anew])).outcome is Outcome.CONFORMS
