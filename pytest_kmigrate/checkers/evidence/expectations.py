"""Expectations that a run did not meet, and what was wrong with what was observed instead."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from pytest_kmigrate.model.event import Event, Recorded
from pytest_kmigrate.model.events.evidence import EndExpected, ExpectationEnded
from pytest_kmigrate.model.history import History

Speaking = TypeVar("Speaking")
Claim = ExpectationEnded | EndExpected
Unmet = Recorded[ExpectationEnded]

CLIENTS_SERVED = "clients are served"
"""The expectation of a test that waits for its clients."""


def claimed(history: History) -> list[Unmet]:
    """The expectations that the test claims; it only asked about the others."""
    return [event for event in history.of(ExpectationEnded) if event.what.kind]


def unmet(history: History) -> list[Unmet]:
    """The claimed expectations that did not come true."""
    return [event for event in claimed(history) if not event.what.met]


def with_one_unmet(history: History) -> list[tuple[Unmet, History]]:
    """Each expectation that did not come true, with the run as if the others had not been asked for."""
    wrong = unmet(history)
    return [(event, _without(history, [each for each in wrong if each is not event])) for event in wrong]


def _without(history: History, left_out: Sequence[Event]) -> History:
    kept = [event for event in history.events if not any(event is each for each in left_out)]
    return replace(history, events=kept)


def claims_of(history: History, event: Recorded[Claim]) -> Sequence[str]:
    """The requirements an expectation speaks for: those it names, or what its test claims and no expectation names."""
    if own := event.what.requirements:
        return own
    named = {each for other in history.of(ExpectationEnded, EndExpected) for each in other.what.requirements or ()}
    return [each for each in history.header.requirements if each not in named]


def by_requirement(
    history: History, expectations: Iterable[tuple[Recorded[Claim], Speaking]]
) -> dict[str, list[Speaking]]:
    """What speaks for each requirement; each is given with the expectation that says for which."""
    speaking = defaultdict[str, list[Speaking]](list)
    for event, each in expectations:
        for requirement in claims_of(history, event):
            speaking[requirement].append(each)
    return speaking


def lists_in(event: Unmet) -> tuple[list[object], list[object]] | None:
    """What was expected and observed, where both are lists."""
    expected, observed = event.what.expected, event.what.observed
    if isinstance(expected, list | tuple) and isinstance(observed, list | tuple):
        return list(expected), list(observed)
    return None


def lacking_members(event: Unmet) -> list[set[object]] | None:
    """What each observed list lacks of the expected one (in-sync replicas by partition, say); None: something else."""
    both = lists_in(event)
    if both is None or len(both[0]) != len(both[1]):
        return None
    pairs = [(_members(wanted), _members(seen)) for wanted, seen in zip(*both, strict=True)]
    lacking = [wanted - seen for wanted, seen in pairs if wanted and seen is not None and seen <= wanted]
    return lacking if len(lacking) == len(pairs) else None


def _members(value: object) -> set[object] | None:
    return set(value) if isinstance(value, list | tuple) else None
