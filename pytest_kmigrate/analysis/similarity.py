"""Which texts are nearly the same: MinHash signatures, bands to find candidates, connected components to join them.

Plain NumPy over one block of distinct texts. Spark ML has a MinHash of its own, but its similarity join makes every
pair that meets in a bucket a row, leaves the joining to the caller, and takes a minute where this takes two seconds.
"""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pytest_kmigrate.analysis.statistics.arrays import Integers

Hashes = NDArray[np.uint64]

ALIKE = 0.6
"""Share of word pairs two texts have in common from which they are one failure worded in two ways."""

_BANDS, _ROWS = 32, 4
"""Texts as alike as ``ALIKE`` meet in one of the bands with 98.8 %, those half as alike with 3 %."""

_WORD = re.compile(r"<[a-z]+>|[\w$]+")
_SEED = 866


def similar_groups(texts: Sequence[str]) -> Integers:
    """The group of each text, as numbers from 0; texts must be distinct, and their order does not matter.

    Two texts are in one group when a chain of similar ones leads from one to the other.
    """
    if not texts:
        return np.zeros(0, dtype=np.int64)
    order = np.argsort(np.array(texts, dtype=object))
    signatures = _signatures([texts[place] for place in order])
    groups = np.empty(len(texts), dtype=np.int64)
    groups[order] = _joined(signatures)
    return groups


def _signatures(texts: Sequence[str]) -> NDArray[np.uint32]:
    """One MinHash of each text per row; the same text has the same one in every analysis."""
    shingles, starts = _shingles(texts)
    generator = np.random.default_rng(_SEED)
    factors = generator.integers(1, 2**63, _BANDS * _ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    offsets = generator.integers(0, 2**63, _BANDS * _ROWS, dtype=np.uint64)
    signatures = np.empty((len(texts), len(factors)), dtype=np.uint32)
    for column, (factor, offset) in enumerate(zip(factors, offsets, strict=True)):
        hashed = ((shingles * factor + offset) >> np.uint64(32)).astype(np.uint32)
        signatures[:, column] = np.minimum.reduceat(hashed, starts)
    return signatures


def _shingles(texts: Sequence[str]) -> tuple[Hashes, Integers]:
    """The hashed word pairs of all texts one after another, and where each text's begin; its edges are words too."""
    vocabulary: dict[str, int] = {"": 0}
    words: list[int] = []
    lengths: list[int] = []
    for text in texts:
        found = [vocabulary.setdefault(word, len(vocabulary)) for word in _WORD.findall(text)]
        words += [0, *found]
        lengths.append(len(found) + 1)
    hashes = np.array([_hash(word) for word in vocabulary], dtype=np.uint64)
    left = hashes[np.array(words, dtype=np.int64)]
    # The word after a text's last one is the edge before the next text's first.
    right = np.append(left[1:], hashes[0])
    mixed = (left * np.uint64(0x9E3779B97F4A7C15)) ^ (right + (left >> np.uint64(29)))
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    return mixed, starts


def _hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")


def _joined(signatures: NDArray[np.uint32]) -> Integers:
    """Band by band, texts that meet and are alike become one group; those that are one already are not compared again.

    Within a band a text is compared with the first one of its bucket and with its neighbour: in a bucket of thousands
    every pair would be millions, and similar texts meet again in other bands.
    """
    groups = np.arange(len(signatures), dtype=np.int64)
    for band in range(_BANDS):
        left, right = _met(signatures[:, band * _ROWS : (band + 1) * _ROWS])
        apart = groups[left] != groups[right]
        left, right = left[apart], right[apart]
        alike = _share_equal(signatures, left, right) >= ALIKE
        if alike.any():
            groups = _components(groups, left[alike], right[alike])
    return groups


def _met(band: NDArray[np.uint32]) -> tuple[Integers, Integers]:
    """Pairs of texts that are equal in a band: each with the first of its bucket, and with the one before it."""
    keys = np.ascontiguousarray(band).view([("", np.uint32)] * band.shape[1]).ravel()
    order = np.argsort(keys, kind="stable")
    is_first = np.concatenate([[True], keys[order][1:] != keys[order][:-1]])
    first = order[np.maximum.accumulate(np.where(is_first, np.arange(len(order)), 0))]
    later = ~is_first
    before = np.concatenate([order[:1], order[:-1]])
    return np.concatenate([first[later], before[later]]), np.concatenate([order[later], order[later]])


def _share_equal(signatures: NDArray[np.uint32], left: Integers, right: Integers) -> NDArray[np.float64]:
    """How alike the texts of each pair are, by the share of equal hashes; in slices, to stay small."""
    slices = np.array_split(np.arange(len(left)), len(left) // 200_000 + 1)
    return np.concatenate([(signatures[left[part]] == signatures[right[part]]).mean(axis=1) for part in slices])


def _components(groups: Integers, left: Integers, right: Integers) -> Integers:
    """The groups after those of each pair are joined."""
    size = len(groups)
    edges = coo_array((np.ones(len(left), dtype=np.int8), (groups[left], groups[right])), shape=(size, size))
    _, joined = connected_components(edges, directed=False)
    return np.asarray(joined, dtype=np.int64)[groups]
