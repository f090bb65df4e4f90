"""Schedules of what happens to a group: a line has its own, and always the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

from pytest_kmigrate.documents.kip_125.group import MigratingGroup
from pytest_kmigrate.documents.kip_125.kinds import ActKind
from pytest_kmigrate.documents.kip_125.schedules import Acts, happenings
from pytest_kmigrate.faults.effect import Fault
from pytest_kmigrate.faults.schedules.schedule import Happening, Schedule
from pytest_kmigrate.faults.schedules.spelling import Act
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


KINDS = tuple(ActKind)


def line(*kinds: ActKind, seed: int = 1) -> Schedule:
    """A schedule of these acts."""
    happenings = [Happening(number, Act(kind.value)) for number, kind in enumerate(kinds)]
    return Schedule("kip-125", "zk1-broker1", tuple(happenings), seed=seed)


def said(schedule: Schedule) -> list[str]:
    """What a schedule does to a group."""
    group = PlayedGroup()
    Acts(cast("MigratingGroup", group), group.inject).carry_out(schedule)
    return group.said


def test_a_line_is_what_happens() -> None:
    """The same each time, and the choices within acts are others for another seed."""
    assert said(line(*KINDS)) == said(line(*KINDS))
    assert said(line(*KINDS, seed=2)) != said(line(*KINDS))


def test_without_an_act_the_others_choose_as_before() -> None:
    """So what is left of a schedule is comparable with the whole."""
    whole = line(ActKind.TOGGLE, ActKind.OUTAGE, ActKind.KILL)
    (kill,) = [each for each in said(whole) if each.startswith("begin kill(")]
    assert kill in said(whole.without(0, 1))


def test_every_act_does_what_it_is_named_after() -> None:
    """Each kind of fault, and each kind of member."""
    words = " ".join(said(line(*KINDS)))
    for each in ("begin kill(", "begin pause(", "begin cut(", "begin slow(", "join MDZKCC", "join KC", "stop MEZKCC"):
        assert each in words


def test_after_each_act_the_group_follows_what_was_written_last() -> None:
    """ZooKeeper before anything was."""
    group, mode = PlayedGroup(), "zookeeper"
    acts = Acts(cast("MigratingGroup", group), group.inject)
    for each in KINDS * 6:
        group.said.clear()
        acts.carry_out(line(each))
        mode = next((each for each in reversed(group.said) if each in ("kafka", "zookeeper")), mode)
        assert group.said[-2:] == [f"await_followed ['{mode}']", "flow []"]


def test_a_group_keeps_enough_members_and_partitions_for_each() -> None:
    """At least two take over from one that fails; at most five, so that each owns two partitions of twelve."""
    group = PlayedGroup()
    acts = Acts(cast("MigratingGroup", group), group.inject)
    for each in (ActKind.JOIN, ActKind.LEAVE):
        acts.carry_out(line(*[each] * 8))
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
