"""What a run shows of its seed: keys, metadata changes and targets are drawn again from the seed of the header."""

import json
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

import numpy as np

from pytest_kmigrate.checkers.evidence.drawing import drawn
from pytest_kmigrate.checkers.kernels import different
from pytest_kmigrate.model.event import Recorded, is_a
from pytest_kmigrate.model.events.faults import TargetDrawn
from pytest_kmigrate.model.events.workloads import (
    ClientsBegan,
    ClientsEnded,
    MetadataChanged,
    MetadataWorkloadBegan,
    MetadataWorkloadEnded,
)
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, Operations
from pytest_kmigrate.recording.asking import options_asked_for, options_in
from pytest_kmigrate.recording.disagreement import Disagreement
from pytest_kmigrate.workloads.clients.drawn_keys import partitions_of
from pytest_kmigrate.workloads.metadata.metadata_change import Scope, operations

_MOST_ELSEWHERE = 0.2
"""The share of records that may be in another partition; by another seed two thirds are, of three partitions."""
_FEWEST = 20
"""Of fewer records nothing is concluded."""
_SEED = "seed"


def seeds_agree(history: History) -> Iterator[Disagreement]:
    """The command of the run, the command that does it again and its workloads have the seed of the header.

    Where a schedule was carried out its seed is the run's, whatever seed the command has for other tests.
    """
    header = history.header
    named = (
        {"its schedule": header.schedule.get(_SEED)}
        if header.schedule is not None
        else {
            "the command of the run": options_in(header.circumstances.command).get(_SEED),
            "the command that does it again": options_asked_for(header).get(_SEED),
        }
    )
    for where, seed in named.items():
        if seed is not None and str(seed) != str(header.seed):
            yield Disagreement(f"run.json has the seed {header.seed}", f"{where} has {seed}")
    for event in history.of(ClientsBegan, MetadataWorkloadBegan):
        own = event.what.seed
        of_metadata = is_a(event, MetadataWorkloadBegan)
        is_own = str(own).startswith(f"{header.seed} ") if of_metadata else own == header.seed
        if own is not None and not is_own:
            yield Disagreement(f"run.json has the seed {header.seed}", f"event {event.seq} draws by {own!r}")


def keys_are_drawn(history: History) -> Iterator[Disagreement]:
    """Records are in the partitions that their keys lead to, and the seed draws the order of the keys."""
    sends = history.operations.of(OperationKind.PRODUCE)
    sends = sends.where((sends.partition >= 0) & (sends.transaction < 0))
    for began, seed, totals in _workloads(history):
        for topic, counts in totals.items():
            found = sends.where(sends.topic == topic)
            wrong = _elsewhere(found, seed, counts)
            if len(found) >= _FEWEST and wrong > _MOST_ELSEWHERE * len(found):
                yield Disagreement(
                    f"event {began.seq} draws the keys of records by the seed {seed}",
                    f"{wrong} of {len(found)} records of {topic} are in other partitions than theirs",
                )
                return


def _workloads(history: History) -> Iterator[tuple[Recorded[ClientsBegan], int, Mapping[str, Sequence[int]]]]:
    """Workloads that draw keys, with their seed and the numbers of partitions that each of their topics had."""
    began = {event.what.workload: event for event in history.of(ClientsBegan)}
    for ended in history.of(ClientsEnded):
        first, totals = began.get(ended.what.workload), ended.what.partitions
        if first is not None and first.what.seed is not None and totals is not None:
            yield first, first.what.seed, totals


def _elsewhere(sends: Operations, seed: int, counts: Sequence[int]) -> int:
    """How many of these records are in none of the partitions that their keys lead to, with one of these counts."""
    wrong = 0
    for producer in different(sends.producer).tolist():
        own = sends.where(sends.producer == producer)
        is_there = np.zeros(len(own), np.bool_)
        for count in counts:
            partitions = np.array(partitions_of(seed, producer, count))
            is_there |= own.partition == partitions[own.sequence % len(partitions)]
        wrong += int((~is_there).sum())
    return wrong


def changes_are_drawn(history: History) -> Iterator[Disagreement]:
    """A stream of metadata changes is the one that its seed draws, as far as it came."""
    changes = history.of(MetadataChanged)
    ends = iter(history.of(MetadataWorkloadEnded))
    for began in history.of(MetadataWorkloadBegan):
        ended = next(ends, None)
        wanted = sum(ended.what.counts.values()) if ended is not None else 0
        found = _drawn_among(began, [each for each in changes if each.seq > began.seq], wanted)
        if found < wanted:
            yield Disagreement(
                f"{wanted} changes of metadata follow event {began.seq}",
                f"by its seed the first {found} of them are drawn, and no event has the next one",
            )


def _drawn_among(
    began: Recorded[MetadataWorkloadBegan], changes: Sequence[Recorded[MetadataChanged]], wanted: int
) -> int:
    """How many of the first changes that the seed draws are among these, in their order; tests may make others."""
    scope = began.what.scope
    lists: dict[str, Any] = {key: tuple(each) if isinstance(each, list) else each for key, each in scope.items()}
    stream = operations(Random(str(began.what.seed)), Scope(**lists))
    found, following = 0, next(stream)
    for event in changes:
        if found < wanted and _as_recorded(following.change, following.subject, following.wanted) == _as_recorded(
            event.what.change, event.what.subject, event.what.wanted
        ):
            found, following = found + 1, next(stream)
    return found


def _as_recorded(*parts: object) -> str:
    return json.dumps(parts, sort_keys=True)


def targets_are_drawn(history: History) -> Iterator[Disagreement]:
    """A target by chance is the one that the seed draws among the nodes that it could be."""
    for event in history.of(TargetDrawn):
        names = event.what.among
        again = drawn(history.header.seed, event.what.role, names) if names else "none"
        if again != event.what.drawn:
            yield Disagreement(
                f"event {event.seq} has {event.what.drawn} as {event.what.target}",
                f"the seed {history.header.seed} draws {again} among {', '.join(names)}",
            )
