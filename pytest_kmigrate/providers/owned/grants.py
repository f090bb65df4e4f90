"""What the kernel grants to the process of a node: lowered by a fault, and given back. No privilege is needed."""

import itertools
import resource
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pytest_kmigrate.model.protocols import Restricted

_NUMBERS: Mapping[Restricted, int] = {
    Restricted.FILE_SIZE: resource.RLIMIT_FSIZE,
    Restricted.OPEN_FILES: resource.RLIMIT_NOFILE,
}


class Grants:
    """The grants of one node's processes; a process that was started since has them whole."""

    def __init__(self) -> None:
        self._before: dict[tuple[int, Restricted], int] = {}

    def lower(self, pid: int, what: Restricted, to: int) -> None:
        """Lower one; nothing when the process has ended."""
        with suppress(ProcessLookupError, FileNotFoundError):
            soft, hard = resource.prlimit(pid, _NUMBERS[what])
            if what is Restricted.OPEN_FILES:
                to += _lowest_free(pid)
            self._before.setdefault((pid, what), soft)
            resource.prlimit(pid, _NUMBERS[what], (to, hard))

    def give_back(self, pid: int, what: Restricted) -> None:
        """Give back what was lowered; nothing when it was not, or the process has ended."""
        soft = self._before.pop((pid, what), None)
        if soft is not None:
            with suppress(ProcessLookupError):
                _, hard = resource.prlimit(pid, _NUMBERS[what])
                resource.prlimit(pid, _NUMBERS[what], (soft, hard))


def _lowest_free(pid: int) -> int:
    """The number that the next file to be opened gets: it is what the kernel compares with the limit."""
    taken = {int(each.name) for each in Path("/proc", str(pid), "fd").iterdir()}
    return next(number for number in itertools.count() if number not in taken)
