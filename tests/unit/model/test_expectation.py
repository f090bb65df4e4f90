"""Expectations as values: a diagnosis recognizes what a test asked for by the object that both import."""

from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.expectation import Expectation
from pytest_kmigrate.providers.bench import MemoryRecorder
from pytest_kmigrate.running.expectations import expect
from tests.unit.typical_events import typical_of

WRITTEN = Expectation("partitions-written", "partitions of {topic} in ZooKeeper")
HELD = Expectation("controller-held", "who holds /controller")


def _asked(expected: str | Expectation) -> ExpectationEnded:
    recorder = MemoryRecorder()
    expect(recorder, expected, lambda: 1, 1, within_s=0)
    (event,) = recorder.events
    assert isinstance(event.what, ExpectationEnded)
    return event.what


def test_what_was_asked_for_is_recognized_with_its_places() -> None:
    """The words are for readers: they are recorded with the id, and with what they are about."""
    ended = _asked(WRITTEN.of(topic="orders"))
    assert (ended.name, ended.expectation, ended.places) == (
        "partitions of orders in ZooKeeper",
        "partitions-written",
        {"topic": "orders"},
    )
    assert WRITTEN.places_in(ended) == {"topic": "orders"}
    assert not HELD.is_of(ended)


def test_other_words_under_the_same_id_are_recognized() -> None:
    """A run that was recorded before the words were changed keeps its evidence."""
    assert Expectation("controller-held", "the node in /controller").is_of(_asked(HELD))


def test_a_run_without_ids_is_recognized_by_the_words() -> None:
    """All of them, from the first to the last."""
    older = typical_of(ExpectationEnded, name="partitions of orders in ZooKeeper")
    assert isinstance(older, ExpectationEnded)
    assert (WRITTEN.places_in(older), HELD.is_of(older)) == ({"topic": "orders"}, False)
    assert WRITTEN.places_in(_asked("the partitions of orders in ZooKeeper")) is None


def test_an_expectation_in_words_has_no_id() -> None:
    """No diagnosis looks for it."""
    assert (_asked("the phase").expectation, _asked("the phase").places) == (None, None)
