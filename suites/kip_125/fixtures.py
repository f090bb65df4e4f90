"""Fixtures of KIP-125 tests, with the general ones: a conftest gets all of them by one line, ``import *``."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from pytest_kmigrate import fixtures
from pytest_kmigrate.fixtures import *
from pytest_kmigrate.model.capabilities import Capability, needing

if TYPE_CHECKING:
    from pytest_kmigrate.documents.kip_125.group import MigratingGroup
    from pytest_kmigrate.documents.kip_125.offsets import GroupOffsets
    from pytest_kmigrate.documents.kip_125.schedules import Acts, Inject
    from pytest_kmigrate.model.checks import Check
    from pytest_kmigrate.running import Run

__all__ = ["acts", "group", "group_of", "offsets", "verify_group"]
__all__ += fixtures.__all__


@pytest.fixture
@needing(Capability.CHANGE, Capability.ZNODES)
def group_of(kmigrate_run: "Run") -> "Callable[..., MigratingGroup]":
    """A group that reads a topic of so many partitions, which gets so many records a second: ``group_of(60, 5000)``.

    ``group_of(6, 500, "orders", "bills")``: it reads several topics.
    """
    from pytest_kmigrate.documents.kip_125.group import MigratingGroup
    from pytest_kmigrate.documents.kip_125.kinds import TOPIC
    from pytest_kmigrate.workloads.clients.client_settings import ClientWorkload

    def of(partitions: int, per_s: float, *topics: str) -> MigratingGroup:
        chosen = topics or (TOPIC,)
        workload = ClientWorkload(
            topics=chosen,
            partitions=partitions,
            replication=kmigrate_run.traffic.usual().replication,
            per_s=per_s,
            producers=1,
            consumers=0,
            is_text=True,
        )
        kmigrate_run.traffic.start(workload)
        return MigratingGroup(kmigrate_run.scene, kmigrate_run.members, partitions, kmigrate_run.traffic, chosen)

    return of


@pytest.fixture
def group(group_of: "Callable[..., MigratingGroup]") -> "MigratingGroup":
    """A group that reads a topic which is written to, and has no member yet.

    ``group.join(WITH, 3)`` adds members, ``group.toggle("kafka")`` writes the mode as an operator does.
    """
    from pytest_kmigrate.documents.kip_125.kinds import PARTITIONS

    return group_of(PARTITIONS, 500)


@pytest.fixture
@needing(Capability.ZNODES)
def offsets(kmigrate_run: "Run") -> "GroupOffsets":
    """Both stores of the group's offsets: ``offsets.stored()`` in ZooKeeper, ``offsets.committed()`` in Kafka."""
    from pytest_kmigrate.documents.kip_125.kinds import PARTITIONS
    from pytest_kmigrate.documents.kip_125.offsets import GroupOffsets

    return GroupOffsets(kmigrate_run.scene, PARTITIONS)


@pytest.fixture
@needing(Capability.KILL, Capability.START, Capability.PAUSE, Capability.LINKS)
def acts(group: "MigratingGroup", inject: "Inject") -> "Acts":
    """What is done to the group by a schedule: ``acts.carry_out(schedule)``."""
    from pytest_kmigrate.documents.kip_125.schedules import Acts

    return Acts(group, inject)


@pytest.fixture
def verify_group(verify: Callable[..., None]) -> Callable[..., None]:
    """``verify`` with what holds for every group; ``owned_within_s``: how long a partition may lack an owner.

    ``read_within_s``: how much longer its next owner may take to read what was sent meanwhile.
    """
    from pytest_kmigrate.judging import checks

    def verified(*more: "Check", owned_within_s: float = 1.0, read_within_s: float = 3.0) -> None:
        verify(
            checks.no_acked_record_lost(),
            checks.no_phantom_record(),
            checks.no_record_passed_over(),
            checks.one_owner_at_a_time(),
            checks.redelivery_bounded_by_commit(),
            checks.every_partition_owned_within(at_most_s=owned_within_s),
            checks.partitions_are_read_within(at_most_s=owned_within_s + read_within_s),
            checks.members_end_only_when_asked(),
            *more,
        )

    return verified
