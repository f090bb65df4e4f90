"""What holds for every group speaks for the requirements about the situation that a run brought about."""

from pytest_kmigrate.checkers.clients.passing_over import no_record_passed_over
from pytest_kmigrate.documents.kip_125.checks.ownership.coverage import every_partition_owned_within
from pytest_kmigrate.documents.kip_125.checks.ownership.one_owner import one_owner_at_a_time
from pytest_kmigrate.documents.kip_125.checks.ownership.reading import partitions_are_read_within
from pytest_kmigrate.documents.kip_125.checks.ownership.redelivery import redelivery_bounded_by_commit
from pytest_kmigrate.documents.kip_125.evidence.situations import SITUATIONS
from pytest_kmigrate.model.checks import AnyChecker, speaking


def _of_situations(general: AnyChecker) -> AnyChecker:
    for row, where in SITUATIONS.items():
        if row not in general.requirements:
            general = speaking(general, row, where=where)
    return general


_GENERAL: tuple[AnyChecker, ...] = (
    one_owner_at_a_time,
    every_partition_owned_within,
    partitions_are_read_within,
    redelivery_bounded_by_commit,
    speaking(no_record_passed_over, "K125-OFF-handover-forward"),
)
BINDINGS: tuple[AnyChecker, ...] = tuple(map(_of_situations, _GENERAL))
