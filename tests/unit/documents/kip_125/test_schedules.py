"""Schedules of what happens to a group: each seed has its own, and always the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

from pytest_kmigrate.documents.kip_125.group import MigratingGroup
from pytest_kmigrate.documents.kip_125.schedules import Schedule, happenings
from pytest_kmigrate.faults.effect import Fault
from pytest_kmigrate.workloads.members.member import RunningMember


class PlayedGroup:
    """Writes down what is done to it; members are there until they are stopped."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._number = 0
        self._alive: list[SimpleNamespace] = []
        self.join("MEZKCC", 3)

    def join(self, kind: str, count: int = 1, **_: Any) -> list[SimpleNamespace]:
        """Members join."""
        joined = []
        for _ in range(count):
            self._number += 1
            member = SimpleNamespace(name=f"{kind}-{self._number}", kind=kind)
            member.stop = member.ask_to_stop = lambda member=member: self._stop(member)
            joined.append(member)
        self._alive += joined
        self.said.append(f"join {kind}")
        return joined

    start = join

    def _stop(self, member: SimpleNamespace) -> None:
        self._alive.remove(member)
        self.said.append(f"stop {member.name}")

    def alive(self, kind: str) -> list[SimpleNamespace]:
        """Those of a kind."""
        return [each for each in self._alive if each.kind == kind]

    def write_mode(self, mode: str) -> None:
        """The operator's write."""
        self.said.append(mode)

    def __getattr__(self, name: str) -> Any:
        return lambda *what, **_: self.said.append(f"{name} {[each for each in what if isinstance(each, str)]}")

    @contextmanager
    def inject(self, fault: Fault) -> Iterator[None]:
        """A fault of any kind."""
        self.said.append(f"begin {fault}")
        yield
        self.said.append(f"end {fault}")


def said(seed: int, steps: int = 40) -> list[str]:
    """What a schedule does to a group."""
    group = PlayedGroup()
    Schedule(cast("MigratingGroup", group), group.inject, seed).carry_out(steps)
    return group.said


def test_a_seed_is_a_schedule() -> None:
    """The same one each time, and another one for another seed."""
    assert said(1) == said(1)
    assert said(1) != said(2)


def test_everything_happens_in_long_schedules() -> None:
    """Every kind of fault, and every kind of member."""
    words = " ".join(said(3, steps=200))
    for each in ("begin kill(", "begin pause(", "begin cut(", "begin slow(", "join MDZKCC", "join KC", "stop MEZKCC"):
        assert each in words


def test_after_each_step_the_group_follows_what_was_written_last() -> None:
    """ZooKeeper before anything was."""
    group, mode = PlayedGroup(), "zookeeper"
    schedule = Schedule(cast("MigratingGroup", group), group.inject, 3)
    for _ in range(60):
        group.said.clear()
        schedule.carry_out(1)
        mode = next((each for each in reversed(group.said) if each in ("kafka", "zookeeper")), mode)
        assert group.said[-2:] == [f"await_followed ['{mode}']", "flow []"]


def test_a_group_keeps_enough_members_and_partitions_for_each() -> None:
    """At least two take over from one that fails; at most five, so that each owns two partitions of twelve."""
    group = PlayedGroup()
    schedule = Schedule(cast("MigratingGroup", group), group.inject, 5)
    for _ in range(200):
        schedule.carry_out(1)
        assert 2 <= len(group.alive("MEZKCC")) <= 5


def test_what_happens_together_waits_for_nothing() -> None:
    """So that every order of it can be tried; in the end Kafka decides."""
    group = PlayedGroup()
    (older,), first = group.join("MDZKCC"), group.alive("MEZKCC")[0]
    of_it = happenings(cast("MigratingGroup", group), cast("RunningMember", first), cast("RunningMember", older))
    group.said.clear()
    for each in of_it.values():
        each()
    assert group.said == ["join MEZKCC", "stop MEZKCC-1", "kafka", "stop MDZKCC-4"]
