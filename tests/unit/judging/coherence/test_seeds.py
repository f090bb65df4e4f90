"""What a run shows of its seed is drawn again, and by another seed it is other."""

from random import Random

import pytest

from pytest_kmigrate.judging.coherence.seeds import changes_are_drawn, seeds_agree, targets_are_drawn
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import SCHEDULE, History, RunHeader
from pytest_kmigrate.workloads.metadata.metadata_change import Scope, operations

HEADER = RunHeader("r", "t", 7, "3.9.1", "small", extra={"command": ["t", "--kmigrate-seed=7"]})


def metadata_changed(seed: str, drawn_by: str, made: int = 12) -> History:
    """A run with so many changes of one stream, between others that a test made; `seed`: the one that its event has."""
    stream = operations(Random(drawn_by), Scope())
    changes = [next(stream) for _ in range(made)]
    scope = {"prefix": "changing", "broker_ids": [], "replication": 3, "families": list(Scope().families)}
    began = Event(0, 0, EventKind.WORKLOAD_BEGAN, None, {"workload": "metadata", "scope": scope, "seed": seed})
    made_by_test = Event(1, 1, EventKind.METADATA_CHANGE, None, {"change": "create-topic", "subject": "x"})
    events = [
        Event(
            at,
            at,
            EventKind.METADATA_CHANGE,
            None,
            {"change": each.change, "subject": each.subject, "wanted": each.wanted},
        )
        for at, each in enumerate(changes, 2)
    ]
    counts = {"ok": made - 2, "failed": 2}
    ended = Event(made + 2, made + 2, EventKind.WORKLOAD_ENDED, None, {"workload": "metadata", "counts": counts})
    return History(HEADER, (began, made_by_test, *events, ended))


def test_a_stream_of_changes_is_that_of_its_seed() -> None:
    """Changes that a test makes meanwhile are none of it."""
    assert list(changes_are_drawn(metadata_changed("7 t 1", "7 t 1"))) == []
    (found,) = changes_are_drawn(metadata_changed("7 t 1", "9 t 1"))
    assert "by its seed the first" in found.second


@pytest.mark.parametrize(("seed", "agrees"), [("7 t 1", True), ("9 t 1", False), ("77 t 1", False)])
def test_a_stream_draws_by_the_seed_of_the_header(seed: str, *, agrees: bool) -> None:
    """Also if its changes are those of the seed that its event has."""
    assert (list(seeds_agree(metadata_changed(seed, seed))) == []) is agrees


@pytest.mark.parametrize(("command", "found"), [(["--kmigrate-seed", "7"], 0), (["--kmigrate-seed=8"], 1), (None, 0)])
def test_the_command_has_the_seed_of_the_header(command: object, found: int) -> None:
    """In either way of writing an option; without it nothing is compared."""
    history = History(RunHeader("r", "t", 7, "3.9.1", "small", extra={"command": command}))
    assert len(list(seeds_agree(history))) == found


@pytest.mark.parametrize(("seed", "found"), [(7, 0), (8, 1)])
def test_a_schedule_has_the_seed_of_the_header(seed: int, found: int) -> None:
    """Whatever seed the command has, which is for the tests without a schedule."""
    extra = {"command": ["--kmigrate-seed", "3"], SCHEDULE: {"seed": seed}}
    assert len(list(seeds_agree(History(RunHeader("r", "t", 7, "3.9.1", "small", extra=extra))))) == found


@pytest.mark.parametrize(("drawn", "found"), [("broker-1", 1), ("broker-2", 1), ("broker-0", 0)])
def test_a_target_by_chance_is_the_one_of_the_seed(drawn: str, found: int) -> None:
    """Seed 7 draws the second of three brokers."""
    among = ["broker-1", "broker-0", "broker-2"]
    assert Random("7-broker").choice(among) == "broker-0"
    data = {"target": "random-broker", "among": among, "role": "broker", "drawn": drawn}
    event = Event(0, 0, EventKind.TARGET_DRAWN, None, data)
    assert len(list(targets_are_drawn(History(HEADER, (event,))))) == found
