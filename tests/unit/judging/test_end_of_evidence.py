"""A run is judged before its end is recorded, and again afterwards: both find the same."""

from pathlib import Path

import pytest

import pytest_kmigrate
from pytest_kmigrate.documents.kip_866.checks.transactions.left_alone import provisioning_leaves_zookeeper_alone
from pytest_kmigrate.model.event import EventKind
from tests.unit.checkers.histories import event, history
from tests.unit.documents.kip_866.checks.transactions.logged import run

PACKAGE = Path(pytest_kmigrate.__file__).parent
LAST, ENDED = event(EventKind.WORKLOAD_ENDED, 20_000), event(EventKind.RUN_ENDED, 20_600)


def test_the_end_of_the_run_is_no_evidence() -> None:
    """The last event before it is."""
    assert history(events=[LAST]).end_ns == history(events=[LAST, ENDED]).end_ns == LAST.at_ns
    assert history(events=[]).end_ns == 0


def test_a_quorum_that_never_took_over_was_there_as_long_when_judged_again() -> None:
    """A test that was interrupted asked for no checks; its evidence ended where the run was judged."""
    live, again = (
        provisioning_leaves_zookeeper_alone.judge(run(before=[], events=events)) for events in ([LAST], [LAST, ENDED])
    )
    assert live.summary == again.summary


@pytest.mark.parametrize("room", ["checkers", "documents"])
def test_no_check_takes_the_last_event_for_the_end(room: str) -> None:
    """It is another one when the run is judged again: ``History.end_ns`` is the same."""
    wrong = [file for file in (PACKAGE / room).rglob("*.py") if "history.events[-1]" in file.read_text()]
    assert wrong == []
