"""Losses: the moment at which a run lost a part of the harness, and the run as it was until then."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pytest_kmigrate.model.event import Event, EventKind, Recorded, only
from pytest_kmigrate.model.events.evidence import HarnessTrouble, SnapshotTaken
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.operations import OperationOutcome, Operations

_ASKED = (EventKind.CHECKS, EventKind.NOT_OFFERED, EventKind.RUN_ENDED)
"""What a test asked for, and how it ended, is no evidence of the cluster."""


def loss_of(history: History) -> Recorded[HarnessTrouble] | None:
    """Return the first event by which a part of the harness was gone, or all of it; None if all parts lasted."""
    lost = [event for event in history.of(HarnessTrouble) if event.what.lost]
    lost += [history.death] if history.death else []
    return min(lost, key=lambda event: event.at_ns, default=None)


@kept
def until_loss(history: History) -> History:
    """Return the run up to the moment at which a part of the harness was lost; the whole run if none was.

    What the test asked for is kept, at that moment. An operation that was under way has an unknown outcome, and none
    began later. So nothing that was not done, or did not come, after that moment is Kafka's.
    """
    loss = loss_of(history)
    if loss is None:
        return history
    events = tuple(_until(history.events, loss))
    stored = {event.what.label for event in only(events, SnapshotTaken)}
    return replace(
        history,
        events=events,
        operations=_operations_until(history.operations, loss.at_ns),
        samples=[each for each in history.samples if each.at_ns <= loss.at_ns],
        znodes=[each for each in history.znodes if each.at_ns <= loss.at_ns],
        client_metadata=[each for each in history.client_metadata if each.at_ns <= loss.at_ns],
        transactions=[each for each in history.transactions if each.at_ns <= loss.at_ns],
        images={label: image for label, image in history.images.items() if label in stored},
    )


def _until(events: Sequence[Event], loss: Event) -> list[Event]:
    before = [event for event in events if event.seq <= loss.seq]
    asked = [event for event in events if event.seq > loss.seq and event.kind in _ASKED]
    noted = [] if loss in before else [loss]
    return [*before, *noted, *(replace(event, at_ns=loss.at_ns) for event in asked)]


def _operations_until(operations: Operations, at_ns: int) -> Operations:
    begun = operations.where(operations.began_ns <= at_ns)
    open_ = begun.ended_ns > at_ns
    return replace(
        begun,
        outcome=np.where(open_, np.int8(OperationOutcome.INDEFINITE), begun.outcome).astype(np.int8),
        ended_ns=np.minimum(begun.ended_ns, at_ns),
    )
