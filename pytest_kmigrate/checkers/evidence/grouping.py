"""Grouping: a run's operations cut into the groups that kernels take."""

import itertools
from collections.abc import Iterator
from dataclasses import fields

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.operations import Operations


def place(topic: str, partition: int) -> str:
    """A partition as Kafka's users write it: "orders-2"."""
    return f"{topic}-{partition}"


def groups(operations: Operations, *columns: str) -> Iterator[Operations]:
    """One group per distinct values of the columns, rows in their recorded order; every column is sorted only once."""
    if len(operations) == 0:
        return
    keys = [_codes(getattr(operations, column)) for column in columns]
    order = np.lexsort(keys[::-1])
    is_new = np.zeros(len(order), np.bool_)
    for key in keys:
        is_new[1:] |= key[order][1:] != key[order][:-1]
    bounds = [0, *np.flatnonzero(is_new).tolist(), len(order)]
    ordered = operations.where(order)
    for begin, end in itertools.pairwise(bounds):
        yield ordered.between(begin, end)


def partitions(operations: Operations) -> Iterator[tuple[str, Operations]]:
    """("orders-2", its operations) for every topic-partition; rows without a partition are left out.

    Most checks of a run ask for the same groups.
    """
    yield from _by_partition(operations)


@kept
def _by_partition(operations: Operations) -> list[tuple[str, Operations]]:
    placed = groups(operations.where(operations.partition >= 0), "topic", "partition")
    return [(place(str(each.topic[0]), int(each.partition[0])), each) for each in placed]


def joined(first: Operations, *others: Operations) -> Operations:
    """The rows of all, those of the first before."""
    names = [each.name for each in fields(first)]
    return Operations(**{name: np.concatenate([getattr(each, name) for each in (first, *others)]) for name in names})


def _codes(column: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    if column.dtype != np.dtype(object):
        return column
    # A dictionary numbers a million strings several times faster than sorting them as Python objects.
    texts = column.tolist()
    numbers = {text: code for code, text in enumerate(sorted(set(texts)))}
    return np.fromiter(map(numbers.__getitem__, texts), np.int32, len(texts))
