"""Check of the time that a copy takes: conforming, violating, and where nothing can be said of it."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.copying.proportion import copy_takes_time_in_proportion as check
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome
from pytest_kmigrate.probes.metadata_replay import image_from_records
from tests.unit.checkers.histories import MS, event, fault, history, phase, sent, snapshot, znode
from tests.unit.documents.kip_866.checks.migrated import CLAIM
from tests.unit.probes.real_data import records

CLAIMED_MS = 10_000
IMAGE = image_from_records(records("3.9.1"))
"""Of a log whose copy has 36 records."""
HELD = fault(9_000, "hold(a controller at long-copy)")


def copied(took_ms: int, *events: Event, silent_ms: int = 0, claimed: bool = True) -> History:
    """A copy that took so long while a record was written each second, but for the last part of it."""
    until_ms = CLAIMED_MS + took_ms
    rows = [
        sent(number, began_ns=at * MS, ended_ns=at * MS)
        for number, at in enumerate(range(0, until_ms + 10_000, 1_000))
        if not until_ms - silent_ms < at <= until_ms
    ]
    if silent_ms:
        rows.append(sent(len(rows), began_ns=(until_ms - silent_ms // 2) * MS, ended_ns=(until_ms + 5_000) * MS))
    states = [phase(0, "PREPARING"), phase(until_ms, "HYBRID"), snapshot(until_ms + 5_000, "after-log")]
    znodes = [znode(CLAIMED_MS, "/controller", CLAIM)] if claimed else []
    return history(rows, events=[*states, *events], znodes=znodes, images={"after-log": IMAGE})


@pytest.mark.parametrize(
    "there",
    [copied(500), copied(15_000), copied(15_500), copied(40_000, *HELD)],
    ids=["at once", "slowly", "as slowly as it may", "held, and served"],
)
def test_a_copy_that_takes_its_time_conforms(there: History) -> None:
    """Conforming: by its records, and where it was held by the writes meanwhile."""
    assert check.judge(there).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    ("there", "observed"),
    [
        (copied(17_000), "it took 17.0 s"),
        (copied(9_000, silent_ms=6_000), "none was for 6.0 s"),
        (copied(20_000, *HELD, silent_ms=12_000), "none was for 12.0 s"),
    ],
    ids=["too slowly", "not served", "held, and not served"],
)
def test_a_copy_that_takes_too_long_or_stops_clients_violates(there: History, observed: str) -> None:
    """Violating: it is about liveness."""
    verdict = check.judge(there)
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.violations[0].observed.startswith(observed)


def endless(for_ms: int, *events: Event) -> History:
    """A copy that was under way for so long when the run ended; no image was taken of it."""
    active = event(EventKind.ACTIVE_CONTROLLER, CLAIMED_MS + 200, "controller-3000")
    states = [phase(0, "PREPARING"), phase(CLAIMED_MS, "COPYING"), active]
    last = event(EventKind.RAFT_LOG, CLAIMED_MS + for_ms)
    return history(events=[*states, *events, last], znodes=[znode(CLAIMED_MS, "/controller", CLAIM)])


def test_a_copy_without_an_end_violates() -> None:
    """It is asked for also where no image shows anything, since nothing came of the copy."""
    assert check.in_every_run is not None
    assert check.in_every_run(endless(121_000))
    verdict = check.judge(endless(121_000))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.violations[0].observed.startswith("it did not within 121 s")
    assert verdict.violations[0].expected == "the copy comes to its end within 120 s"


@pytest.mark.parametrize(
    "there",
    [
        endless(119_000),
        endless(150_000, *fault(9_000, "hold(a controller at long-copy)")),
        endless(150_000, event(EventKind.NODE_DIED, 20_000, "controller-3000", exit_code=1)),
        endless(150_000, event(EventKind.ACTIVE_CONTROLLER, 30_000, "controller-3001")),
        endless(150_000, event(EventKind.START_CONDITION, 5, path="/brokers/topics/a", data="no JSON")),
        endless(150_000, phase(140_000, "HYBRID")),
    ],
    ids=["not for long", "held", "a node died", "another controller", "a znode that cannot be read", "it ended"],
)
def test_a_copy_that_may_still_end_or_was_kept_from_it_says_nothing(there: History) -> None:
    """Who keeps it from its end is judged elsewhere."""
    assert check.in_every_run is not None
    assert not check.in_every_run(there)
    assert check.judge(there).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "there",
    [
        copied(40_000, *fault(9_000, "kill(active-controller)")),
        copied(500, *HELD),
        copied(500, claimed=False),
        replace(copied(500), header=replace(copied(500).header, extra={"checkpoint": {"log_offset": 60, "zxid": 7}})),
        replace(copied(500), images={}),
    ],
    ids=["a fault", "held for a moment", "no claim", "from a checkpoint", "no image"],
)
def test_a_copy_that_was_disturbed_or_not_seen_says_nothing(there: History) -> None:
    """Vacuous."""
    assert check.judge(there).outcome is Outcome.INCONCLUSIVE
