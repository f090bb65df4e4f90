"""Check that the offset in ``/migration`` follows the metadata log and is never ahead of it."""

import pytest

from pytest_kmigrate.documents.kip_866.checks.transactions.following import zookeeper_follows_the_log
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import Sample, Transaction
from tests.unit.checkers.histories import event, fault, sample
from tests.unit.documents.kip_866.checks.outcomes import looked_at
from tests.unit.documents.kip_866.checks.transactions.logged import (
    CHECKED,
    EPOCH,
    FIRST,
    SECOND,
    TOPIC,
    claim,
    logged,
    place,
    run,
)
from tests.unit.documents.kip_866.diagnoses.naming import named

ADVANCE, COMMITTED = "DW-offset-advance", "DW-committed-first"


def watermark(at_ms: int, value: float | None, active: float = 1) -> Sample:
    """What the controller reports."""
    return sample(at_ms, "controller-3000", ActiveControllerCount=active, RaftHighWatermark=value)


def test_writes_that_raise_the_offset_conform() -> None:
    """Conforming: each with the offset of its record."""
    writes = [logged(12_000 + at, FIRST, EPOCH, place(101 + at), TOPIC) for at in range(3)]
    assert looked_at(zookeeper_follows_the_log.judge(run(*writes))) == {ADVANCE: "CONFORMS"}


@pytest.mark.parametrize("conditions", [(EPOCH, place(100)), (EPOCH, CHECKED)])
def test_writes_that_leave_the_offset_violate_as_a_known_deviation(conditions: tuple[object, ...]) -> None:
    """Violating: one more write raises it afterwards."""
    history = run(logged(12_000, FIRST, *conditions, TOPIC), logged(12_100, FIRST, place(101)))  # type: ignore[arg-type]
    verdict = zookeeper_follows_the_log.judge(history)
    assert looked_at(verdict) == {ADVANCE: "VIOLATES"}
    assert verdict.violations[0].observed.startswith(
        "1 of 1 write leave the offset as it was, which 1 later ones raise; the first is zxid 0x2ee0"
    )
    assert named(history, verdict) == ("offset-written-after-its-batch",)


def standing(*between: Transaction) -> list[Transaction]:
    """One session writes for 40 s."""
    return sorted(
        [*(logged(at, FIRST, EPOCH, CHECKED, TOPIC) for at in (12_000, 30_000, 52_000)), *between], key=lambda t: t.zxid
    )


def test_a_batch_that_the_end_of_the_run_cut_short_proves_nothing() -> None:
    """Vacuous if the offset could still have come; half a second later it should have."""
    late = logged(12_000, FIRST, EPOCH, CHECKED, TOPIC)
    for end_ms, outcome in ((12_100, None), (12_600, "VIOLATES")):
        ended = run(late, events=[event(EventKind.CHECKS, end_ms)])
        assert looked_at(zookeeper_follows_the_log.judge(ended)).get("DW-offset-advance") == outcome


def test_an_offset_that_stands_still_while_writes_go_on_violates() -> None:
    """Violating, and not known."""
    history = run(*standing())
    verdict = zookeeper_follows_the_log.judge(history)
    assert verdict.violations[1].observed.startswith("offset 100 stays for 40.0 s of writes")
    assert named(history, verdict) == ()
    longer = run(*standing(*(logged(at, FIRST, EPOCH, CHECKED, TOPIC) for at in (70_000, 95_000))))
    assert zookeeper_follows_the_log.judge(longer).count == 2


@pytest.mark.parametrize(
    "history",
    [
        run(*standing(logged(40_000, FIRST, place(101)))),
        run(*standing(), events=fault(20_000)),
        run(*standing(claim(20_000, SECOND, 3001, 2), logged(25_000, SECOND, EPOCH, CHECKED, TOPIC))),
    ],
    ids=["raised", "a fault", "another session"],
)
def test_an_offset_that_has_a_reason_to_stand_does_not_violate_more(history: object) -> None:
    """Only the known deviation is left."""
    verdict = zookeeper_follows_the_log.judge(history)  # type: ignore[arg-type]
    assert len(verdict.violations) == 1


@pytest.mark.parametrize(("value", "outcome"), [(101, "CONFORMS"), (100, "VIOLATES")])
def test_an_offset_is_below_the_high_watermark(value: float, outcome: str) -> None:
    """Conforming and violating: 100 was put there at 11 s."""
    verdict = zookeeper_follows_the_log.judge(run(samples=[watermark(10_500, 90), watermark(11_500, value)]))
    assert looked_at(verdict) == {COMMITTED: outcome}


def test_what_a_new_leader_does_not_know_yet_hides_nothing() -> None:
    """Conforming and violating, by the next sample."""
    for value, outcome in ((101, "CONFORMS"), (100, "VIOLATES")):
        samples = [watermark(11_500, -1), watermark(12_000, value)]
        assert looked_at(zookeeper_follows_the_log.judge(run(samples=samples))) == {COMMITTED: outcome}


@pytest.mark.parametrize(
    "samples",
    [
        [watermark(14_000, 90)],
        [watermark(11_500, 90, active=0)],
        [watermark(11_500, None)],
        [watermark(11_500, -1)],
        [watermark(11_020, 90)],
        [],
    ],
    ids=["too late", "not active", "not reported", "not known to a new leader", "at the same time", "none"],
)
def test_without_a_high_watermark_soon_after_nothing_is_proved(samples: list[Sample]) -> None:
    """Vacuous."""
    assert not looked_at(zookeeper_follows_the_log.judge(run(samples=samples)))


@pytest.mark.parametrize(("offset", "outcome"), [(100, None), (101, "VIOLATES")], ids=["as it was", "raised"])
def test_an_offset_that_a_successor_found_there_says_nothing(offset: int, outcome: str | None) -> None:
    """Vacuous: what a former log had committed, the new one may not have; what is raised must be committed."""
    again = logged(20_100, SECOND, place(offset, 3001))
    reported = sample(20_600, "controller-3001", ActiveControllerCount=1, RaftHighWatermark=50)
    verdict = zookeeper_follows_the_log.judge(run(claim(20_000, SECOND, 3001, 2), again, samples=[reported]))
    assert looked_at(verdict).get(COMMITTED) == outcome
