"""Schedules of what happens to parts of the harness, in the language of those for clusters."""

import json
import random
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import psutil

from pytest_kmigrate.faults.processes import Kill, Pause
from pytest_kmigrate.faults.schedules.schedule import Begin, Happening, Release
from pytest_kmigrate.faults.schedules.spelling import Mistake, fault_of, spelled
from pytest_kmigrate.faults.targets import node
from pytest_kmigrate.waiting import until
from tests.real.chaos import Session

PYTEST = "harness-pytest"
PARTS: Mapping[str, str] = MappingProxyType(
    {
        "harness-toxiproxy": "toxiproxy-server",
        "harness-supervisor": "supervisor.py",
        "harness-clients": "pytest_kmigrate.workloads.clients",
        PYTEST: "",
    }
)
"""Each part, and what its command line has; of pytest the session knows the process itself."""
MOST_LINES = 60
_LONGEST_S = 20


@dataclass(frozen=True)
class HarnessSchedule:
    """What happens to one session, one after the other; ``begin.after_operations`` counts lines of evidence."""

    happenings: tuple[Happening, ...]

    @property
    def line(self) -> str:
        """Its spelling, which is the test's name."""
        said = [
            {"fault": spelled(each.fault), "after": each.begin.after_operations, "at_most_s": each.release.at_most_s}
            for each in self.happenings
        ]
        return json.dumps(said, separators=(",", ":"))

    def parts(self) -> Sequence[str]:
        """Those that are hit."""
        return [str(each.fault.target) for each in self.happenings]


def drawn(seed: int) -> HarnessSchedule:
    """The schedule of a seed: one or two parts are killed or stopped, at any moment."""
    chance = random.Random(f"harness {seed}")
    happenings = []
    for number in range(chance.choice((1, 1, 2))):
        kind = chance.choice((Kill, Pause))
        begin = Begin(after_operations=chance.randrange(MOST_LINES))
        release = Release(0, chance.randint(2, _LONGEST_S))
        happenings.append(Happening(number + 1, kind(node(chance.choice(sorted(PARTS)))), begin, release))
    return HarnessSchedule(tuple(happenings))


def read(line: str) -> HarnessSchedule:
    """The schedule of a line, as a red test names it; AssertionError with each mistake."""
    mistakes: list[Mistake] = []
    happenings = []
    for number, each in enumerate(json.loads(line)):
        fault = fault_of(f"[{number}].fault", each["fault"], PARTS, mistakes)
        assert isinstance(fault, Kill | Pause), [*map(str, mistakes), "expected kill or pause"]
        begin, release = Begin(after_operations=each["after"]), Release(0, each["at_most_s"])
        happenings.append(Happening(number + 1, fault, begin, release))
    return HarnessSchedule(tuple(happenings))


def carry_out(schedule: HarnessSchedule, one: Session, within_s: float) -> None:
    """Have everything happen; what has ended already is left alone."""
    for each in schedule.happenings:
        lines = one.lines + each.begin.after_operations
        until(partial(_has_come, one, lines), awaited=f"{lines} lines of evidence", within_s=within_s)
        if _has_ended(one):
            return
        _happen(each, one)


def _happen(happening: Happening, one: Session) -> None:
    name = str(happening.fault.target)
    try:
        process = psutil.Process(one.pytest.pid) if name == PYTEST else one.process(PARTS[name])
    except LookupError:
        return
    with suppress(psutil.NoSuchProcess):
        if isinstance(happening.fault, Kill):
            process.kill()
            return
        process.send_signal(signal.SIGSTOP)
        over = time.monotonic() + happening.release.at_most_s
        until(lambda: time.monotonic() > over, awaited=f"the end of {happening.fault}", within_s=60)
        process.send_signal(signal.SIGCONT)


def _has_come(one: Session, lines: int) -> bool:
    return _has_ended(one) or one.lines >= lines


def _has_ended(one: Session) -> bool:
    return one.pytest.poll() is not None
