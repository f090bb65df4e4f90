"""Checks of a migration's metrics: against the metadata log, and while ZooKeeper is away."""

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.checks.metrics.migration_metrics import (
    migration_metrics_agree_with_the_log,
    zookeeper_lag_grows_and_falls_back,
)
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Sample, ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Outcome
from pytest_kmigrate.probes.metadata_replay import image_from_records
from tests.unit.checkers.histories import event, history, sample, snapshot, znode
from tests.unit.documents.kip_866.checks.outcomes import looked_at
from tests.unit.documents.kip_866.checks.znodes.test_controller_znodes import place
from tests.unit.probes.real_data import records

ROLES = {
    "zookeeper-1": "zookeeper",
    "broker-0": "broker",
    "controller-3000": "controller",
    "controller-3001": "controller",
}
STARTED = [event(EventKind.NODE_STARTED, 0, name, role=role) for name, role in ROLES.items()]
LOG = image_from_records(records("3.9.1"))  # MIGRATION, with two brokers in migration mode


def active(at_ms: int, state: float | None = 1, brokers: float | None = 2, **more: Any) -> Sample:
    """What the active controller reports."""
    values = {"ActiveControllerCount": 1, "ZkMigrationState": state, "MigratingZkBrokerCount": brokers, **more}
    return sample(at_ms, "controller-3000", **values)


def compared(samples: Sequence[Sample], kafka: str = "3.9.1") -> History:
    """A run whose log was read from 9.5 to 10 s."""
    events = [*STARTED, snapshot(10_000, "copied-log")]
    return history(events=events, samples=samples, images={"copied-log": LOG}, kafka=kafka)


NEAR_MS = (8_500, 9_000, 9_500, 10_000, 11_000)


def test_metrics_that_say_what_the_log_holds_conform() -> None:
    """Conforming: the state by its name, and the brokers that are registered in migration mode, one of them fenced."""
    verdict = migration_metrics_agree_with_the_log.judge(compared([active(at) for at in NEAR_MS]))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary == "2 metrics compared with the metadata log, all as it holds them"


@pytest.mark.parametrize(
    "around",
    [{"state": 2}, {"brokers": 1}, {"state": -1}, {"brokers": None}],
    ids=["not begun yet", "a broker has joined", "no image yet", "no answer yet"],
)
def test_samples_of_before_and_after_a_change_may_differ(around: dict[str, float | None]) -> None:
    """A sample is an instant, and the log was read at another: it is enough that one of them agrees."""
    samples = [active(8_500, **around), active(9_000, **around), active(9_700), active(11_500, **around)]
    assert migration_metrics_agree_with_the_log.judge(compared(samples)).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    ("values", "expected", "observed"),
    [
        ({"state": 2}, "ZkMigrationState of the active controller is MIGRATION", "it was PRE_MIGRATION, "),
        ({"state": 9}, "ZkMigrationState of the active controller is MIGRATION", "it was the number 9, "),
        ({"brokers": 0}, "MigratingZkBrokerCount of the active controller is 2", "it was 0, "),
        ({"brokers": None}, "MigratingZkBrokerCount of the active controller is 2", "it was nothing, "),
    ],
)
def test_metrics_that_never_say_what_the_log_holds_violate(
    values: dict[str, float | None], expected: str, observed: str
) -> None:
    """Violating: another state, another number, or no metric at all on a release that has it."""
    verdict = migration_metrics_agree_with_the_log.judge(compared([active(at, **values) for at in NEAR_MS]))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    reported = verdict.violations[0]
    assert (reported.expected, reported.evidence[0]) == (expected, "metadata/copied-log.json")
    assert reported.observed.startswith(observed)
    metric = expected.partition(" ")[0]
    assert [each.requirement for each in verdict.about if each.outcome is Outcome.VIOLATES] == [f"K866-METRIC-{metric}"]
    assert [each.outcome for each in verdict.about].count(Outcome.CONFORMS) == 1


def test_what_a_standby_or_a_broker_reports_counts_for_nothing() -> None:
    """Neither does what the active controller said long before, nor two samples: there is nothing to compare."""
    standby = [sample(at, "controller-3001", ActiveControllerCount=0, ZkMigrationState=2) for at in NEAR_MS]
    broker = [sample(at, "broker-0", ActiveControllerCount=1, ZkMigrationState=4) for at in NEAR_MS]
    early = [active(at - 5_000, state=2) for at in NEAR_MS]
    few = [active(at, state=2) for at in NEAR_MS[:2]]
    verdict = migration_metrics_agree_with_the_log.judge(compared([*early, *standby, *broker, *few]))
    assert verdict.outcome is Outcome.NOT_APPLICABLE


