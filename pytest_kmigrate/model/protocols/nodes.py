"""One node of a cluster, a record of its metadata log, and a place in its code."""

import enum
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pytest_kmigrate.model.topology import BrokerMode, NodeSpec

Record = Mapping[str, Any]
"""A decoded record of the metadata log; what a release puts into one is not ours to type."""


@dataclass(frozen=True)
class CrashPoint:
    """A place in Kafka's code where a node can be held: Byteman's class, method and location.

    ``condition`` is one of Byteman's, such as ``$1 > 2``: what does not meet it passes by.
    """

    name: str
    java_class: str
    method: str
    location: str = "AT ENTRY"
    held_s: int = 3
    condition: str = "true"

    def __str__(self) -> str:
        return self.name


class Restricted(enum.StrEnum):
    """What the kernel grants to a process, and a fault lowers."""

    FILE_SIZE = "file-size"
    OPEN_FILES = "open-files"


@dataclass(frozen=True)
class Stood:
    """How often a process was made to stand still, and for how long in all."""

    times: int
    ms: int


class Node(Protocol):
    """One node of a cluster, running or not; what it cannot do its cluster's capabilities lack."""

    @property
    def name(self) -> str: ...
    @property
    def spec(self) -> NodeSpec: ...
    @property
    def mode(self) -> BrokerMode | None: ...
    @property
    def alive(self) -> bool: ...
    @property
    def log(self) -> Path:
        """Where everything that it says is appended."""

    @property
    def kafka(self) -> str:
        """The version it runs."""

    @property
    def installed(self) -> str:
        """The Kafka it runs as the topology or ``install`` named it; a build has the version of its release."""

    @property
    def stands_still(self) -> bool:
        """Whether it is paused; one that has ended is not."""

    @property
    def properties(self) -> Mapping[str, str]:
        """What its next start reads."""

    def start(self, *, wait: bool = True) -> None:
        """Start it; with ``wait``, return when it is ready (NodeDiedError, AwaitTimeoutError)."""

    def await_ready(self, within_s: float = ...) -> None: ...
    def stop(self, within_s: float = 30) -> None:
        """Controlled shutdown; killed after ``within_s``."""

    def kill(self) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def reconfigure(self, changes: Mapping[str, str | None], mode: BrokerMode | None = None) -> None:
        """Set (None: unset) properties, and the mode, in force from the next start."""

    def install(self, kafka: str) -> None:
        """Let a stopped node's next start run another Kafka: a release, or the path of an unpacked distribution."""

    def wipe(self) -> None:
        """Empty the disks of a stopped node."""

    def fail_log_dir(self, number: int) -> None:
        """Take a log directory (1, 2, ...) away, as a failing disk does; WrongUseError when it is the only one."""

    def repair_log_dir(self, number: int) -> None:
        """Give the log directory back as it was; a broker uses it again from its next start."""

    def restrict(self, what: Restricted, to: int | None) -> None:
        """Lower what the kernel grants to its process; None: as before. Nothing when it has ended.

        Bytes of a file, or how many files it may have open besides those that it has now.
        """

    def set_clock(self, offset_s: int) -> None:
        """Let the clock of a running process be so much ahead (negative: behind) of this machine's, within 2 s."""

    def find_others(self, *, by_name: bool) -> None:
        """Let its name service know the other nodes, or none of them; a running process looks up anew."""

    def tear_tails(self, size: int) -> Mapping[str, int]:
        """Cut so many bytes off the end of each partition's newest segment; of each file cut, how many were cut.

        WrongUseError while it runs. The metadata log is left alone: each record of it is synced before it counts.
        """

    def starve(self, percent: int) -> AbstractContextManager[Callable[[], Stood]]:
        """Let it run for so much of the time only, and stand still for the rest; how long it has stood so far."""

    def dump_threads(self) -> None:
        """Write a thread dump into the node's log."""

    def tell_rules(self) -> None:
        """Record what became of the Byteman rules that it was started with, if any."""

    def tell_identity(self) -> None:
        """Record what its meta.properties holds now."""

    def tell_dead_threads(self) -> None:
        """Record the threads of it that an error ended, each once."""
