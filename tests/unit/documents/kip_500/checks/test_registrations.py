"""Check of the epochs of brokers that start again: by the logs of nodes and by images, and what is none of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_500.checks.registrations import brokers_come_again_with_a_larger_epoch as check
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, history

Record = Mapping[str, Any]


def registered(offset: int, epoch: int, process: str, broker: int = 0) -> Record:
    """A process of a broker is registered."""
    data = {"brokerId": broker, "incarnationId": process, "brokerEpoch": epoch, "fenced": True}
    return {"offset": offset, "type": "REGISTER_BROKER_RECORD", "version": 3, "data": data}


def read(records: Sequence[Record] | None, node: str = "controller-3000") -> Event:
    """What a node has at the end."""
    return event(EventKind.RAFT_LOG, 9_000, node, batches=[[0, 90, 1, 7, None]], announced=records)


def ended(*records: Record, inherited: int = -1) -> History:
    """A run at the end of which two nodes have these records; those up to an offset are from before it."""
    made = history(events=[read(records), read(records, "broker-0")])
    return replace(made, header=replace(made.header, extra={"checkpoint": {"log_offset": inherited}}))


def pictured(*records: Record) -> History:
    """A run with an image of the metadata log, whose folder is older than what nodes have at the end."""
    image = MetadataImage("metadata-log", extra={"announced": records, "last_offset": 90})
    taken = event(EventKind.SNAPSHOT, 5_000, label="log", file="metadata/log.json")
    return history(events=[taken, read(None)], images={"log": image})


FIRST, OTHER = registered(10, 10, "a"), registered(20, 20, "x", broker=1)
AGAIN = registered(60, 60, "b")


@pytest.mark.parametrize("of", [ended, pictured])
def test_a_larger_epoch_conforms(of: Any) -> None:
    """Conforming: each broker that came again, once, however many logs have it."""
    verdict = check.judge(of(FIRST, OTHER, AGAIN, registered(70, 70, "c")))
    assert (verdict.outcome, verdict.about[0].seen) == (Outcome.CONFORMS, 2)
    assert verdict.summary == "2 registrations of brokers that started again, each with a larger epoch"


@pytest.mark.parametrize("of", [ended, pictured])
@pytest.mark.parametrize("epoch", [10, 9, 0])
def test_an_epoch_that_does_not_rise_violates(of: Any, epoch: int) -> None:
    """Violating: the same as before, or a smaller one; once, however many logs have it."""
    verdict = check.judge(of(FIRST, OTHER, registered(60, epoch, "b")))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    (found,) = verdict.violations
    assert found.expected == "broker 0 starts again with a larger epoch than 10"
    assert found.observed.startswith(f"it is registered with {epoch} at offset 60")


def test_all_epochs_are_one() -> None:
    """Violating: as of controllers that give 0 to each; a third process is compared with both before it."""
    verdict = check.judge(ended(*(registered(at, 0, process) for at, process in ((10, "a"), (60, "b"), (70, "c")))))
    assert verdict.count == 2
    verdict = check.judge(ended(FIRST, AGAIN, registered(70, 30, "c")))
    assert [each.expected for each in verdict.violations] == ["broker 0 starts again with a larger epoch than 60"]


@pytest.mark.parametrize(
    "run",
    [
        ended(),
        ended(FIRST, OTHER),
        ended(FIRST, registered(60, 10, "a")),
        ended(FIRST, registered(60, 10, "b", broker=1)),
        ended(FIRST, registered(60, 0, "b"), inherited=60),
        history(events=[read(None)]),
        history(),
    ],
    ids=["no broker", "once", "the same process", "another broker", "before the run", "an older folder", "no log"],
)
def test_without_a_broker_that_came_again_nothing_is_proved(run: History) -> None:
    """Vacuous: and such a run is not judged by it unless a test wants that."""
    assert check.judge(run).is_vacuous
    assert check.in_every_run is not None
    assert not check.in_every_run(run)


def test_a_process_that_registers_again_after_another_one_is_none_that_started() -> None:
    """It keeps its epoch, which the other one's need not be above."""
    verdict = check.judge(ended(FIRST, AGAIN, registered(70, 10, "a")))
    assert (verdict.outcome, verdict.about[0].seen) == (Outcome.CONFORMS, 1)


def test_logs_of_controllers_that_were_emptied_are_not_read_at_the_end() -> None:
    """What nodes have then may be of two logs."""
    node = "controller-3000"
    emptied = [
        event(EventKind.NODE_STARTED, 0, node, role="controller"),
        event(EventKind.NODE_WIPED, 100, node),
    ]
    assert check.judge(history(events=[*emptied, read([FIRST, registered(60, 0, "b")])])).is_vacuous