def test_a_run_without_an_image_of_the_log_shows_nothing() -> None:
    """Vacuous: there is nothing to compare with."""
    verdict = migration_metrics_agree_with_the_log.judge(history(samples=[active(at) for at in NEAR_MS]))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_a_release_is_not_asked_for_what_it_lacks() -> None:
    """Before 3.6 migrating brokers are not counted; the state is there from 3.5 on, and compared; 4.0 has neither."""
    silent = [active(at, brokers=None) for at in NEAR_MS]
    nothing = [active(at, state=None, brokers=None) for at in NEAR_MS]
    assert migration_metrics_agree_with_the_log.judge(compared(nothing, "4.0.0")).outcome is Outcome.NOT_APPLICABLE
    state_only = migration_metrics_agree_with_the_log.judge(compared(silent, "3.5.2"))
    assert (state_only.outcome, state_only.requirements) == (
        Outcome.CONFORMS,
        ("K866-METRIC-ZkMigrationState",),
    )
    assert migration_metrics_agree_with_the_log.judge(compared(silent, "3.6.2")).outcome is Outcome.VIOLATES
    wrong = [active(at, state=2, brokers=None) for at in NEAR_MS]
    assert migration_metrics_agree_with_the_log.judge(compared(wrong, "3.5.2")).outcome is Outcome.VIOLATES


CUT = ("controller-3000", "zookeeper-1")
WRITTEN_BEFORE = [znode(9_000, "/migration", "{}")]


def outage(
    lags: dict[int, float | None], *targets: str, state: float = 1, more: Sequence[Event] = (), **evidence: Any
) -> History:
    """ZooKeeper is out of reach from 10 to 20 s, by a fault of these targets; lags by the second they were read in."""
    events = [
        *STARTED,
        event(EventKind.FAULT_APPLIED, 10_000, fault_id="fault-1", targets=[*targets]),
        event(EventKind.FAULT_HEALED, 20_000, fault_id="fault-1"),
        event(EventKind.CHECKS, 90_000),
        *more,
    ]
    samples = [active(at_s * 1_000, state, ZkWriteBehindLag=lag) for at_s, lag in lags.items()]
    return history(events=events, samples=samples, **{"znodes": WRITTEN_BEFORE, **evidence})


GROWN: dict[int, float | None] = {9: 0, 11: 0, 13: 2, 15: 6, 17: 9, 19: 14, 21: 15}


@pytest.mark.parametrize("targets", [CUT, ("zookeeper-1",)], ids=["cut", "killed"])
def test_a_lag_that_grows_and_falls_back_conforms(targets: tuple[str, ...]) -> None:
    """Conforming: reported with how far ZooKeeper was behind, and how long it took to catch up."""
    verdict = zookeeper_lag_grows_and_falls_back.judge(outage({**GROWN, 23: 1, 24: 3}, *targets))
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary == "ZooKeeper was 14 records behind, and had caught up 3.0 s later"


@pytest.mark.parametrize("lag", [0, -1])
def test_a_lag_that_shows_no_outage_violates(lag: float) -> None:
    """Violating: ZooKeeper was away for long, and the metric never said so."""
    verdict = zookeeper_lag_grows_and_falls_back.judge(outage(dict.fromkeys(GROWN, lag), *CUT))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.SAFETY)


def taken_over(at_ms: int) -> Event:
    """Another controller is active."""
    return event(EventKind.ACTIVE_CONTROLLER, at_ms, controller="controller-3001")


@pytest.mark.parametrize(
    "more",
    [[], [taken_over(30_000)]],
    ids=["given up", "taken over"],
)
def test_a_lag_that_never_falls_back_violates(more: list[Event]) -> None:
    """Violating: it goes on growing, whether the same controller is active or another."""
    never = outage({**GROWN, 40: 50, 60: 90}, *CUT, more=more)
    verdict = zookeeper_lag_grows_and_falls_back.judge(never)
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.violations[0].observed == "it was 15 at least, and 90 40.0 s later"


@pytest.mark.parametrize(
    ("znodes", "outcome"),
    [(WRITTEN_BEFORE, Outcome.VIOLATES), ([*WRITTEN_BEFORE, znode(35_000, "/migration", "{}")], Outcome.CONFORMS)],
    ids=["given up", "written"],
)
def test_a_lag_that_falls_back_though_nothing_is_written_violates(znodes: list[ZnodeChange], outcome: Outcome) -> None:
    """Violating: the gauge is 0 again, and the same controller has not written to ZooKeeper since it is back."""
    verdict = zookeeper_lag_grows_and_falls_back.judge(outage({**GROWN, 23: 0, 52: 0}, *CUT, znodes=znodes))
    assert verdict.outcome is outcome
    if outcome is Outcome.VIOLATES:
        assert verdict.violations[0].observed == "it is 1 at most, and /migration was not written any more up to 52.0 s"


