"""What happens to a group in the order of a schedule, or in every order: operators act, and machines fail."""

import random
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from pytest_kmigrate.documents.kip_125.evidence.modes import KAFKA, ZOOKEEPER
from pytest_kmigrate.documents.kip_125.group import MigratingGroup
from pytest_kmigrate.documents.kip_125.kinds import NEW, PLAIN_ROUND_ROBIN, ROUND_ROBIN, WITH, WITHOUT, ActKind
from pytest_kmigrate.faults import targets
from pytest_kmigrate.faults.effect import Fault
from pytest_kmigrate.faults.links import Cut, Slow
from pytest_kmigrate.faults.processes import Kill, Pause
from pytest_kmigrate.faults.schedules.schedule import Schedule
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.workloads.members.member import RunningMember

Inject = Callable[[Fault], AbstractContextManager[object]]

_FEWEST, _MOST = 2, 5
"""Members with migration: each owns at least two of twelve partitions."""


class Acts:
    """A group that has members, and what is done to it; after each act the group is as it must be.

    What an act chooses, a member say, is drawn by the schedule's seed and the happening's own number: without another
    happening it chooses as before.
    """

    def __init__(self, group: MigratingGroup, inject: Inject) -> None:
        self._group = group
        self._inject = inject
        self._random = random.Random(0)
        self._mode = ZOOKEEPER
        self._acts: Mapping[str, Callable[[], None]] = {
            ActKind.TOGGLE: self._toggle,
            ActKind.BURST: self._burst,
            ActKind.JOIN: self._join,
            ActKind.LEAVE: self._leave,
            ActKind.KILL: self._kill,
            ActKind.FREEZE: self._freeze,
            ActKind.CUT: self._cut,
            ActKind.SLOW: self._slow,
            ActKind.OUTAGE: self._outage,
            ActKind.OLDER: self._older,
            ActKind.PLAIN: self._plain,
        }

    def carry_out(self, schedule: Schedule) -> None:
        """One act after the other."""
        for happening in schedule.happenings:
            self._random = random.Random(f"{schedule.seed} {happening.id}")
            self._acts[str(happening.fault)]()
            self._group.await_owned(self._members())
            self._group.await_followed(self._mode)
            self._group.flow(200)

    def _members(self) -> list[RunningMember]:
        return self._group.alive(WITH)

    def _one(self) -> RunningMember:
        return self._random.choice(self._members())

    def _write(self, mode: str) -> None:
        self._mode = mode
        self._group.write_mode(mode)

    def _toggle(self) -> None:
        self._write(ZOOKEEPER if self._mode == KAFKA else KAFKA)

    def _burst(self) -> None:
        for _ in range(self._random.randint(2, 5)):
            self._write(self._random.choice((KAFKA, ZOOKEEPER)))

    def _join(self) -> None:
        if len(self._members()) < _MOST:
            self._group.join(WITH, **ROUND_ROBIN)

    def _leave(self) -> None:
        if len(self._members()) > _FEWEST:
            self._one().stop()

    def _kill(self) -> None:
        """A member, while the mode changes now and then."""
        with self._inject(Kill(targets.member(self._one().name))):
            if self._random.random() < 0.5:
                self._toggle()
            self._group.await_owned()

    def _freeze(self) -> None:
        """A member stands still until others own what it had."""
        member = self._one()
        with self._inject(Pause(targets.member(member.name))):
            self._group.await_owned_without(member)

    def _cut(self) -> None:
        """A member is cut off ZooKeeper, for less or more than its session, while the mode changes."""
        with self._inject(Cut(targets.member(self._one().name), targets.every(Role.ZOOKEEPER))):
            self._toggle()
            self._group.flow(self._random.randint(200, 2000))

    def _slow(self) -> None:
        """A member sees a toggle later than the others."""
        latency_ms = self._random.randint(50, 200)
        zookeeper = targets.every(Role.ZOOKEEPER)
        with self._inject(Slow(targets.member(self._one().name), zookeeper, latency_ms=latency_ms)):
            self._toggle()
            self._group.await_followed(self._mode)

    def _outage(self) -> None:
        """ZooKeeper stands still for less than a session."""
        with self._inject(Pause(targets.node("zookeeper-1"))):
            self._group.flow(self._random.randint(200, 1000))

    def _older(self) -> None:
        """A member without migration joins and leaves: meanwhile ZooKeeper decides."""
        (member,) = self._group.join(WITHOUT)
        self._group.await_owned([member])
        self._group.await_followed(ZOOKEEPER)
        member.stop()

    def _plain(self) -> None:
        """A plain KafkaConsumer joins and leaves, which is supported only where Kafka decides."""
        self._write(KAFKA)
        self._group.await_followed(KAFKA)
        (member,) = self._group.join(NEW, **PLAIN_ROUND_ROBIN)
        self._group.await_owned([member])
        self._group.flow(200)
        member.stop()


def happenings(
    group: MigratingGroup, member: RunningMember, older: RunningMember
) -> Mapping[str, Callable[[], object]]:
    """What may happen at the same time, none of which waits for its effect; together they lead to Kafka's mode."""
    return {
        "join": lambda: group.start(WITH, **ROUND_ROBIN),
        "leave": member.ask_to_stop,
        "toggle": lambda: group.write_mode(KAFKA),
        "older-leaves": older.ask_to_stop,
    }
