"""The keys of records, in an order that the seed of the run draws: which partition a record is in hangs on it."""

import zlib
from functools import cache
from random import Random

_KEYS = tuple(f"key-{number}".encode() for number in range(101))
"""A prime number of keys, so that keys and topics do not go round in step."""


@cache
def keys_of(seed: int, producer: int) -> tuple[bytes, ...]:
    """The keys of a producer's records, one after the other and round again, by the number of the record."""
    keys = list(_KEYS)
    Random(f"{seed} {producer}").shuffle(keys)
    return tuple(keys)


@cache
def partitions_of(seed: int, producer: int, partitions: int) -> tuple[int, ...]:
    """The partition of each of these keys in a topic of so many: librdkafka takes the remainder of their CRC-32."""
    return tuple(zlib.crc32(key) % partitions for key in keys_of(seed, producer))