@pytest.mark.parametrize(
    "run",
    [
        outage(dict.fromkeys(GROWN, 0)),
        outage(dict.fromkeys(GROWN, 0), "broker-0", "zookeeper-1"),
        outage(dict.fromkeys(GROWN, 0), *CUT, more=[event(EventKind.NODE_STARTED, 0, "zookeeper-2", role="zookeeper")]),
        outage(dict.fromkeys(GROWN, 0), *CUT, znodes=[znode(15_000, "/migration", "{}")]),
        outage(dict.fromkeys(GROWN, 0), *CUT, znodes=[]),
        outage(dict.fromkeys(GROWN, 0), *CUT, state=2),
        outage(dict.fromkeys(GROWN, 0), *CUT, more=[taken_over(11_000)]),
        outage(dict.fromkeys(GROWN, 0), *CUT, znodes=[*WRITTEN_BEFORE, znode(9_900, "/controller", "{}")]),
        outage({9: 0, 19: 0, 21: 0}, *CUT),
        outage(dict.fromkeys(GROWN), *CUT),
        outage({**GROWN, 40: 14}, *CUT),
    ],
    ids=[
        "no targets",
        "a broker",
        "not all of it",
        "written",
        "never written",
        "no dual write yet",
        "taken over",
        "not written since it took over",
        "few samples",
        "no lag",
        "the run ended soon",
    ],
)
def test_what_was_no_outage_or_not_seen_is_inconclusive(run: History) -> None:
    """Inconclusive: the controller could write, there was no sample, or the run was over too soon."""
    verdict = zookeeper_lag_grows_and_falls_back.judge(run)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_a_release_without_the_lag_is_not_judged() -> None:
    """Before 3.6 there is no such metric."""
    verdict = zookeeper_lag_grows_and_falls_back.judge(outage(GROWN, *CUT, kafka="3.5.2"))
    assert verdict.outcome is Outcome.NOT_APPLICABLE


def mirrored(
    state: float | None = 0,
    *,
    until_ms: int = 40_000,
    written_ms: Sequence[int] = (15_000, 20_000, 25_000, 30_000),
    by: int = 3000,
    step: int = 1,
    first: int = 200,
    changes_ms: int | None = None,
    kafka: str = "3.9.1",
) -> History:
    """A controller reports this state from 10 s on (from ``changes_ms`` on, MIGRATION), and writes to /migration."""
    states = {at: 1 if changes_ms is not None and at >= changes_ms else state for at in range(10_000, until_ms, 1_000)}
    places = [place(at, first + step * number, controller=by) for number, at in enumerate(written_ms)]
    return history(
        events=STARTED, samples=[active(at, each) for at, each in states.items()], znodes=places, kafka=kafka
    )


@pytest.mark.parametrize(("state", "name"), [(0, "NONE"), (2, "PRE_MIGRATION"), (9, "the number 9")])
def test_a_state_in_which_no_controller_writes_violates(state: float, name: str) -> None:
    """Violating without any image: what it writes to ZooKeeper shows what its log holds."""
    check, there = migration_metrics_agree_with_the_log, mirrored(state)
    assert check.in_every_run is not None
    assert check.in_every_run(there)
    verdict = check.judge(there)
    assert looked_at(verdict) == {"METRIC-ZkMigrationState": "VIOLATES"}
    assert verdict.violations[0].observed.startswith(f"it was {name} for 27.0 s, in which /migration got 4 offsets (")


@pytest.mark.parametrize(
    "there",
    [
        mirrored(1),
        mirrored(None),
        mirrored(until_ms=30_000),
        mirrored(changes_ms=28_000),
        mirrored(written_ms=(15_000, 20_000)),
        mirrored(written_ms=(1_000, 2_000, 3_000, 4_000)),
        mirrored(step=0),
        mirrored(first=-1, step=0),
        mirrored(by=3001),
        mirrored(kafka="3.4.1"),
    ],
    ids=["right", "nothing", "not for long", "changed", "twice", "before", "no progress", "no copy", "another", "3.4"],
)
def test_a_state_that_nothing_contradicts_says_nothing(there: History) -> None:
    """The metric alone proves nothing, nor does the znode."""
    assert migration_metrics_agree_with_the_log.in_every_run is not None
    assert not migration_metrics_agree_with_the_log.in_every_run(there)
    assert migration_metrics_agree_with_the_log.judge(there).outcome is Outcome.INCONCLUSIVE
