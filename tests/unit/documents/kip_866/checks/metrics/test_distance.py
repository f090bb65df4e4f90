"""Check that the lag is the distance between what is committed and what ZooKeeper holds."""

import json

import pytest

from pytest_kmigrate.documents.kip_866.checks.metrics.distance import lag_is_the_distance as check
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History, Sample, ZnodeChange
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import event, history, sample, znode
from tests.unit.documents.kip_866.checks.nodes import controller


def place(at_ms: int, offset: int, number: int = 3000) -> ZnodeChange:
    """``/migration`` holds this offset from then on."""
    return znode(at_ms, "/migration", json.dumps({"kraft_metadata_offset": offset, "kraft_controller_id": number}))


def reported(lag: float | None, committed: float = 200, *, active: float = 1, count: int = 5) -> list[Sample]:
    """A controller reports this, each 500 ms from 10 s on."""
    values = {"ZkWriteBehindLag": lag, "LastCommittedRecordOffset": committed, "ActiveControllerCount": active}
    return [sample(10_000 + 500 * number, "controller-3000", **values) for number in range(count)]


def run(samples: list[Sample], *places: ZnodeChange, kafka: str = "3.9.1") -> History:
    """The controller was active for a while, and wrote 100 to ``/migration`` after 2 s, or what is given."""
    before = sample(1_000, "controller-3000", ZkWriteBehindLag=0, LastCommittedRecordOffset=90, ActiveControllerCount=1)
    znodes = places or (place(2_000, 100),)
    return history(events=[controller()], samples=[before, *samples], znodes=znodes, kafka=kafka)


@pytest.mark.parametrize("lag", [98, 100, 102])
def test_a_lag_that_is_the_distance_conforms(lag: float) -> None:
    """Conforming: what is read is of no one moment."""
    assert check.judge(run(reported(lag))).outcome is Outcome.CONFORMS


@pytest.mark.parametrize("lag", [0, 97, 103])
def test_any_other_lag_violates(lag: float) -> None:
    """Violating: in three samples in a row; two prove nothing."""
    verdict = check.judge(run(reported(lag)))
    assert verdict.outcome is Outcome.VIOLATES
    assert verdict.violations[0].expected == "ZkWriteBehindLag is 100"
    assert verdict.violations[0].observed.startswith(
        f"controller-3000 reports {lag} in 3 samples in a row (11.0 s after"
    )
    assert check.judge(run(reported(lag, count=2))).is_vacuous


def test_while_the_offset_changes_each_distance_of_that_time_conforms() -> None:
    """Conforming: between the former and the next one."""
    moving = (place(2_000, 100), place(10_500, 150), place(11_500, 190))
    assert check.judge(run(reported(60), *moving)).outcome is Outcome.CONFORMS
    assert check.judge(run(reported(5), *moving)).outcome is Outcome.VIOLATES


def test_what_was_written_before_an_outage_is_seen_when_it_is_over() -> None:
    """Conforming: 110 stood there while it could not be read, between 100 and the 112 that was seen next."""
    outage = (place(2_000, 100), place(60_000, 112))
    assert check.judge(run(reported(90), *outage)).outcome is Outcome.CONFORMS
    assert check.judge(run(reported(80), *outage)).outcome is Outcome.VIOLATES


def test_the_offset_at_the_end_of_the_copy_is_not_of_dual_write() -> None:
    """Vacuous: ZooKeeper still gets what was copied, for as long as controllers are slow. Violating: it writes on."""
    copied = (place(1_500, -1), place(2_000, 100))
    assert check.judge(run(reported(0, count=3), *copied)).is_vacuous
    assert check.judge(run(reported(0, count=3), *copied, place(3_000, 101))).outcome is Outcome.VIOLATES


def test_an_offset_that_stands_where_the_copy_ended_is_judged_after_ten_seconds() -> None:
    """Violating: dual write has begun by then, and the lag should grow. Conforming: it does."""
    copied = (place(1_500, -1), place(2_000, 100))
    assert check.judge(run(reported(0, count=12), *copied)).outcome is Outcome.VIOLATES
    assert check.judge(run(reported(100, count=12), *copied)).outcome is Outcome.CONFORMS
    assert check.judge(run(reported(0, count=12), place(1_500, -1), place(2_000, 100, 3001))).is_vacuous


@pytest.mark.parametrize(
    ("target", "healed_ms", "is_judged"),
    [
        ("zookeeper-1", 30_000, False),
        ("controller-3000", 30_000, False),
        ("controller-3001", 30_000, True),
        ("broker-1", 30_000, True),
        ("zookeeper-1", 1_900, True),
        ("zookeeper-1", 2_300, True),
        ("zookeeper-1", None, False),
    ],
)
def test_ten_seconds_say_nothing_where_a_fault_keeps_the_copy_from_zookeeper(
    target: str, healed_ms: int | None, *, is_judged: bool
) -> None:
    """Vacuous: the sync of what was copied waits for ZooKeeper. Any other fault, or 10 s later: it is over."""
    fault = [
        event(EventKind.FAULT_BEGAN, 1_600, fault="kill(x)", fault_id="1", effect="kill", trigger="now"),
        event(EventKind.FAULT_APPLIED, 1_700, fault_id="1", targets=[target]),
    ]
    if healed_ms is not None:
        fault.append(event(EventKind.FAULT_HEALED, healed_ms, fault_id="1", fault="kill(x)"))
    seen = run(reported(0, count=12), place(1_500, -1), place(2_000, 100))
    verdict = check.judge(history(events=[controller(), *fault], samples=seen.samples, znodes=seen.znodes))
    assert verdict.outcome is (Outcome.VIOLATES if is_judged else Outcome.INCONCLUSIVE)


def test_elected_again_a_controller_is_judged_from_its_next_write_on() -> None:
    """Conforming: it reports how far it is from what it wrote when it was active before. Violating: it goes on so."""
    between = [sample(8_000, "controller-3000", ActiveControllerCount=0)]
    others = (place(2_000, 100), place(8_500, 195, number=3001))
    assert check.judge(run([*between, *reported(100)], *others)).outcome is Outcome.INCONCLUSIVE
    written = (*others, place(11_000, 198))
    assert check.judge(run([*between, *reported(100, count=6)], *written)).is_vacuous
    assert check.judge(run([*between, *reported(100, count=9)], *written)).outcome is Outcome.VIOLATES
    assert check.judge(run(reported(100), *others)).outcome is Outcome.VIOLATES


@pytest.mark.parametrize(
    "there",
    [
        run(reported(0), place(2_000, -1)),
        run(reported(0), place(500, 100, number=3001), place(2_000, 100)),
        run(reported(0), place(2_000, 100, number=3001)),
        run(reported(0, active=0)),
        run(reported(None)),
        run([], place(2_000, 100)),
        history(),
    ],
    ids=["no offset yet", "only its claim", "it never wrote", "not active", "no lag", "no sample", "nothing"],
)
def test_before_its_first_write_a_controller_may_report_none(there: History) -> None:
    """Vacuous."""
    assert check.judge(there).outcome is Outcome.INCONCLUSIVE


def test_a_release_without_the_metric_is_not_judged() -> None:
    """Not applicable."""
    assert check.judge(run(reported(0), kafka="3.5.2")).outcome is Outcome.NOT_APPLICABLE
