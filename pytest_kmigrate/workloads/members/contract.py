"""The contract of a member: JSON lines on standard output, in the vocabulary of Kafka's VerifiableConsumer.

``docs/how-to/put-a-consumer-under-kip-125.md`` lists the lines. Unknown names and keys are ignored.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_kmigrate.model.errors import ClusterError

MOST_SHOWN = 200
_BELIEVED_NS = 120_000_000_000
"""A line may be read so long after it was printed; what claims more has another clock."""


@dataclass(frozen=True)
class Line:
    """One line: its name, when it was printed (None: the member does not report it), and its other keys."""

    name: str
    ns: int | None
    keys: Mapping[str, Any] = field(default_factory=dict)

    def printed_ns(self, now_ns: int, clock_ns: int) -> int:
        """When it was printed by the monotonic clock, for a line that was read ``now_ns``, at ``clock_ns`` since 1970.

        Kafka's VerifiableConsumer has ``timestamp``, in milliseconds since 1970, in place of ``ns``. A line that has
        neither was printed when it was read.
        """
        if self.ns is not None:
            return self.ns
        given = self.keys.get("timestamp")
        ago_ns = clock_ns - int(given) * 1_000_000 if isinstance(given, int) else 0
        return now_ns - ago_ns if 0 < ago_ns < _BELIEVED_NS else now_ns

    @property
    def partitions(self) -> list[list[object]]:
        """Topic and partition of each entry of ``partitions``."""
        return [[str(each["topic"]), int(each["partition"])] for each in self._entries("partitions")]

    @property
    def positions(self) -> list[list[object]]:
        """Topic, partition and position (-1: unknown) of each entry of ``partitions``."""
        known = self._entries("partitions")
        return [[str(each["topic"]), int(each["partition"]), int(each.get("position", -1))] for each in known]

    @property
    def records(self) -> list[tuple[str, int, int, str]]:
        """Topic, partition, offset and value of each record; without ``records``, offsets from ``partitions``."""
        if "records" in self.keys:
            return [(str(t), int(p), int(o), str(v)) for t, p, o, v in self.keys["records"]]
        return [
            (str(each["topic"]), int(each["partition"]), offset, "")
            for each in self._entries("partitions")
            for offset in range(int(each["minOffset"]), int(each["maxOffset"]) + 1)
        ]

    @property
    def record(self) -> tuple[str, int, int, str]:
        """Topic, partition, offset and value of a line about one record."""
        value = self.keys.get("value")
        place = (str(self.keys["topic"]), int(self.keys["partition"]), int(self.keys["offset"]))
        return (*place, "" if value is None else str(value))

    @property
    def offsets(self) -> list[tuple[str, int, int]]:
        """Topic, partition and offset of each entry of ``offsets``."""
        return [(str(e["topic"]), int(e["partition"]), int(e["offset"])) for e in self._entries("offsets")]

    def _entries(self, key: str) -> Sequence[Mapping[str, Any]]:
        return self.keys.get(key) or []


def line_of(text: str) -> Line:
    """The line that a text is; ClusterError when it is no JSON object with a name."""
    try:
        data = json.loads(text)
        name, ns = str(data.pop("name")), data.pop("ns", None)
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise ClusterError(
            f'expected a line of JSON with a name, such as {{"name": "startup_complete"}}; got {text[:MOST_SHOWN]!r}'
        ) from error
    return Line(name, int(ns) if ns is not None else None, data)
